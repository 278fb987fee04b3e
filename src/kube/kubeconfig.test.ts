import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { createAuthority, issueClientCertificate } from '../pki/authority.ts';
import { keyPem } from '../pki/keys.ts';
import { AccessError } from './cluster-access.ts';
import { inClusterAccess } from './in-cluster.ts';
import { accessOf, loadAccess, mergeKubeconfigs, readKubeconfig } from './kubeconfig.ts';

test('files that KUBECONFIG lists are one: the first to name something decides, missing files are passed over', async (t) => {
  const { directory, write } = await files(t);
  const a = await write('a', {
    'current-context': '',
    clusters: [{ name: 'c', cluster: { server: 'https://first:6443' } }],
    users: [{ name: 'u', user: { token: 'first' } }],
  });
  const b = await write('b', {
    'current-context': 'two',
    clusters: [
      { name: 'c', cluster: { server: 'https://second:6443', 'tls-server-name': 'other' } },
      { name: 'd', cluster: { server: 'https://d/prefix/' } },
    ],
    contexts: [{ name: 'two', context: { cluster: 'c', user: 'u', namespace: 'n' } }],
  });
  const last = await write('z', {
    'current-context': 'three',
    contexts: [{ name: 'three', context: { cluster: 'd' } }],
  });
  const env = { KUBECONFIG: [join(directory, 'missing'), a, b, last].join(delimiter), HOME: directory };
  const access = loadAccess({ env });
  assert.equal(access.server, 'https://first:6443');
  assert.equal(access.serverName, undefined, 'entries are not merged with each other');
  assert.equal(access.namespace, 'n');
  assert.equal((await access.credentials.current()).token?.reveal(), 'first');
  const other = loadAccess({ env, context: 'three' });
  assert.equal(other.server, 'https://d/prefix');
  assert.deepEqual(await other.credentials.current(), {});
});

test('relative paths are relative to the file that holds them, and a token file is read again', async (t) => {
  const { directory, write } = await files(t);
  await mkdir(join(directory, 'sub'));
  await writeFile(join(directory, 'sub', 'token'), 'one\n');
  const path = await write('sub/config', simple({}, { tokenFile: 'token', token: 'ignored' }));
  const access = loadAccess({ kubeconfig: path });
  const first = await access.credentials.current();
  assert.equal(first.token?.reveal(), 'one');
  await writeFile(join(directory, 'sub', 'token'), 'two\n');
  access.credentials.refused(first);
  assert.equal((await access.credentials.current()).token?.reveal(), 'two');
});

test('certificates come from data or files, and nothing secret prints', async () => {
  const authority = await createAuthority({ name: 'ca' });
  const client = await issueClientCertificate(authority, { commonName: 'me' });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const access = accessOf(
    merged(
      simple(
        { 'certificate-authority-data': base64(authority.certificatePem) },
        {
          'client-certificate-data': base64(client.certificatePem),
          'client-key-data': base64(keyPem(client.key)),
          token: 'hunter2',
        },
      ),
    ),
  );
  assert.equal(await access.authorities?.(), authority.certificatePem);
  const credential = await access.credentials.current();
  assert.equal(credential.certificate?.certificate, client.certificatePem);
  assert.equal(credential.certificate?.key.reveal(), keyPem(client.key));
  const printed = inspect(credential, { depth: 9 }) + JSON.stringify(credential);
  assert.ok(!printed.includes('hunter2') && !printed.includes('PRIVATE KEY'));
});

const refusals: readonly { readonly what: string; readonly config: object; readonly says: RegExp }[] = [
  { what: 'user name and password', config: simple({}, { username: 'u', password: 'p' }), says: /not accepted/ },
  { what: 'an auth-provider', config: simple({}, { 'auth-provider': { name: 'gcp' } }), says: /gcp.*exec plugin/ },
  { what: 'a token over plain http', config: simple({ server: 'http://api:80' }, { token: 't' }), says: /without TLS/ },
  { what: 'a server that is no address', config: simple({ server: 'api:6443' }), says: /https:\/\/ address/ },
  { what: 'no server', config: simple({ server: '' }), says: /names no server/ },
  {
    what: 'an authority beside insecure-skip-tls-verify',
    config: simple({ 'insecure-skip-tls-verify': true, 'certificate-authority-data': 'eA==' }),
    says: /exclude each other/,
  },
  { what: 'an authority that is none', config: simple({ 'certificate-authority-data': 'eA==' }), says: /in PEM/ },
  { what: 'data that is not base64', config: simple({}, { 'client-key-data': '{}' }), says: /not base64/ },
  { what: 'a key without its certificate', config: simple({}, { 'client-key-data': 'eA==' }), says: /other half/ },
  { what: 'a token file that is not there', config: simple({}, { tokenFile: '/nowhere' }), says: /\/nowhere.*ENOENT/ },
  { what: 'a socks proxy', config: simple({ 'proxy-url': 'socks5://p:1' }), says: /socks5/ },
  { what: 'an unknown user', config: { ...simple({}), users: [] }, says: /no user u/ },
  { what: 'an unknown cluster', config: { ...simple({}), clusters: [] }, says: /no cluster c/ },
  { what: 'an unknown context', config: { ...simple({}), contexts: [] }, says: /no context x; known contexts: none/ },
  { what: 'no current context', config: { ...simple({}), 'current-context': '' }, says: /no current-context.*: x/ },
  { what: 'an entry without name', config: { clusters: [{ cluster: {} }] }, says: /has no name/ },
  { what: 'another kind', config: { kind: 'Secret' }, says: /Secret/ },
  {
    what: 'a plugin of an unknown version',
    config: simple({}, { exec: { apiVersion: 'client.authentication.k8s.io/v1alpha1', command: 'x' } }),
    says: /v1alpha1/,
  },
];

for (const { what, config, says } of refusals) {
  test(`refused with its origin: ${what}`, () => {
    assert.throws(
      () => accessOf(merged(config)),
      (error) => error instanceof AccessError && says.test(error.message) && error.message.includes('/dir/config'),
    );
  });
}

test('a file that is not YAML is refused without quoting it', async (t) => {
  const { directory } = await files(t);
  const path = join(directory, 'config');
  await writeFile(path, 'users:\n- name: a\n token: hunter2: x\n  - }');
  assert.throws(
    () => readKubeconfig([path]),
    (error) => error instanceof AccessError && error.message.includes(path) && !error.message.includes('hunter2'),
  );
});

test('where nothing is configured, all that was looked for is named', () => {
  assert.throws(() => loadAccess({ env: { HOME: '/nowhere' } }), /KUBECONFIG is not set.*\/nowhere\/.kube\/config/);
  assert.throws(() => loadAccess({ env: { KUBECONFIG: '/a/b' } }), /\/a\/b, and none of them is there/);
});

test('in a pod: the service account, its token read again as it is renewed', async (t) => {
  const { directory } = await files(t);
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  assert.throws(() => inClusterAccess({ env, directory }), /token is not there/);
  await Promise.all([
    writeFile(join(directory, 'token'), 'one\n'),
    writeFile(join(directory, 'ca.crt'), 'pem'),
    writeFile(join(directory, 'namespace'), 'operators'),
  ]);
  const access = inClusterAccess({ env, directory });
  assert.equal(access.server, 'https://[fd00::1]:443');
  assert.equal(access.namespace, 'operators');
  assert.equal(await access.authorities?.(), 'pem');
  const first = await access.credentials.current();
  assert.equal(first.token?.reveal(), 'one');
  await rm(join(directory, 'token'));
  access.credentials.refused(first);
  assert.equal(
    (await access.credentials.current()).token?.reveal(),
    'one',
    'a token that is being replaced is used on',
  );
  assert.throws(() => inClusterAccess({ env: {}, directory }), /not in a cluster/);
});

function simple(cluster: object, user: object = {}): Record<string, unknown> {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    clusters: [{ name: 'c', cluster: { server: 'https://api:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  };
}

const merged = (config: object) => mergeKubeconfigs([{ file: '/dir/config', text: JSON.stringify(config) }]);

async function files(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'aro-kubeconfig-'));
  t.after(() => rm(directory, { recursive: true }));
  return {
    directory,
    async write(name: string, config: object): Promise<string> {
      const path = join(directory, name);
      await writeFile(path, JSON.stringify(config));
      return path;
    },
  };
}
