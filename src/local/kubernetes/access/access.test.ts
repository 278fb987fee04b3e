import assert from 'node:assert/strict';
import type { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../../../pki/authority.ts';
import { StatusError } from '../status.ts';
import { rbacStorage } from './default-rbac.ts';
import { issueStaticToken, withdrawStaticTokens } from './static-tokens.ts';
import { ask, binding, clusterRole, person, type TestCluster, testCluster, user } from './testing/cluster-access.ts';

const bearer = (token: string): { headers: { authorization: string }; connection: object } => ({
  connection: {},
  headers: { authorization: `Bearer ${token}` },
});
const withCertificate = (
  certificate: X509Certificate,
): { connection: { getPeerX509Certificate(): X509Certificate }; headers: Record<string, string> } => ({
  connection: { getPeerX509Certificate: () => certificate },
  headers: {},
});

async function refused(work: () => unknown): Promise<void> {
  await assert.rejects(
    async () => work(),
    (error) => error instanceof StatusError && error.status.code === 401 && error.status.message === 'Unauthorized',
  );
}

async function serviceAccount(cluster: TestCluster, name: string): Promise<{ name: string; uid: string }> {
  const entry = await cluster.put('/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: 'default' },
  });
  return { name, uid: entry.uid };
}

test('nobody is anonymous', async () => {
  const { access } = await testCluster();
  await refused(() => access.authenticate({ connection: {}, headers: {} }));
  await refused(() => access.authenticate({ connection: {}, headers: { authorization: 'Basic YTpi' } }));
  await refused(() => access.authenticate(bearer('nope')));
});

test("a certificate of the cluster's authority names user and groups, and is read once per connection", async () => {
  const { access, authority } = await testCluster();
  const { certificate } = await issueClientCertificate(await authority(), {
    commonName: 'alice',
    organizations: ['devs', 'qa'],
  });
  const credentials = withCertificate(certificate);
  const found = await access.authenticate(credentials);
  assert.equal(found.name, 'alice');
  assert.deepEqual(found.groups, ['devs', 'qa', 'system:authenticated']);
  assert.match(found.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '', /^X509SHA256=[0-9a-f]{64}$/);
  assert.equal(access.authenticate(credentials), found, 'without waiting from the second request on');
});

test('certificates that are foreign, forged, expired or for servers are refused', async () => {
  const { access, authority, clock } = await testCluster();
  const own = await authority();
  const impostor = await createAuthority({ name: 'ca of c1' });
  const foreign = await issueClientCertificate(impostor, { commonName: 'alice' });
  await refused(() => access.authenticate(withCertificate(foreign.certificate)));
  const server = await issueServerCertificate(own, { dnsNames: ['x.local'], commonName: 'alice' });
  await refused(() => access.authenticate(withCertificate(server.certificate)));
  const short = await issueClientCertificate(own, { commonName: 'alice', lifeSeconds: 60 });
  const credentials = withCertificate(short.certificate);
  assert.equal((await access.authenticate(credentials)).name, 'alice');
  clock.now += 61_000;
  await refused(() => access.authenticate(credentials));
});

test('a static token stands for its user until it expires or is withdrawn, in its cluster only', async () => {
  const { access, objects, clock } = await testCluster();
  const other = await testCluster('c2');
  const token = await issueStaticToken(objects, { user: 'ci', groups: ['robots'], uid: '7' });
  assert.deepEqual(access.authenticate(bearer(token.reveal())), {
    name: 'ci',
    uid: '7',
    groups: ['robots', 'system:authenticated'],
  });
  await refused(() => other.access.authenticate(bearer(token.reveal())));
  const brief = await issueStaticToken(objects, { user: 'ci', expiresAt: clock.now + 1000 });
  clock.now += 1000;
  await refused(() => access.authenticate(bearer(brief.reveal())));
  assert.equal(await withdrawStaticTokens(objects, 'ci'), 2);
  await refused(() => access.authenticate(bearer(token.reveal())));
});

test('a service-account token is good while it lasts and what it is bound to exists', async () => {
  const cluster = await testCluster();
  const { access, clock, objects } = cluster;
  const account = await serviceAccount(cluster, 'builder');
  const pod = await cluster.put('/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
  });
  const audiences = [access.tokens.issuer];
  const { token } = await access.tokens.issue({ namespace: 'default', account, audiences, lifeSeconds: 600 });
  const bound = await access.tokens.issue({
    namespace: 'default',
    account,
    audiences,
    lifeSeconds: 600,
    pod: { name: 'p', uid: pod.uid },
  });
  const found = await access.authenticate(bearer(token));
  assert.equal(found.name, 'system:serviceaccount:default:builder');
  assert.equal(found.uid, account.uid);
  assert.deepEqual(found.groups, ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated']);
  const podUser = await access.authenticate(bearer(bound.token));
  assert.deepEqual(podUser.extra?.['authentication.kubernetes.io/pod-name'], ['p']);
  assert.ok(!(access.authenticate(bearer(token)) instanceof Promise), 'known tokens do not wait');

  await objects.commit((transaction) => transaction.delete(pod));
  await refused(() => access.authenticate(bearer(bound.token)));
  clock.now += 600_000;
  await refused(() => access.authenticate(bearer(token)));
});

test('service-account tokens for others, of other clusters, altered or of a remade account are refused', async () => {
  const cluster = await testCluster();
  const { access, objects } = cluster;
  const account = await serviceAccount(cluster, 'builder');
  const issue = async (audience: string): Promise<string> =>
    (await access.tokens.issue({ namespace: 'default', account, audiences: [audience], lifeSeconds: 600 })).token;
  await refused(async () => access.authenticate(bearer(await issue('vault'))));
  const good = await issue(access.tokens.issuer);
  const [head = '', body = '', signature = ''] = good.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'system:serviceaccount:default:admin' })).toString(
    'base64url',
  );
  await refused(() => access.authenticate(bearer(`${head}.${changed}.${signature}`)));
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  await refused(() => access.authenticate(bearer(`${none}.${body}.`)));

  const other = await testCluster('c2');
  await other.put('/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'builder', namespace: 'default', uid: account.uid },
  });
  await refused(() => other.access.authenticate(bearer(good)));

  assert.equal((await access.authenticate(bearer(good))).uid, account.uid);
  const entry = objects.get('/serviceaccounts', 'default', 'builder');
  assert.ok(entry);
  await objects.commit((transaction) => transaction.delete(entry));
  await serviceAccount(cluster, 'builder');
  await refused(() => access.authenticate(bearer(good)));
});

test('impersonation needs the right to every part of it', async () => {
  const { access, put } = await testCluster();
  const admin = person('admin', 'system:masters');
  const headers = [
    'Impersonate-User',
    'eve',
    'Impersonate-Group',
    'g1',
    'Impersonate-Extra-Foo%2fBar',
    'a',
    'Impersonate-Uid',
    '77',
  ];
  assert.deepEqual(access.actingUser(admin, headers, '/api'), {
    name: 'eve',
    uid: '77',
    groups: ['g1', 'system:authenticated'],
    extra: { 'foo/bar': ['a'] },
  });
  assert.equal(access.actingUser(admin, ['Accept', '*/*'], '/api'), admin);
  assert.deepEqual(access.actingUser(admin, ['impersonate-user', 'system:serviceaccount:ns:sa'], '/api').groups, [
    'system:serviceaccounts',
    'system:serviceaccounts:ns',
    'system:authenticated',
  ]);
  const bob = person('bob');
  const message = (raw: string[]): string => {
    try {
      return access.actingUser(bob, raw, '/api').name;
    } catch (error) {
      return error instanceof StatusError ? error.message : String(error);
    }
  };
  assert.equal(
    message(headers),
    'users "eve" is forbidden: User "bob" cannot impersonate resource "users" in API group "" at the cluster scope',
  );
  assert.equal(
    message(['Impersonate-User', 'system:serviceaccount:ns:sa']),
    'serviceaccounts "sa" is forbidden: User "bob" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns"',
  );
  const rules = [{ verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['eve'] }];
  await put(rbacStorage.clusterRoles, clusterRole('imp', { rules }));
  await put(rbacStorage.clusterRoleBindings, binding('imp', 'imp', user('bob')));
  assert.equal(message(['Impersonate-User', 'eve']), 'eve');
  assert.match(message(headers), /^groups "g1" is forbidden/);
  assert.match(
    message(['Impersonate-User', 'eve', 'Impersonate-Group', 'system:masters']),
    /^groups "system:masters" is forbidden/,
  );
});

test('require refuses what is not allowed', async () => {
  const { access } = await testCluster();
  assert.throws(
    () => access.require(person('bob'), ask('list', 'nodes')),
    /nodes is forbidden: User "bob" cannot list/,
  );
});
