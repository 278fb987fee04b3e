import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type TestContext, test } from 'node:test';
import { fastify } from 'fastify';
import { ListenError } from './http-server.ts';
import { listenPlain, type PlainListenerOptions } from './plain-listener.ts';
import { type RawAnswer, rawConnection, rawRequest } from './testing/raw.ts';

test('serves tools on this machine, as plain callers', async (t) => {
  const { port, send } = await setup(t);
  for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
    const answer = await send('/who', { host });
    assert.equal(answer.status, 200, host);
    assert.deepEqual(JSON.parse(answer.body), { kind: 'plain' });
  }
  const response = await fetch(`http://localhost:${port}/who`, { headers: {} });
  assert.equal(response.status, 200);
});

test('binds loopback addresses and nothing else', async (t) => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .filter((found) => found?.internal === false)
    .map((found) => found?.address ?? '');
  for (const host of [
    '0.0.0.0',
    '::',
    '',
    '10.0.0.1',
    '169.254.169.254',
    'example.com',
    '0',
    '2130706433',
    '127.1',
    '0x7f.0.0.1',
    ...outside,
  ]) {
    await assert.rejects(listenPlain(fastify(), { port: 0, host }), (error) => {
      assert.ok(error instanceof ListenError, host);
      assert.match(error.message, /binds only loopback addresses/);
      return true;
    });
  }
  for (const host of ['localhost', '127.0.0.1', '127.0.0.5']) {
    const listener = await listenPlain(fastify(), { port: 0, host });
    t.after(() => listener.stop());
    assert.match(listener.url, /^http:\/\/127\.0\.0\.\d:\d+$/);
    for (const address of outside) assert.equal(await connects(address, listener.port), false, address);
  }
});

const adminPaths = [
  '/admin',
  '/admin/',
  '/Admin/v1/x',
  '/ADMIN',
  '/%61dmin',
  '/%61%64%6d%69%6E',
  '/%2561dmin',
  '//admin',
  '///admin//v1',
  '/%2fadmin',
  '/admin%2fv1',
  '/admin;x=1',
  '/admin%3Bx',
  '/admin?x=1',
  '/admin#x',
  '/./admin',
  '/x/../admin',
  '/x/%2e%2e/admin',
  '/x/..%2fadmin',
  '/x/.%2e/admin',
  '/..;/admin',
  '/\\admin',
  '/x\\..\\admin',
  '/%5cadmin',
  '/admin%00',
  '/admin%20',
  '/adm%69n/v1/Credentials',
  '/%c1%a1dmin',
  '/\u0061dmin',
  '/clusters/c1/credentials',
  '/clusters/C1/CREDENTIALS/',
  '/clusters/c%31/%63redentials?x',
  '/clusters//c1///credentials',
];
test('no spelling of /admin or of a denied path reaches the app', async (t) => {
  const { send, reached } = await setup(t, { deny: ['/clusters/*/credentials'] });
  for (const method of ['GET', 'POST', 'OPTIONS', 'HEAD', 'PROPFIND']) {
    for (const path of adminPaths) {
      const { status } = await send(path, {}, method);
      assert.ok([400, 403, 404].includes(status), `${method} ${path}: ${status}`);
    }
  }
  assert.deepEqual(
    reached().filter((url) => !url.endsWith('%20')),
    [],
  );
  assert.equal((await send('/clusters/c1', {})).status, 200);
  assert.equal((await send('/administrators', {})).status, 200);
});

const adminQueries = [
  '?api-version=admin',
  '?API-Version=ADMIN',
  '?%61pi%2Dversion=%61dmin',
  '?api-version%3Dadmin',
  '?%2561pi-version=adm%2569n',
  '?api-version=2024-06-10&api-version=admin',
  '?api-version=admin&api-version=2024-06-10',
  '?x=1;api-version=admin',
  '?x=%zz&api-version=admin',
  '?x=%zz&api-version=%61dmin',
  '?api-version=%ff&api-version=admin',
  '?api-version=admin#x',
  '?&&?api-version=admin',
  '?api-version=+admin%20',
  '?api-version=admin%00',
  '?api-version[]=admin',
  '?api-version=2024-06-10,admin',
  '?api%E2%80%8B-version=%EF%BD%81dmin',
  '%3Fapi-version=admin',
  ';api-version=admin',
];
test('no spelling of the admin API version reaches the app, on any path', async (t) => {
  const { send, reached } = await setup(t);
  for (const path of ['/who', '/clusters/c1', '/']) {
    for (const query of adminQueries) {
      for (const method of ['GET', 'POST']) {
        const answer = await send(path + query, {}, method);
        assert.ok([400, 403].includes(answer.status), `${method} ${path}${query}: ${answer.status}`);
      }
    }
  }
  assert.deepEqual(reached(), []);
  const said = await send('/who?api-version=admin', {});
  assert.match(JSON.parse(said.body).error.message, /api-version=admin/);
  for (const query of ['?api-version=2024-06-10-preview', '?api-version=administrator', '?name=admin']) {
    assert.equal((await send(`/who${query}`, {})).status, 200, query);
  }
});

test('a request target that is not a path is refused: absolute form, asterisk, authority', async (t) => {
  const { port, send, reached } = await setup(t);
  for (const target of [
    `http://localhost:${port}/admin`,
    `http://localhost:${port}/who`,
    'https://evil.example/',
    '*',
  ]) {
    assert.equal((await send(target, {}, target === '*' ? 'OPTIONS' : 'GET')).status, 400, target);
  }
  const tunnel = await rawRequest(port, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: localhost:${port}\r\n\r\n`);
  assert.notEqual(tunnel.status, 200);
  assert.deepEqual(reached(), []);
});

test('a Host that does not name this listener is refused, as after DNS rebinding', async (t) => {
  const { port, send, reached } = await setup(t, { hostNames: ['rp.aro.local', 'forwarded:8443'] });
  const refused = [
    'evil.example',
    `evil.example:${port}`,
    'localhost',
    '127.0.0.1',
    `localhost:${port + 1}`,
    `localhost.:${port}`,
    `localhost.evil.example:${port}`,
    `127.0.0.2:${port}`,
    `0.0.0.0:${port}`,
    `2130706433:${port}`,
    `user@localhost:${port}`,
    `localhost:${port}@evil.example`,
    `localhost:0${port}`,
    `localhost:${port} evil.example`,
    `localhost:${port},evil.example`,
    'rp.aro.local',
    'forwarded',
    `forwarded:${port}`,
    '',
  ];
  for (const host of refused) assert.equal((await send('/who', { host })).status, 421, JSON.stringify(host));
  const twice = `GET /who HTTP/1.1\r\nhost: localhost:${port}\r\nhost: evil.example\r\nconnection: close\r\n\r\n`;
  assert.ok([400, 421].includes((await rawRequest(port, twice)).status));
  assert.equal((await rawRequest(port, 'GET /who HTTP/1.1\r\nconnection: close\r\n\r\n')).status, 400);
  assert.equal((await rawRequest(port, 'GET /who HTTP/1.0\r\n\r\n')).status, 421);
  assert.deepEqual(reached(), []);
  for (const host of [`rp.aro.local:${port}`, 'forwarded:8443'])
    assert.equal((await send('/who', { host })).status, 200);
});

test('a request that a web page makes is refused, whatever the page', async (t) => {
  const { port, send, reached } = await setup(t);
  for (const origin of ['https://evil.example', 'null', '', `http://localhost:${port}`]) {
    assert.equal((await send('/who', { origin })).status, 403, `origin ${origin}`);
  }
  for (const site of ['cross-site', 'same-site', 'Cross-Site', '', 'none, cross-site']) {
    assert.equal((await send('/who', { 'sec-fetch-site': site })).status, 403, `site ${site}`);
  }
  const twice = `GET /who HTTP/1.1\r\nhost: localhost:${port}\r\nsec-fetch-site: none\r\nsec-fetch-site: cross-site\r\nconnection: close\r\n\r\n`;
  assert.equal((await rawRequest(port, twice)).status, 403);
  const preflight = await send(
    '/who',
    { origin: 'https://evil.example', 'access-control-request-method': 'PUT' },
    'OPTIONS',
  );
  assert.equal(preflight.status, 403);
  assert.doesNotMatch(preflight.head, /access-control-allow/i);
  assert.deepEqual(reached(), []);
  for (const site of ['none', 'same-origin'])
    assert.equal((await send('/who', { 'sec-fetch-site': site })).status, 200);
});

test('an Origin behind many other headers is seen all the same', async (t) => {
  const { port, reached } = await setup(t, { limits: { maxHeaders: 5000, maxHeaderBytes: 60_000 } });
  const many = 'a:\r\n'.repeat(3000);
  const request = `GET /who HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: close\r\n${many}origin: https://evil.example\r\n\r\n`;
  assert.equal((await rawRequest(port, request)).status, 403);
  const { port: small, reached: reachedSmall } = await setup(t);
  assert.equal((await rawRequest(small, request.replace(String(port), String(small)))).status, 431);
  assert.deepEqual([...reached(), ...reachedSmall()], []);
});

test('headers by which others vouch for a caller do not reach the app in any view of them', async (t) => {
  const { send } = await setup(t);
  const answer = await send('/headers', {
    'X-Ms-Arm-Resource-System-Data': '{}',
    'x-ms-client-principal-name': 'root',
    'x-MS-Home-Tenant-Id': 'other',
    referer: 'https://management.azure.com/',
    forwarded: 'for=10.0.0.1',
    'x-forwarded-for': '10.0.0.1',
    'X-Forwarded-Client-Cert': 'By=x',
    'x-forwarded-host': 'evil.example',
    'x-real-ip': '10.0.0.1',
    'x-original-url': '/admin',
    accept: 'application/json',
    'x-kept': 'yes',
  });
  assert.equal(answer.status, 200);
  const seen = JSON.parse(answer.body);
  for (const view of [seen.headers, seen.distinct, seen.raw, seen.again]) {
    assert.deepEqual(view, ['accept', 'connection', 'host', 'x-kept']);
  }
});

test('upgrades are not made: such a request is answered as an ordinary one', async (t) => {
  const { port, send } = await setup(t);
  const upgrades: Record<string, string>[] = [
    {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'sec-websocket-version': '13',
    },
    { connection: 'upgrade, http2-settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA' },
  ];
  for (const headers of upgrades) {
    const connection = await rawConnection(port);
    connection.write(requestText('GET', '/who', { host: `localhost:${port}`, ...headers }));
    assert.match(await connection.until(/\r\n\r\n/), /^HTTP\/1\.1 200 /);
    connection.socket.destroy();
  }
  assert.notEqual((await rawRequest(port, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).status, 200);
  assert.equal((await send('/who', {})).status, 200);
});

test('a body smuggled behind a request is not served as another request', async (t) => {
  const { port, reached } = await setup(t);
  const both = `POST /who HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /administrators HTTP/1.1\r\nhost: localhost:${port}\r\n\r\n`;
  assert.equal((await rawRequest(port, both)).status, 400);
  const folded = `GET /who HTTP/1.1\r\nhost: localhost:${port}\r\nx: a\r\n origin: b\nhost: evil\r\n\r\n`;
  assert.equal((await rawRequest(port, folded)).status, 400);
  assert.deepEqual(reached(), []);
});

test('a refused request with a body is answered before the body has come', async (t) => {
  const { port, reached } = await setup(t);
  const connection = await rawConnection(port);
  t.after(() => connection.socket.destroy());
  connection.write(`POST /admin HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-length: 1000000\r\n\r\nabc`);
  assert.match(await connection.until(/\r\n\r\n/), /^HTTP\/1\.1 403 /);
  assert.deepEqual(reached(), []);
});

test('what is not HTTP, and an expectation that cannot be met, are answered in the form of every other error', async (t) => {
  const { port } = await setup(t);
  const garbage = await rawRequest(port, 'GET / HTTP/1.1\r\nno colon here\r\n\r\n');
  assert.equal(garbage.status, 400);
  assert.equal(JSON.parse(garbage.body).error.code, 'BadRequest');
  const odd = await rawRequest(port, `GET /who HTTP/1.1\r\nhost: localhost:${port}\r\nexpect: a miracle\r\n\r\n`);
  assert.equal(odd.status, 417);
  assert.equal(JSON.parse(odd.body).error.code, 'ExpectationFailed');
});

async function setup(t: TestContext, options: Partial<PlainListenerOptions> = {}) {
  // As lenient as the apps behind it can be.
  const app = fastify({
    routerOptions: { caseSensitive: false, ignoreDuplicateSlashes: true, ignoreTrailingSlash: true },
  });
  const urls: string[] = [];
  app.addHook('onRequest', async (request) => {
    urls.push(request.raw.url ?? '');
  });
  app.all('/admin', async () => 'secret');
  app.all('/admin/*', async () => 'secret');
  app.all('/clusters/:id/credentials', async () => 'secret');
  app.get('/clusters/:id', async () => 'a cluster');
  app.get('/administrators', async () => 'not secret');
  app.all('/who', async (request) => request.caller);
  app.get('/headers', async (request) => ({
    headers: Object.keys(request.headers).sort(),
    distinct: Object.keys(request.raw.headersDistinct).sort(),
    again: Object.keys(request.raw.headers).sort(),
    raw: request.raw.rawHeaders
      .filter((_, index) => index % 2 === 0)
      .map((name) => name.toLowerCase())
      .sort(),
  }));
  const listener = await listenPlain(app, { port: 0, ...options });
  t.after(() => listener.stop(AbortSignal.abort()));
  const { port } = listener;
  return {
    port,
    reached: () => urls,
    send: (target: string, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<RawAnswer> =>
      rawRequest(port, requestText(method, target, { host: `localhost:${port}`, connection: 'close', ...headers })),
  };
}

function requestText(method: string, target: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

async function connects(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const end = (result: boolean) => () => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}
