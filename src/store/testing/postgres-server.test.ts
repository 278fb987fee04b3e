import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { program, serverAccount, serverPrograms } from './postgres-binaries.ts';
import { startPostgres } from './postgres-server.ts';

const serverFile = fileURLToPath(new URL('./postgres-server.ts', import.meta.url));

async function ask(url: string, sql: string): Promise<Record<string, unknown> | undefined> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows[0];
  } finally {
    await client.end();
  }
}

test('a server starts, keeps its data over a crash and a stop, and leaves nothing behind', async () => {
  const server = await startPostgres({ max_connections: '20' });
  let folder = '';
  try {
    const settings = await ask(
      server.url,
      `SELECT current_setting('fsync') AS fsync, current_setting('listen_addresses') AS listens,
              current_setting('data_directory') AS data, 'a' < 'B' AS linguistic`,
    );
    assert.equal(settings?.fsync, 'on');
    assert.equal(settings.listens, '127.0.0.1');
    assert.equal(settings.linguistic, true, 'the default collation must differ from C');
    folder = dirname(String(settings.data));

    await ask(server.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    for (const signal of ['SIGKILL', 'SIGINT'] as const) {
      await server.down(signal);
      await assert.rejects(ask(server.url, 'SELECT 1'));
      await server.up();
      assert.deepEqual(await ask(server.url, 'SELECT answer FROM kept'), { answer: 42 });
    }
  } finally {
    await server.stop();
  }
  assert.ok(!existsSync(folder));
  await assert.rejects(ask(server.url, 'SELECT 1'));
});

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`a server goes when the process that started it ends by ${signal}`, async () => {
    const script = `import { startPostgres } from ${JSON.stringify(serverFile)};
      const { url } = await startPostgres({ max_connections: '20' });
      console.log(url);
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = await firstLine(child);
    const data = String((await ask(url, `SELECT current_setting('data_directory') AS data`))?.data);
    child.kill(signal);
    const deadline = Date.now() + 20_000;
    while (existsSync(dirname(data)) && Date.now() < deadline) await new Promise((settle) => setTimeout(settle, 50));
    assert.ok(!existsSync(dirname(data)));
    await assert.rejects(ask(url, 'SELECT 1'));
  });
}

test('programs that lack their library links, or that the server account cannot reach, are completed or copied', async () => {
  const account = await serverAccount();
  const folder = await mkdtemp(join(tmpdir(), 'aro-programs-'));
  try {
    // As npm lays them down before the install script has run. Made by mkdtemp, the folder is closed to other accounts.
    const closed = await mkdtemp(join(folder, 'closed-'));
    const installed = join(closed, 'native');
    await cp(await serverPrograms(account, join(folder, 'not-used')), installed, {
      recursive: true,
      verbatimSymlinks: true,
    });
    for (const name of await readdir(join(installed, 'lib'))) {
      const path = join(installed, 'lib', name);
      if ((await lstat(path)).isSymbolicLink()) await rm(path);
    }
    await chmod(folder, 0o755);
    const used = await serverPrograms(account, join(folder, 'copy'), installed);
    assert.equal(used, account ? join(folder, 'copy') : installed);
    assert.ok(existsSync(program(used, 'initdb')));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((settle, fail) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const end = text.indexOf('\n');
      if (end >= 0) settle(text.slice(0, end));
    });
    child.once('exit', () => fail(new Error('ended before it was ready')));
  });
}
