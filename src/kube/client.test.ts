import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { createLogger } from '../kit/log.ts';
import { createMetrics } from '../kit/metrics.ts';
import { Secret } from '../kit/secret.ts';
import { traceFromHttp, withTrace } from '../kit/tracing.ts';
import type { Credential } from './cluster-access.ts';
import { isConflict, isExpired, isNotFound, KubeConnectionError, KubeError } from './kube-error.ts';
import type { UntypedObject } from './object.ts';
import { resource } from './resource.ts';
import { UnknownKindError } from './rest-mapper.ts';
import { failure, scriptedServer, sendJson } from './testing/scripted-server.ts';

const configMaps = resource('v1', 'ConfigMap', 'configmaps');
const deployments = resource('apps/v1', 'Deployment', 'deployments');
const nodes = resource('v1', 'Node', 'nodes', 'Cluster');
const a = { namespace: 'n', name: 'a' };

test('each verb is the request that Kubernetes defines', async (t) => {
  const server = await scriptedServer(t, (_, response) => sendJson(response, 200, { metadata: {} }));
  const client = server.client();
  const object = { metadata: { name: 'a', namespace: 'n' }, spec: { replicas: 1 } };
  await client.get(deployments, a);
  await client.get(nodes, { name: 'x y' }, { subresource: 'status' });
  await client.create(deployments, object, { fieldManager: 'me', dryRun: true });
  await client.replace(deployments, object, { subresource: 'status', fieldValidation: 'Strict' });
  await client.patch(deployments, a, 'json', [{ op: 'remove', path: '/x' }]);
  await client.patch(deployments, a, 'strategic', {});
  await client.apply(deployments, object, { fieldManager: 'me', force: true });
  await client.delete(deployments, a, { propagationPolicy: 'Foreground', preconditions: { uid: 'u' } });
  await client.deleteCollection(deployments, { namespace: 'n', labelSelector: 'a=b,c in (d)' });
  const base = '/apis/apps/v1/namespaces/n/deployments';
  assert.deepEqual(
    server.seen.map(({ method, path, query, headers, body }) => [
      `${method} ${path}`,
      Object.fromEntries(query),
      headers['content-type'],
      body === '' ? undefined : JSON.parse(body),
    ]),
    [
      [`GET ${base}/a`, {}, undefined, undefined],
      ['GET /api/v1/nodes/x%20y/status', {}, undefined, undefined],
      [
        `POST ${base}`,
        { fieldManager: 'me', dryRun: 'All' },
        'application/json',
        { apiVersion: 'apps/v1', kind: 'Deployment', ...object },
      ],
      [
        `PUT ${base}/a/status`,
        { fieldValidation: 'Strict' },
        'application/json',
        { apiVersion: 'apps/v1', kind: 'Deployment', ...object },
      ],
      [`PATCH ${base}/a`, {}, 'application/json-patch+json', [{ op: 'remove', path: '/x' }]],
      [`PATCH ${base}/a`, {}, 'application/strategic-merge-patch+json', {}],
      [
        `PATCH ${base}/a`,
        { fieldManager: 'me', force: 'true' },
        'application/apply-patch+yaml',
        { apiVersion: 'apps/v1', kind: 'Deployment', ...object },
      ],
      [
        `DELETE ${base}/a`,
        {},
        'application/json',
        { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Foreground', preconditions: { uid: 'u' } },
      ],
      [
        `DELETE ${base}`,
        { labelSelector: 'a=b,c in (d)' },
        'application/json',
        { apiVersion: 'v1', kind: 'DeleteOptions' },
      ],
    ],
  );
  assert.equal(server.seen[0]?.headers['user-agent'], 'aro/test');
});

test('an address that would reach another object is refused before anything is sent', async (t) => {
  const server = await scriptedServer(t, (_, response) => sendJson(response, 200, {}));
  const client = server.client();
  for (const name of ['', '.', '..', 'a/b']) {
    await assert.rejects(async () => client.delete(configMaps, { namespace: 'n', name }), TypeError, name);
  }
  await assert.rejects(async () => client.delete(configMaps, { name: 'a' }), /namespace is needed/);
  await assert.rejects(async () => client.create(configMaps, { metadata: { name: 'a' } }), /needs a namespace/);
  assert.equal(server.seen.length, 0);
});

test('what this program does not know survives reading, changing and writing', async (t) => {
  const kept: UntypedObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'n', resourceVersion: '7', ...{ fieldOfTomorrow: { x: [1, null] } } },
    data: { k: 'v' },
    newMember: { deep: ['ä', 0.5, false] },
  };
  const server = await scriptedServer(t, (request, response) =>
    sendJson(response, 200, request.method === 'GET' ? kept : JSON.parse(request.body)),
  );
  const client = server.client();
  const read = await client.get(configMaps, a);
  const written = await client.replace(configMaps, { ...read, data: { k: 'w' } });
  assert.deepEqual(written, { ...kept, data: { k: 'w' } });
});

test('a list is all its pages as of one version, and its items know their kind', async (t) => {
  const server = await scriptedServer(t, ({ query }, response) => {
    const next = query.get('continue');
    const page = next === null ? 0 : Number(next);
    sendJson(response, 200, {
      kind: 'ConfigMapList',
      metadata: { resourceVersion: '9', ...(page < 2 ? { continue: String(page + 1), remainingItemCount: 5 } : {}) },
      items: [{ metadata: { name: `o${page}` } }],
    });
  });
  const list = await server.client().list(configMaps, { pageSize: 1, fieldSelector: 'metadata.name!=x' });
  assert.deepEqual(list.metadata, { resourceVersion: '9' });
  assert.deepEqual(
    list.items.map((item) => [item.metadata.name, item.kind, item.apiVersion]),
    [0, 1, 2].map((page) => [`o${page}`, 'ConfigMap', 'v1']),
  );
  assert.ok(server.seen.every(({ query }) => query.get('limit') === '1' && query.get('fieldSelector') !== null));
});

test('a list whose version runs out between pages is fetched in one piece', async (t) => {
  const server = await scriptedServer(t, ({ query }, response) => {
    if (query.has('continue')) return sendJson(response, 410, failure(410, 'Expired', 'the token is too old'));
    const whole = !query.has('limit');
    sendJson(response, 200, {
      metadata: { resourceVersion: '9', ...(whole ? {} : { continue: 'x' }) },
      items: whole ? [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }] : [{ metadata: { name: 'a' } }],
    });
  });
  const list = await server.client().list(configMaps);
  assert.deepEqual(
    list.items.map((item) => item.metadata.name),
    ['a', 'b'],
  );
});

test('a refusal is an error with the code, reason, details and wait that the server gave', async (t) => {
  const server = await scriptedServer(t, ({ method }, response) => {
    if (method === 'GET') {
      sendJson(response, 404, failure(404, 'NotFound', 'configmaps "a" not found', { name: 'a', kind: 'configmaps' }));
    } else sendJson(response, 409, failure(409, 'Conflict', 'changed'), { 'retry-after': '3' });
  });
  const client = server.client();
  await assert.rejects(client.get(configMaps, a), (error) => isNotFound(error) && error.details.kind === 'configmaps');
  assert.equal(await client.find(configMaps, a), undefined);
  await assert.rejects(
    client.replace(configMaps, { metadata: a }),
    (error) => isConflict(error) && error.code === 409 && error.retryAfterSeconds === 3,
  );
  server.answer((_, response) => response.writeHead(502).end('<html>proxy</html>'));
  await assert.rejects(
    client.create(configMaps, { metadata: a }),
    (error) => error instanceof KubeError && error.code === 502 && error.message === '<html>proxy</html>',
  );
  server.answer((_, response) => sendJson(response, 404, { message: 'no such route' }));
  await assert.rejects(
    client.find(configMaps, a),
    isNotFound,
    'a 404 that is not about the object is no answer about it',
  );
  server.answer((_, response) => response.writeHead(302, { location: 'https://elsewhere/' }).end());
  await assert.rejects(client.get(configMaps, a), (error) => error instanceof KubeError && error.code === 302);
});

test('what may be repeated is, after the wait that the server asked for, and only so often', async (t) => {
  const server = await scriptedServer(t, (_, response) => sendJson(response, 200, { metadata: {} }));
  const client = server.client({ retry: { attempts: 3, maxWaitSeconds: 0.01 } });
  const calls = {
    get: () => client.get(configMaps, a),
    apply: () => client.apply(configMaps, { metadata: a }, { fieldManager: 'me' }),
    replace: () => client.replace(configMaps, { metadata: a }),
    create: () => client.create(configMaps, { metadata: a }),
    merge: () => client.patch(configMaps, a, 'merge', {}),
  };
  const sent = async (
    call: keyof typeof calls,
    code: number,
    headers: Record<string, string> = {},
  ): Promise<number> => {
    const before = server.seen.length;
    server.answer((_, response) =>
      code === 0 ? response.destroy() : sendJson(response, code, failure(code, 'Reason', 'no'), headers),
    );
    await assert.rejects(calls[call]());
    return server.seen.length - before;
  };
  const asked = { 'retry-after': '1' };
  assert.deepEqual(
    {
      throttled: await Promise.all([await sent('get', 429), await sent('create', 429), await sent('merge', 429)]),
      overloaded: [
        await sent('get', 503),
        await sent('apply', 503),
        await sent('replace', 503),
        await sent('create', 503),
      ],
      asked: [await sent('get', 500, asked), await sent('replace', 503, asked), await sent('create', 503, asked)],
      broken: [await sent('get', 500), await sent('get', 400)],
      lost: [await sent('get', 0), await sent('apply', 0), await sent('replace', 0), await sent('create', 0)],
    },
    { throttled: [3, 3, 3], overloaded: [3, 3, 1, 1], asked: [3, 3, 1], broken: [1, 1], lost: [3, 3, 1, 1] },
  );
});

test('a request that is given up, or takes too long, ends', async (t) => {
  const server = await scriptedServer(t, () => undefined);
  const client = server.client({ retry: { attempts: 1 } });
  const control = new AbortController();
  const given = client.get(configMaps, a, { signal: control.signal });
  const reason = new Error('enough');
  control.abort(reason);
  await assert.rejects(given, (error) => error === reason);
  await assert.rejects(client.get(configMaps, a, { timeoutSeconds: 0.05 }), /no whole answer within 0.05 s/);
});

test('a token that the server does not accept any more is asked for anew, once', async (t) => {
  const tokens = ['old', 'new'];
  const server = await scriptedServer(t, ({ headers }, response) =>
    headers.authorization === 'Bearer new'
      ? sendJson(response, 200, { metadata: {} })
      : sendJson(response, 401, failure(401, 'Unauthorized', 'Unauthorized')),
  );
  let refused = 0;
  const credentials = {
    current: async (): Promise<Credential> => ({ token: new Secret(tokens[refused] ?? 'new') }),
    refused: () => {
      refused++;
    },
  };
  await server.client({ access: { ...server.access, credentials } }).get(configMaps, a);
  assert.equal(refused, 1);
  const stuck = server.client({
    access: { ...server.access, credentials: { ...credentials, current: async () => ({ token: new Secret('bad') }) } },
  });
  await assert.rejects(stuck.get(configMaps, a), (error) => error instanceof KubeError && error.code === 401);
  assert.equal(server.seen.length, 3);
});

test('a client certificate shows who asks, and a renewed one is used for new connections', async (t) => {
  const server = await scriptedServer(t, (_, response) => sendJson(response, 200, { metadata: {} }));
  let user = 'first';
  const credentials = {
    async current(): Promise<Credential> {
      const { cert, key } = await certificates[user as 'first' | 'second'];
      return { certificate: { certificate: cert, key: new Secret(key) } };
    },
    refused: () => undefined,
  };
  const certificates = {
    first: server.certificates.client({ commonName: 'first' }),
    second: server.certificates.client({ commonName: 'second' }),
  };
  const client = server.client({ access: { ...server.access, credentials } });
  await client.get(configMaps, a);
  user = 'second';
  await client.get(configMaps, a);
  assert.deepEqual(
    server.seen.map(({ certificateName }) => certificateName),
    ['first', 'second'],
  );
});

test('the server is checked: its authority, and its name or the one that the configuration gives', async (t) => {
  const server = await scriptedServer(t, (_, response) => sendJson(response, 200, { metadata: {} }));
  const { authorities: _, ...untrusting } = server.access;
  const once = { retry: { attempts: 1 } };
  await assert.rejects(server.client({ access: untrusting, ...once }).get(configMaps, a), /not signed by an authority/);
  const named = { ...server.access, serverName: 'localhost' };
  await server.client({ access: named }).get(configMaps, a);
  assert.equal(server.seen[0]?.serverName, 'localhost');
  const wrong = { ...server.access, serverName: 'elsewhere.example' };
  await assert.rejects(server.client({ access: wrong, ...once }).get(configMaps, a), /for another name/);
  await server.client({ access: { ...untrusting, insecure: true } }).get(configMaps, a);
});

test('a proxy is used by CONNECT, with its password, and sees nothing of the request', async (t) => {
  const server = await scriptedServer(t, (_, response) => sendJson(response, 200, { metadata: {} }));
  const asked: { url: string | undefined; auth: string | undefined }[] = [];
  const proxy = createServer();
  proxy.on('connect', (request, socket, head) => {
    asked.push({ url: request.url, auth: request.headers['proxy-authorization'] });
    const upstream = connect(server.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const access = { ...server.access, proxy: new Secret(`http://user:pass@127.0.0.1:${port}`), serverName: 'localhost' };
  await server.client({ access }).get(configMaps, a);
  assert.deepEqual(asked, [
    { url: `127.0.0.1:${server.port}`, auth: `Basic ${Buffer.from('user:pass').toString('base64')}` },
  ]);
  assert.equal(server.seen[0]?.serverName, 'localhost');
});

test('a watch delivers events until the server ends it, and leaving its loop ends the request', async (t) => {
  const server = await scriptedServer(t, async ({ query }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    for (const name of ['a', 'b']) response.write(`{"type":"ADDED","object":{"metadata":{"name":"${name}"}}}\n`);
    if (query.get('timeoutSeconds') === '1') response.end();
  });
  const client = server.client();
  const names: unknown[] = [];
  const options = { resourceVersion: '5', allowBookmarks: true, timeoutSeconds: 1, namespace: 'n' };
  for await (const event of client.watch(configMaps, options)) names.push(event.object.metadata.name);
  assert.deepEqual(names, ['a', 'b']);
  assert.equal(server.seen[0]?.path, '/api/v1/namespaces/n/configmaps');
  assert.deepEqual(Object.fromEntries(server.seen[0]?.query ?? []), {
    watch: 'true',
    resourceVersion: '5',
    allowWatchBookmarks: 'true',
    timeoutSeconds: '1',
  });
  let closed: Promise<unknown> | undefined;
  server.answer((_, response) => {
    closed = once(response, 'close');
    response.writeHead(200).write('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n');
  });
  for await (const _ of client.watch(configMaps)) break;
  await closed;
});

test('a watch that is refused, cut or silent is an error', async (t) => {
  const server = await scriptedServer(t, (_, response) => sendJson(response, 410, failure(410, 'Expired', 'too old')));
  const client = server.client();
  const all = async (silenceSeconds?: number): Promise<void> => {
    for await (const _ of client.watch(configMaps, silenceSeconds ? { silenceSeconds } : {}));
  };
  await assert.rejects(all(), isExpired);
  server.answer((_, response) => {
    response.writeHead(200).write('{"type":"ADD', () => response.destroy());
  });
  await assert.rejects(all(), KubeConnectionError);
  server.answer((_, response) => {
    response.writeHead(200).flushHeaders();
  });
  await assert.rejects(all(0.2), KubeConnectionError);
});

test('a kind is looked up, remembered, and looked up again when it is not found', async (t) => {
  let installed = false;
  const server = await scriptedServer(t, ({ path }, response) => {
    if (path === '/apis/example.com') {
      return sendJson(response, 200, {
        preferredVersion: { groupVersion: 'example.com/v2' },
        versions: [{ groupVersion: 'example.com/v2' }, { groupVersion: 'example.com/v1' }],
      });
    }
    if (path === '/apis/example.com/v2') return sendJson(response, 200, { resources: [] });
    if (path !== '/apis/example.com/v1' || !installed) return sendJson(response, 404, failure(404, 'NotFound', 'no'));
    sendJson(response, 200, {
      resources: [
        { name: 'things/status', kind: 'Thing', namespaced: true },
        { name: 'things', kind: 'Thing', namespaced: true },
      ],
    });
  });
  const { mapper } = server.client();
  await assert.rejects(mapper.forKind('example.com/v1', 'Thing'), UnknownKindError);
  installed = true;
  const thing = { group: 'example.com', version: 'v1', plural: 'things', namespaced: true, kind: 'Thing' };
  assert.deepEqual(await mapper.forKind('example.com/v1', 'Thing'), thing);
  const before = server.seen.length;
  assert.deepEqual(await mapper.forKind('example.com/v1', 'Thing'), thing);
  assert.equal(server.seen.length, before);
  assert.deepEqual(await mapper.forGroupKind('example.com', 'Thing'), thing, 'also when only an older version has it');
});

test('requests carry the trace, are counted by resource, and warnings are logged once', async (t) => {
  const server = await scriptedServer(t, (_, response) =>
    sendJson(response, 200, { metadata: {} }, { warning: '299 - "v1 is old", 299 - "so \\"is\\" this"' }),
  );
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
  const metrics = createMetrics();
  const client = server.client({ metrics, logger });
  const second = server.client({ metrics });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await withTrace(traceFromHttp({ traceparent }), () => client.get(configMaps, a));
  await client.get(configMaps, a);
  await second.get(configMaps, a, { subresource: 'status' });
  assert.equal(server.seen[0]?.headers.traceparent, traceparent);
  const { body } = await metrics.scrape();
  assert.match(body, /kube_client_requests_total\{verb="get",resource="configmaps",status="200"\} 2/);
  assert.match(body, /kube_client_requests_total\{verb="get",resource="configmaps\/status",status="200"\} 1/);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).warning),
    ['v1 is old', 'so "is" this'],
  );
});
