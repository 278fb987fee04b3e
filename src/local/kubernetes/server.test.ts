import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { issueClientCertificate } from '../../pki/authority.ts';
import { keyPem } from '../../pki/keys.ts';
import { type Client, clientOf, clientOver, portOf, startServer as startWhole } from './http/testing/server.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import type { KubernetesConfig, RunningKubernetes } from './main.ts';
import type { KubeObject } from './object.ts';
import type { Status } from './status.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };

/** Without controllers, which would put objects of their own beside those of the test. */
const startServer = (t: TestContext, config: Partial<KubernetesConfig> = {}): Promise<RunningKubernetes> =>
  startWhole(t, { controllers: false, ...config });

const configMap = (name: string, more: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...more,
});

interface List {
  readonly items: readonly KubeObject[];
  readonly metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
}

const namesIn = async (client: Client, path: string): Promise<string[]> =>
  (await client.request('GET', path)).json<List>().items.map((item) => item.metadata.name ?? '');

test('a new cluster has the namespaces of the system and the service of its API server', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  assert.deepEqual(await namesIn(client, '/api/v1/namespaces'), [
    'default',
    'kube-node-lease',
    'kube-public',
    'kube-system',
  ]);
  const service = await client.request('GET', '/api/v1/namespaces/default/services/kubernetes');
  assert.equal(service.status, 200);
});

test('the name in the handshake selects the cluster, and clusters share nothing', async (t) => {
  const running = await startServer(t, { clusters: ['one', 'two'] });
  const [one, two] = ['one', 'two'].map((name) => running.clusters.find(name));
  const first = await clientOf(t, running, one);
  const second = await clientOf(t, running, two);
  assert.equal((await first.request('POST', maps, { body: configMap('mine') })).status, 201);
  assert.equal((await second.request('GET', `${maps}/mine`)).status, 404);
  assert.notEqual(await one?.ca(), await two?.ca());

  const foreign = connect(`https://127.0.0.1:${portOf(running)}`, {
    servername: two?.hostName,
    ca: (await one?.ca()) ?? '',
  });
  const [refused] = await once(foreign, 'error');
  assert.match(String(refused), /self-signed|unable to verify|certificate/);

  const unknown = connect(`https://127.0.0.1:${portOf(running)}`, {
    servername: 'three.kubernetes.localhost',
    rejectUnauthorized: false,
  });
  await once(unknown, 'error');
});

test('clusters come and go while the server runs', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.create('late'));
  assert.equal((await client.request('GET', '/api/v1/namespaces/default')).status, 200);
  const watching = await client.watch(`${maps}?watch=1`);
  await running.clusters.remove('late');
  assert.equal(await watching.next(), undefined);
  assert.equal(running.clusters.find('late'), undefined);
  assert.throws(() => running.clusters.create('Not_A_Label'), /DNS label/);
});

test('a client certificate of the cluster is an identity, one of another cluster is not', async (t) => {
  const running = await startServer(t, { clusters: ['one', 'two'] });
  const one = running.clusters.find('one');
  const two = running.clusters.find('two');
  assert.ok(one && two);
  const ask = async (authority: Awaited<ReturnType<typeof one.authority>>): Promise<number> => {
    const issued = await issueClientCertificate(authority, { commonName: 'ann', organizations: ['system:masters'] });
    const session = connect(`https://127.0.0.1:${portOf(running)}`, {
      servername: one.hostName,
      ca: await one.ca(),
      cert: issued.certificatePem,
      key: keyPem(issued.key),
    });
    t.after(() => session.destroy());
    return (await clientOver(session, {}).request('GET', '/api/v1/nodes')).status;
  };
  assert.equal(await ask(await one.authority()), 200);
  assert.equal(await ask(await two.authority()), 401);
});

test('a cluster can have a port of its own, for clients that name none', async (t) => {
  const running = await startServer(t, { clusters: ['one', 'two'] });
  const two = running.clusters.find('two');
  assert.ok(two);
  const shared = await clientOf(t, running, two);
  await shared.request('POST', maps, { body: configMap('here') });
  const config = await kubeconfigOf(two);
  const url = new URL(await running.ownPort(two));
  const session = connect(url, { ca: await two.ca(), cert: config.certificate, key: config.key.reveal() });
  t.after(() => session.destroy());
  assert.deepEqual(await namesIn(clientOver(session, {}), maps), ['here']);
});

test('nobody is served without credentials, and nobody beyond their rights', async (t) => {
  const running = await startServer(t);
  const joe = await clientOf(t, running, running.clusters.find('one'), { name: 'joe' });
  const forbidden = await joe.request('GET', maps);
  assert.equal(forbidden.status, 403);
  assert.equal(
    forbidden.json<Status>().message,
    'configmaps is forbidden: User "joe" cannot list resource "configmaps" in API group "" in the namespace "default"',
  );
  const nobody = await joe.request('GET', maps, { headers: { authorization: 'Bearer nothing' } });
  assert.equal(nobody.status, 401);
  assert.equal(nobody.json<Status>().reason, 'Unauthorized');
});

test('an object is created, read, updated, patched, applied and deleted', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  const created = await client.request('POST', maps, { body: configMap('a', { data: { x: '1' } }) });
  assert.equal(created.status, 201);
  const { metadata } = created.json();
  assert.match(metadata.uid ?? '', /^[0-9a-f-]{36}$/);
  assert.match(metadata.creationTimestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.equal(metadata.managedFields?.[0]?.manager, 'test');

  const stale = { ...created.json(), data: { x: '2' } };
  const updated = await client.request('PUT', `${maps}/a`, { body: stale });
  assert.equal(updated.status, 200);
  assert.equal((await client.request('PUT', `${maps}/a`, { body: { ...stale, data: { x: '3' } } })).status, 409);
  const same = await client.request('PUT', `${maps}/a`, { body: updated.json() });
  assert.equal(same.json().metadata.resourceVersion, updated.json().metadata.resourceVersion, 'nothing changed');

  const patched = await client.request('PATCH', `${maps}/a`, { body: { data: { y: '4' } }, headers: merge });
  assert.deepEqual(patched.json().data, { x: '2', y: '4' });

  const apply = (query: string, data: Record<string, string>) =>
    client.request('PATCH', `${maps}/a?${query}`, {
      body: configMap('a', { data }),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
  assert.equal((await apply('fieldManager=other', { x: '5' })).status, 409);
  assert.deepEqual((await apply('fieldManager=other&force=true', { x: '5' })).json().data, { x: '5', y: '4' });

  const deleted = await client.request('DELETE', `${maps}/a`);
  assert.equal(deleted.status, 200);
  assert.deepEqual(deleted.json<Status>().details, { name: 'a', kind: 'configmaps', uid: metadata.uid });
  assert.equal((await client.request('GET', `${maps}/a`)).status, 404);
});

test('apply creates what is not there', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  const applied = await client.request('PATCH', `${maps}/new?fieldManager=me`, {
    body: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: new\ndata:\n  answer: "yes"\n',
    headers: { 'content-type': 'application/apply-patch+yaml' },
  });
  assert.equal(applied.status, 201);
  assert.deepEqual(applied.json().data, { answer: 'yes' });
  assert.equal(applied.json().metadata.managedFields?.[0]?.operation, 'Apply');
});

test('a dry run answers as the real thing and leaves nothing behind', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  const tried = await client.request('POST', `${maps}?dryRun=All`, { body: configMap('a') });
  assert.equal(tried.status, 201);
  assert.equal(tried.json().metadata.resourceVersion, undefined);
  assert.equal((await client.request('GET', `${maps}/a`)).status, 404);
  await client.request('POST', maps, { body: configMap('a') });
  assert.equal((await client.request('POST', `${maps}?dryRun=All`, { body: configMap('a') })).status, 409);
  assert.equal((await client.request('DELETE', `${maps}/a?dryRun=All`)).status, 200);
  assert.equal((await client.request('GET', `${maps}/a`)).status, 200);
});

test('finalizers keep an object until the last one is taken away', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  await client.request('POST', maps, { body: configMap('held', {}, { finalizers: ['example.com/hold'] }) });
  const marked = (await client.request('DELETE', `${maps}/held`)).json();
  assert.ok(marked.metadata.deletionTimestamp);
  assert.equal((await client.request('GET', `${maps}/held`)).status, 200);
  const more = { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } };
  assert.equal((await client.request('PATCH', `${maps}/held`, { body: more, headers: merge })).status, 422);
  const last = await client.request('PATCH', `${maps}/held`, {
    body: { metadata: { finalizers: null } },
    headers: merge,
  });
  assert.equal(last.status, 200);
  assert.equal((await client.request('GET', `${maps}/held`)).status, 404);
});

test('what becomes of dependents is said in finalizers', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  const finalizersAfter = async (policy: string): Promise<string[] | undefined> => {
    const name = policy.toLowerCase();
    await client.request('POST', maps, { body: configMap(name) });
    const answer = await client.request('DELETE', `${maps}/${name}?propagationPolicy=${policy}`);
    return answer.json().metadata.finalizers;
  };
  assert.deepEqual(await finalizersAfter('Foreground'), ['foregroundDeletion']);
  assert.deepEqual(await finalizersAfter('Orphan'), ['orphan']);
  assert.equal(await finalizersAfter('Background'), undefined);
});

test('pages of a list show the state at its beginning', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  for (const name of ['a', 'c', 'e', 'g']) await client.request('POST', maps, { body: configMap(name) });
  const first = (await client.request('GET', `${maps}?limit=2`)).json<List>();
  assert.deepEqual(
    first.items.map((item) => item.metadata.name),
    ['a', 'c'],
  );
  assert.equal(first.metadata.remainingItemCount, 2);
  await client.request('POST', maps, { body: configMap('d') });
  await client.request('DELETE', `${maps}/e`);
  const token = encodeURIComponent(first.metadata.continue ?? '');
  const second = (await client.request('GET', `${maps}?limit=2&continue=${token}`)).json<List>();
  assert.deepEqual(
    second.items.map((item) => item.metadata.name),
    ['e', 'g'],
  );
  assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
  assert.equal(second.metadata.continue, undefined);
  const past = `${maps}?resourceVersionMatch=Exact&resourceVersion=${first.metadata.resourceVersion}`;
  assert.deepEqual(await namesIn(client, past), ['a', 'c', 'e', 'g']);
  assert.deepEqual(await namesIn(client, maps), ['a', 'c', 'd', 'g']);
});

test('a watch tells what there is, where it ends, and what changes', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  await client.request('POST', maps, { body: configMap('a') });
  const query = 'watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
  const watching = await client.watch(`${maps}?${query}`);
  assert.equal((await watching.next())?.object.metadata.name, 'a');
  const end = await watching.next();
  assert.equal(end?.type, 'BOOKMARK');
  assert.deepEqual(end?.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });

  await client.request('PATCH', `${maps}/a`, { body: { data: { x: '1' } }, headers: merge });
  await client.request('DELETE', `${maps}/a`);
  assert.deepEqual([(await watching.next())?.type, (await watching.next())?.type], ['MODIFIED', 'DELETED']);
  watching.close();

  const since = await client.watch(`${maps}?watch=1&resourceVersion=${end?.object.metadata.resourceVersion}`);
  assert.deepEqual([(await since.next())?.type, (await since.next())?.type], ['MODIFIED', 'DELETED']);
  since.close();
});

test('an object that leaves a selection is deleted to its watchers, one that enters is added', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  const label = (team: string | null) => ({ body: { metadata: { labels: { team } } }, headers: merge });
  const watching = await client.watch(`${maps}?watch=1&labelSelector=team%3Dred`);
  await client.request('POST', maps, { body: configMap('a', {}, { labels: { team: 'blue' } }) });
  await client.request('PATCH', `${maps}/a`, label('red'));
  const left = await client.request('PATCH', `${maps}/a`, label(null));
  const entered = await watching.next();
  assert.equal(entered?.type, 'ADDED');
  const gone = await watching.next();
  assert.equal(gone?.type, 'DELETED');
  assert.deepEqual(gone?.object.metadata.labels, { team: 'red' });
  assert.equal(gone?.object.metadata.resourceVersion, left.json().metadata.resourceVersion);
});

test('a watch ends when its time is over, and from a forgotten revision with an error', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'aro-kubernetes-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const before = await startServer(t, { dataDirectory: directory });
  const client = await clientOf(t, before, before.clusters.find('one'));
  const timed = await client.watch(`${maps}?watch=1&timeoutSeconds=1`);
  assert.equal(await timed.next(), undefined);
  await client.request('POST', maps, { body: configMap('a') });
  await before.stop();

  const after = await startServer(t, { dataDirectory: directory });
  const again = await clientOf(t, after, after.clusters.find('one'));
  const late = await again.watch(`${maps}?watch=1&resourceVersion=1`);
  const error = await late.next();
  assert.equal(error?.type, 'ERROR');
  assert.equal(error?.object.code, 410);
  assert.equal(await late.next(), undefined);
});

test('a watcher that does not read is cut off, and others do not notice', async (t) => {
  const running = await startServer(t);
  const cluster = running.clusters.find('one');
  const client = await clientOf(t, running, cluster);
  const other = await clientOf(t, running, cluster);
  const config = await kubeconfigOf(cluster ?? assert.fail());
  const session = connect(`https://127.0.0.1:${portOf(running)}`, {
    servername: cluster?.hostName,
    ca: (await cluster?.ca()) ?? '',
    cert: config.certificate,
    key: config.key.reveal(),
    settings: { initialWindowSize: 1024 },
  });
  t.after(() => session.destroy());
  const slow = session.request({ ':path': `${maps}?watch=1` });
  await once(slow, 'response');
  slow.pause();
  slow.on('error', () => {});
  const cut = once(slow, 'close');
  const good = await other.watch(`${maps}?watch=1`);
  await client.request('POST', maps, { body: configMap('a') });
  const big = 'x'.repeat(900_000);
  const writes = 14;
  for (let count = 0; count < writes; count += 1) {
    await client.request('PATCH', `${maps}/a`, { body: { data: { big, count: String(count) } }, headers: merge });
  }
  for (let count = 0; count <= writes; count += 1) assert.ok(await good.next());
  await cut;
});

test('formats: YAML both ways, metadata alone, gzip for what is large, HTTP/1.1', async (t) => {
  const running = await startServer(t);
  const cluster = running.clusters.find('one');
  const client = await clientOf(t, running, cluster);
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-yaml\ndata:\n  time: 2020-01-01T00:00:00Z\n';
  const created = await client.request('POST', maps, {
    body: yaml,
    headers: { 'content-type': 'application/yaml', accept: 'application/yaml' },
  });
  assert.equal(created.status, 201, created.text);
  assert.match(created.text, /^apiVersion: v1\ndata:\n {2}time: "2020-01-01T00:00:00Z"\nkind: ConfigMap\n/);
  const partial = await client.request('GET', maps, {
    headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json' },
  });
  assert.equal(partial.json<{ kind: string }>().kind, 'PartialObjectMetadataList');
  assert.equal(partial.text.includes('"data"'), false);
  const protobuf = { accept: 'application/vnd.kubernetes.protobuf' };
  assert.equal((await client.request('GET', maps, { headers: protobuf })).status, 406);
  const either = { accept: 'application/vnd.kubernetes.protobuf,application/json' };
  assert.equal((await client.request('GET', maps, { headers: either })).status, 200);

  const value = 'compressible '.repeat(20_000);
  await client.request('POST', maps, { body: configMap('big', { data: { value } }) });
  const packed = await client.request('GET', `${maps}/big`, { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.equal((JSON.parse(gunzipSync(packed.bytes).toString()) as { data: { value: string } }).data.value, value);

  const config = await kubeconfigOf(cluster ?? assert.fail());
  const version = await new Promise<string>((resolve, reject) => {
    const request = httpsRequest(
      `https://127.0.0.1:${portOf(running)}/version`,
      { servername: cluster?.hostName, ca: config.ca, cert: config.certificate, key: config.key.reveal() },
      (response) => {
        response.resume();
        resolve(`${response.httpVersion} ${response.statusCode}`);
      },
    );
    request.on('error', reject);
    request.end();
  });
  assert.equal(version, '1.1 200');
});

test('bad input is refused as a real server refuses it', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  await client.request('POST', maps, { body: configMap('a') });
  const deep = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  const cases: readonly [method: string, path: string, body: unknown, type: string, status: number, message: RegExp][] =
    [
      ['POST', maps, '{bad', 'json', 400, /invalid character 'b' looking for beginning of object key string/],
      ['POST', maps, '', 'json', 400, /unexpected end of JSON input \(<empty>\)/],
      ['POST', maps, '[]', 'json', 400, /cannot unmarshal array/],
      ['POST', maps, deep, 'json', 400, /exceeded max depth/],
      ['POST', maps, 'a: [', 'yaml', 400, /yaml: line 1/],
      ['POST', maps, configMap('a'), 'text', 415, /in an unknown format/],
      ['POST', maps, { ...configMap('b'), kind: 'Nothing' }, 'json', 400, /no kind "Nothing" is registered/],
      ['POST', maps, configMap('b', {}, { namespace: 'other' }), 'json', 400, /does not match the namespace/],
      ['POST', maps, configMap('b', { data: { x: 'x'.repeat(3 << 20) } }), 'json', 413, /limit is 3145728/],
      ['POST', '/api/v1/namespaces/none/configmaps', configMap('b'), 'json', 404, /namespaces "none" not found/],
      ['POST', `${maps}?fieldValidation=Strict`, configMap('b', { foo: 1 }), 'json', 400, /unknown field "foo"/],
      ['POST', `${maps}?dryRun=Some`, configMap('b'), 'json', 422, /Unsupported value: \["Some"\]/],
      ['PUT', `${maps}/a`, configMap('b'), 'json', 400, /does not match the name on the URL/],
      ['PUT', `${maps}/none`, configMap('none'), 'json', 404, /configmaps "none" not found/],
      ['PATCH', `${maps}/a`, '{bad', 'merge-patch+json', 400, /error decoding patch/],
      ['PATCH', `${maps}/a`, '[{"op":"remove","path":"/x"}]', 'json-patch+json', 422, /rejected our request/],
      ['PATCH', `${maps}/a`, '{}', 'apply-patch+yaml', 422, /fieldManager: Required value/],
      ['DELETE', `${maps}/a`, '{"preconditions":{"uid":"1"}}', 'json', 409, /UID in the precondition \(1\)/],
      ['DELETE', `${maps}/a`, '{bad', 'json', 400, /json parse error/],
      ['POST', `${maps}/a`, configMap('a'), 'json', 405, /does not allow this method/],
      ['GET', `${maps}?limit=x`, undefined, '', 400, /strconv.ParseInt/],
      ['GET', `${maps}?labelSelector=a%20b`, undefined, '', 400, /unable to parse requirement/],
      ['GET', `${maps}?fieldSelector=spec.x%3D1`, undefined, '', 400, /not a known field selector/],
      ['GET', `${maps}?continue=zzz`, undefined, '', 400, /continue key is not valid/],
      ['GET', `${maps}?resourceVersion=99999`, undefined, '', 504, /Too large resource version/],
      ['GET', '/api/v1/things', undefined, '', 404, /could not find the requested resource/],
      ['GET', `${maps}/a/status`, undefined, '', 404, /could not find the requested resource/],
      ['GET', `${maps}/%zz`, undefined, '', 400, /cannot be decoded/],
      ['DELETE', '/api/v1/namespaces/kube-system', undefined, '', 403, /may not be deleted/],
    ];
  for (const [method, path, body, type, status, message] of cases) {
    const headers: Record<string, string> = type === '' ? {} : { 'content-type': `application/${type}` };
    const answer = await client.request(method, path, { headers, ...(body === undefined ? {} : { body }) });
    const told = `${method} ${path}`;
    assert.equal(answer.status, status, `${told}: ${answer.text.slice(0, 300)}`);
    const refusal = answer.json<Status>();
    assert.equal(refusal.code, status, told);
    assert.match(refusal.message ?? '', message, told);
  }
  const nowhere = await client.request('GET', '/nowhere');
  assert.deepEqual([nowhere.status, nowhere.text], [404, '404 page not found\n']);
});

test('unknown and doubled members are told as warnings', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  const answer = await client.request('POST', maps, {
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","name":"b"},"foo":1}',
  });
  assert.equal(answer.status, 201);
  assert.equal(answer.json().metadata.name, 'b');
  assert.equal(answer.headers.warning, '299 - "duplicate field \\"metadata.name\\"", 299 - "unknown field \\"foo\\""');
});

test('health, version, metrics and the index of paths', async (t) => {
  const running = await startServer(t);
  const client = await clientOf(t, running, running.clusters.find('one'));
  assert.equal((await client.request('GET', '/healthz')).text, 'ok');
  assert.match((await client.request('GET', '/readyz?verbose')).text, /^\[\+\]ping ok\n[\s\S]*readyz check passed\n$/);
  assert.equal((await client.request('GET', '/version')).json<{ major: string }>().major, '1');
  assert.match((await client.request('GET', '/metrics')).text, /apiserver_request_duration_seconds_bucket/);
  assert.ok((await client.request('GET', '/')).json<{ paths: string[] }>().paths.includes('/apis/apps/v1'));
});

test('with a data directory everything is there again after a restart, the authority too', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'aro-kubernetes-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const before = await startServer(t, { dataDirectory: directory, clusters: ['kept'] });
  const client = await clientOf(t, before, before.clusters.find('kept'));
  const created = await client.request('POST', maps, { body: configMap('a', { data: { x: '1' } }) });
  const ca = await before.clusters.find('kept')?.ca();
  await before.stop();
  assert.equal((await stat(directory)).mode & 0o777, 0o700);

  const after = await startServer(t, { dataDirectory: directory, clusters: [] });
  assert.equal(await after.clusters.find('kept')?.ca(), ca);
  const again = await clientOf(t, after, after.clusters.find('kept'));
  const read = await again.request('GET', `${maps}/a`);
  assert.deepEqual(read.json(), created.json());
  const next = await again.request('POST', maps, { body: configMap('b') });
  assert.ok(Number(next.json().metadata.resourceVersion) > Number(created.json().metadata.resourceVersion));
});

test('stopping ends watches in order', async (t) => {
  const running = await startServer(t, { graceSeconds: 5 });
  const client = await clientOf(t, running, running.clusters.find('one'));
  const watching = await client.watch(`${maps}?watch=1`);
  const stopped = running.stop();
  assert.equal(await watching.next(), undefined);
  await stopped;
});

const run = promisify(execFile);
const hasKubectl = await run('kubectl', ['version', '--client']).then(
  () => true,
  () => false,
);

test('kubectl', { skip: hasKubectl ? false : 'kubectl is not on the PATH' }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'aro-kubectl-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const running = await startServer(t);
  const { text } = await kubeconfigOf(running.clusters.find('one') ?? assert.fail());
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, text.reveal(), { mode: 0o600 });
  const kubectl = async (...args: string[]): Promise<string> => {
    const options = ['--kubeconfig', kubeconfig, '--cache-dir', directory];
    const { stdout } = await run('kubectl', [...options, ...args], { timeout: 20_000 });
    return stdout.trim();
  };
  assert.equal(await kubectl('get', '--raw', '/healthz'), 'ok');
  assert.match(await kubectl('get', 'namespaces'), /^NAME +STATUS +AGE\ndefault +Active/);
  // Typed commands send protobuf.
  assert.equal(await kubectl('create', 'configmap', 'x', '--from-literal=a=b'), 'configmap/x created');
  assert.equal(await kubectl('get', 'cm', 'x', '-o', 'jsonpath={.data}'), '{"a":"b"}');
  assert.equal(await kubectl('label', 'cm', 'x', 'team=red'), 'configmap/x labeled');
  assert.match(await kubectl('get', 'cm', '-l', 'team=red'), /^NAME +DATA +AGE\nx +1/);
  assert.equal(await kubectl('create', 'deployment', 'web', '--image=nginx'), 'deployment.apps/web created');
  assert.equal(await kubectl('scale', 'deploy/web', '--replicas=3'), 'deployment.apps/web scaled');
  assert.equal(await kubectl('auth', 'can-i', 'create', 'pods'), 'yes');
  assert.equal(await kubectl('create', 'serviceaccount', 'robot'), 'serviceaccount/robot created');
  assert.match(await kubectl('create', 'token', 'robot'), /^[\w-]+\.[\w-]+\.[\w-]+$/);
  assert.match(await kubectl('api-resources'), /configmaps +cm +v1 +true +ConfigMap/);
  assert.match(await kubectl('api-resources'), /deployments +deploy +apps\/v1/);
  assert.match(await kubectl('delete', 'cm', 'x'), /configmap "x" deleted/);
});
