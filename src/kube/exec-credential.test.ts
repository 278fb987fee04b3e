import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { AccessError } from './cluster-access.ts';
import { type ExecPlugin, execCredentials } from './exec-credential.ts';

const apiVersion = 'client.authentication.k8s.io/v1';

test('a plugin is told who asks, runs once for all that wait, and its credential is kept until shortly before it ends', async (t) => {
  const { plugin, runs, directory } = await setup(
    t,
    `echo "$KUBERNETES_EXEC_INFO" > info; printf %s "$MODE$1" > given
     echo '{"kind":"ExecCredential","apiVersion":"${apiVersion}","status":{"token":"t'$(wc -l < runs)'","expirationTimestamp":"1970-01-01T00:01:40Z"}}'`,
  );
  let now = 0;
  const source = execCredentials(
    { ...plugin, args: ['arg'], env: [{ name: 'MODE', value: 'mode-' }], provideClusterInfo: true },
    { directory, cluster: { server: 'https://api' }, origin: 'test', now: () => now },
  );
  const [one, two] = await Promise.all([source.current(), source.current()]);
  assert.equal(one.token?.reveal(), 't1');
  assert.equal(two, one);
  assert.equal(await readFile(join(directory, 'given'), 'utf8'), 'mode-arg');
  assert.deepEqual(JSON.parse(await readFile(join(directory, 'info'), 'utf8')), {
    apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, cluster: { server: 'https://api' } },
  });
  now = 89_000;
  assert.equal(await source.current(), one);
  assert.equal(await runs(), 1);
  now = 91_000;
  assert.equal((await source.current()).token?.reveal(), 't2');
});

test('a credential that the server refused is asked for anew, one that is already replaced is not', async (t) => {
  const { plugin, directory } = await setup(
    t,
    `echo '{"kind":"ExecCredential","apiVersion":"${apiVersion}","status":{"token":"t'$(wc -l < runs)'"}}'`,
  );
  const source = execCredentials(plugin, { directory, cluster: {}, origin: 'test' });
  const first = await source.current();
  source.refused(first);
  const second = await source.current();
  assert.equal(second.token?.reveal(), 't2');
  source.refused(first);
  assert.equal(await source.current(), second);
});

test('a plugin that does not end is ended, with what it started', async (t) => {
  const { plugin, directory } = await setup(t, 'sleep 1000 & echo $! > child; wait');
  const source = execCredentials(plugin, { directory, cluster: {}, origin: 'test', timeoutSeconds: 0.5 });
  await assert.rejects(source.current(), /gave no credential within 0.5 s/);
  const child = Number(await readFile(join(directory, 'child'), 'utf8'));
  for (let left = 100; left > 0 && isRunning(child); left--) await new Promise((next) => setTimeout(next, 20));
  assert.equal(isRunning(child), false);
});

const failures: readonly { readonly what: string; readonly script: string; readonly says: RegExp }[] = [
  { what: 'fails', script: 'echo "log in first" >&2; exit 3', says: /exit code 3\): log in first/ },
  { what: 'writes no JSON', script: 'echo token=hunter2', says: /did not write JSON/ },
  { what: 'writes something else', script: `echo '{"kind":"Pod","apiVersion":"v1"}'`, says: /gave Pod of v1/ },
  {
    what: 'gives nothing',
    script: `echo '{"kind":"ExecCredential","apiVersion":"${apiVersion}","status":{}}'`,
    says: /neither token nor certificate/,
  },
  {
    what: 'gives half a pair',
    script: `echo '{"kind":"ExecCredential","apiVersion":"${apiVersion}","status":{"clientKeyData":"x"}}'`,
    says: /but not the other/,
  },
];

for (const { what, script, says } of failures) {
  test(`a plugin that ${what} is an error that says so`, async (t) => {
    const { plugin, directory } = await setup(t, script);
    const source = execCredentials(plugin, { directory, cluster: {}, origin: 'my config' });
    await assert.rejects(
      source.current(),
      (error) =>
        error instanceof AccessError &&
        says.test(error.message) &&
        error.message.startsWith('my config: exec plugin ./plugin') &&
        !error.message.includes('hunter2'),
    );
  });
}

test('a plugin that is not installed is an error with the hint of how to install it', async () => {
  const source = execCredentials(
    { apiVersion, command: 'aro-no-such-plugin', installHint: 'get it from the store' },
    { directory: '/', cluster: {}, origin: 'test' },
  );
  await assert.rejects(source.current(), /not installed\nget it from the store/);
});

test('a plugin that needs a terminal is refused', () => {
  assert.throws(
    () =>
      execCredentials(
        { apiVersion, command: 'x', interactiveMode: 'Always' },
        { directory: '/', cluster: {}, origin: 'o' },
      ),
    /needs a terminal/,
  );
});

async function setup(t: TestContext, script: string) {
  const directory = await mkdtemp(join(tmpdir(), 'aro-exec-'));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'plugin');
  await writeFile(path, `#!/bin/sh\ncd "$(dirname "$0")"\necho run >> runs\n${script}\n`);
  await chmod(path, 0o755);
  const plugin: ExecPlugin = { apiVersion, command: './plugin' };
  return {
    directory,
    plugin,
    runs: async () => (await readFile(join(directory, 'runs'), 'utf8')).trim().split('\n').length,
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
