import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const bin = fileURLToPath(new URL('../../bin/aro.ts', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'aro-local-'));
after(() => rmSync(root, { recursive: true, maxRetries: 5 }));

interface Started {
  readonly process: ChildProcess;
  readonly out: string;
}

async function started(t: TestContext, ...args: string[]): Promise<Started> {
  const child = spawn(process.execPath, [bin, 'local', 'kubernetes', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stderr.on('data', (part: Buffer) => {
    err += part;
  });
  for await (const part of child.stdout) {
    out += part;
    if (out.includes('Ready.')) break;
  }
  assert.match(out, /Ready\./, err);
  return { process: child, out };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exit = once(child, 'exit') as Promise<[number | null]>;
  child.kill(signal);
  return (await exit)[0];
}

/** The exit code and the words of one that does not start. */
function refused(...args: string[]): [status: number | null, words: string] {
  const ran = spawnSync(process.execPath, [bin, 'local', 'kubernetes', ...args], { encoding: 'utf8', cwd: root });
  return [ran.status, ran.stderr];
}

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

/** Asks by kubectl where there is one; otherwise does with the kubeconfig what kubectl does. */
async function ask(kubeconfig: string, path: string, object?: object): Promise<unknown> {
  if (!hasKubectl) return askPlainly(kubeconfig, path, object);
  const args = object ? ['create', '--raw', path, '-f', '-'] : ['get', '--raw', path];
  const child = spawn('kubectl', ['--kubeconfig', kubeconfig, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(object ? JSON.stringify(object) : '');
  let text = '';
  for await (const part of child.stdout) text += part;
  return JSON.parse(text);
}

async function askPlainly(kubeconfig: string, path: string, object?: object): Promise<unknown> {
  const config = parse(readFileSync(kubeconfig, 'utf8'));
  const { cluster } = config.clusters[0];
  const { user } = config.users[0];
  const decoded = (data: string): string => Buffer.from(data, 'base64').toString();
  const asking = request(new URL(path, cluster.server), {
    method: object ? 'POST' : 'GET',
    servername: cluster['tls-server-name'],
    ca: decoded(cluster['certificate-authority-data']),
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
    headers: { 'content-type': 'application/json' },
    agent: false,
  });
  asking.end(object && JSON.stringify(object));
  const [answer] = await once(asking, 'response');
  let text = '';
  for await (const part of answer) text += part;
  return JSON.parse(text);
}

const maps = '/api/v1/namespaces/default/configmaps';
const namesOf = (list: unknown): string[] =>
  (list as { items: { metadata: { name: string } }[] }).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== 'kube-root-ca.crt');
const configMap = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

describe('aro local kubernetes', () => {
  it('runs clusters whose kubeconfigs work, and go on working after it was killed and started again', async (t) => {
    const directory = join(root, 'data');
    const files = ['cluster-1', 'cluster-2'].map((name) => join(directory, `${name}.kubeconfig`));
    const [one = '', two = ''] = files;
    const args = ['--clusters', '2', '--data-dir', 'data'];
    const first = await started(t, ...args);
    for (const file of files) {
      assert.ok(first.out.includes(`kubeconfig ${file}\n`));
      assert.ok(first.out.includes(`kubectl --kubeconfig ${file} get namespaces`));
      if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    }
    if (process.platform !== 'win32') assert.equal(statSync(directory).mode & 0o777, 0o700);
    await ask(one, maps, configMap('of-one'));
    await ask(two, maps, configMap('of-two'));
    assert.deepEqual(namesOf(await ask(one, '/api/v1/nodes')), ['node-1']);
    const written = files.map((file) => readFileSync(file, 'utf8'));
    await ended(first.process, 'SIGKILL');

    const second = await started(t, ...args);
    assert.deepEqual(
      files.map((file) => readFileSync(file, 'utf8')),
      written,
    );
    assert.deepEqual(namesOf(await ask(one, maps)), ['of-one']);
    assert.deepEqual(namesOf(await askPlainly(two, maps)), ['of-two']);
    assert.equal(await ended(second.process, 'SIGTERM'), 0);
  });

  it('takes names and a host suffix, and writes a kubeconfig anew that leads elsewhere', async (t) => {
    const file = join(root, 'named', 'blue.kubeconfig');
    const args = ['--cluster', 'blue', '--cluster', 'green', '--data-dir', 'named'];
    const first = await started(t, ...args);
    assert.match(first.out, /^blue\n.*\n.*\ngreen\n/);
    assert.equal(await ended(first.process, 'SIGINT'), 0);

    const second = await started(t, ...args, '--host-suffix', 'example.test');
    const { cluster } = parse(readFileSync(file, 'utf8')).clusters[0];
    assert.equal(cluster['tls-server-name'], 'blue.example.test');
    assert.match(cluster.server, /^https:\/\/127\.0\.0\.1:\d+$/);
    assert.deepEqual(namesOf(await ask(file, maps)), []);
    assert.equal(await ended(second.process, 'SIGTERM'), 0);
  });

  it('keeps no value of a secret in its files, whatever ends it', async (t) => {
    const directory = join(root, 'sealed');
    const file = join(directory, 'cluster-1.kubeconfig');
    const values = ['correct horse', 'battery staple'];
    const forms = values.flatMap((value) => [value, Buffer.from(value).toString('base64')]);
    const found = (): string[] =>
      readdirSync(directory)
        .filter((name) => !name.endsWith('.kubeconfig'))
        .flatMap((name) => {
          const bytes = readFileSync(join(directory, name));
          return [...forms, 'PRIVATE KEY'].filter((form) => bytes.includes(form));
        });
    const secrets = '/api/v1/namespaces/default/secrets';
    const [first = '', second = ''] = values;
    const secret = (name: string, value: string): object => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name },
      stringData: { value },
    });
    const killed = await started(t, '--data-dir', 'sealed');
    await ask(file, secrets, secret('first', first));
    assert.deepEqual(found(), []);
    await ended(killed.process, 'SIGKILL');
    assert.deepEqual(found(), []);

    const stopped = await started(t, '--data-dir', 'sealed');
    await ask(file, secrets, secret('second', second));
    assert.deepEqual(
      await Promise.all(
        ['first', 'second'].map(async (name) => {
          const { data } = (await ask(file, `${secrets}/${name}`)) as { data: { value: string } };
          return Buffer.from(data.value, 'base64').toString();
        }),
      ),
      values,
    );
    assert.equal(await ended(stopped.process, 'SIGTERM'), 0);
    assert.deepEqual(found(), []);

    rmSync(join(directory, 'kubernetes.key'));
    const [key, database] = ['kubernetes.key', 'kubernetes.sqlite'].map((name) => join(directory, name));
    assert.deepEqual(refused('--data-dir', 'sealed'), [
      1,
      `aro: kubernetes cannot start: host key: ${key} is missing or empty, and ${database} needs it: put its copy back, or start with another data directory\n`,
    ]);
    writeFileSync(key ?? '', Buffer.alloc(32));
    const [status, words] = refused('--data-dir', 'sealed');
    assert.equal(status, 1);
    assert.match(
      words,
      /^aro: kubernetes cannot start: objects: database .*: sealed with key .*; put back the key .*\n$/,
    );
  });

  it('says in a sentence that another has the data directory', async (t) => {
    await started(t, '--data-dir', 'shared');
    const file = join(root, 'shared', 'kubernetes.sqlite');
    assert.deepEqual(refused('--data-dir', 'shared'), [
      1,
      `aro: kubernetes cannot start: objects: database ${file}: another process has it open; stop that one, or give this one a data directory of its own\n`,
    ]);
  });

  it('writes a line for every request to the audit log, and names clusters from before', async (t) => {
    const log = join(root, 'audit.log');
    const first = await started(t, '--cluster', 'blue', 'green', '--data-dir', 'audited', '--audit-log', 'audit.log');
    await ask(join(root, 'audited', 'blue.kubeconfig'), maps, configMap('seen'));
    assert.equal(await ended(first.process, 'SIGTERM'), 0);
    if (process.platform !== 'win32') assert.equal(statSync(log).mode & 0o777, 0o600);
    const lines = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).audit)
      .filter(({ verb }) => verb === 'create');
    assert.deepEqual(
      lines.map(({ cluster, objectRef, user, responseStatus }) => [
        cluster,
        objectRef.resource,
        user.username,
        responseStatus.code,
      ]),
      [['blue', 'configmaps', 'kubernetes-admin', 201]],
    );

    const second = await started(t, '--cluster', 'green', '--data-dir', 'audited', '--audit-log', '-');
    assert.match(second.out, /\nAlso served, from before: blue\. Name them with --cluster/);
    assert.equal(await ended(second.process, 'SIGTERM'), 0);
    assert.deepEqual(refused('--data-dir', 'audited', '--audit-log', '.')[0], 1);
  });

  for (const [args, message] of [
    [[], "option '--data-dir <directory>' is required"],
    [['--data-dir', 'x', '--clusters', 'many'], 'It must be a whole number from 1 to 100000.'],
    [['--data-dir', 'x', '--clusters', '0'], 'It must be a whole number from 1 to 100000.'],
    [
      ['--data-dir', 'x', '--oidc-issuer-url', 'https://issuer.test'],
      'an issuer needs --oidc-issuer-url and --oidc-client-id',
    ],
    [
      ['--data-dir', 'x', '--oidc-issuer-url', 'http://issuer.test', '--oidc-client-id', 'c'],
      '"http://issuer.test" cannot be an issuer: it must be an https URL',
    ],
    [['--data-dir', 'x', '--cluster', 'Not_A_Label'], '"Not_A_Label" cannot name a cluster: it must be a DNS label'],
    [['--data-dir', 'x', '--host-suffix', '.x'], '".x" cannot be a host suffix: it must be a DNS name'],
  ] as const) {
    it(`says what is wrong with: ${args.join(' ') || 'no options'}`, () => {
      const [status, words] = refused(...args);
      assert.equal(status, 2);
      assert.ok(words.includes(message), words);
    });
  }
});
