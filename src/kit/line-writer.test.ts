import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { lineWriter } from './line-writer.ts';

describe('a writer of lines', () => {
  it('writes all lines in order, and says when it has', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'aro-lines-'));
    const file = openSync(join(dir, 'out'), 'w');
    const writer = lineWriter(file);
    const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n} é\n`);
    for (const line of lines) writer.write(line);
    await new Promise<void>((resolve) => writer.flush(resolve));
    assert.equal(readFileSync(join(dir, 'out'), 'utf8'), lines.join(''));
    await new Promise<void>((resolve) => writer.flush(resolve));
    closeSync(file);
    rmSync(dir, { recursive: true });
  });

  it('loses nothing when the process ends right after', async () => {
    const out = await outputOf(`
      for (let n = 0; n < 100; n++) writer.write('line ' + n + '\\n');
      process.exit(0);
    `);
    // A line that the system was still writing may stand after those that were waiting.
    const lines = out.split('\n').filter((line) => line !== '');
    assert.deepEqual(new Set(lines), new Set(Array.from({ length: 100 }, (_, n) => `line ${n}`)));
    assert.equal(lines.length, 100);
  });

  it('goes on, within bounds, when the reader does not read, and drops what does not fit', async () => {
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `${program}
      const line = 'x'.repeat(1023) + '\\n';
      for (let n = 0; n < 64 * 1024; n++) writer.write(line);
      process.send(process.memoryUsage().rss);
    `,
      ],
      { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
    );
    const [rss] = await once(child, 'message');
    assert.ok(typeof rss === 'number' && rss < 512 * 1024 * 1024, `${rss} bytes`);
    let read = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    assert.ok(child.stdout);
    await Promise.all([once(child.stdout, 'end'), once(child, 'exit')]);
    assert.equal(read % 1024, 0, 'whole lines');
    assert.ok(read >= 8 * 1024 * 1024 && read < 40 * 1024 * 1024, `${read} bytes`);
  });
});

const program = `
  import { standardOutput } from ${JSON.stringify(new URL('./line-writer.ts', import.meta.url).href)};
  const writer = standardOutput();
`;

async function outputOf(body: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program + body], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(child, 'close');
  return Buffer.concat(chunks).toString();
}
