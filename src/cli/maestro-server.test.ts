import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const aro = fileURLToPath(new URL('../../bin/aro.ts', import.meta.url));
const run = promisify(execFile);

test('aro maestro-server runs from a file and flags, answers, and ends on SIGTERM', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'aro-maestro-cli-'));
  t.after(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'key'), randomBytes(32).toString('base64'), { mode: 0o600 });
  const config = join(directory, 'maestro.yaml');
  await writeFile(
    config,
    `store: { file: ${join(directory, 'maestro.db')}, sealingKey: { file: key } }\nplain: { port: 0 }\n` +
      'grpc: { port: 0 }\nmetrics: { port: 0 }\n',
  );
  const child = spawn(process.execPath, [aro, 'maestro-server', '--config', config, '--health-port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let addresses: Record<string, string> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const entry = JSON.parse(line) as { msg?: string; addresses?: Record<string, string> };
    if (entry.msg !== 'ready') continue;
    addresses = entry.addresses ?? {};
    break;
  }
  const answer = await fetch(`${addresses.plain}/api/maestro/v1/consumers`);
  assert.deepEqual(await answer.json(), { kind: 'ConsumerList', page: 1, size: 0, total: 0, items: [] });
  child.stdout.resume();
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
});

test('aro maestro-server says what is missing, and lists its settings', async () => {
  const { stdout } = await run(process.execPath, [aro, 'maestro-server', '--help-settings']);
  assert.match(stdout, /--mqtt-broker-host/);
  await assert.rejects(run(process.execPath, [aro, 'maestro-server']), (error: { stderr?: string; code?: number }) => {
    assert.match(error.stderr ?? '', /store\.sealingKey/);
    return error.code === 1;
  });
});
