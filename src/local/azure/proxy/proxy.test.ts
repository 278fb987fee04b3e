import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../../kit/log.ts';
import type { Target } from '../kernel/network.ts';
import { parseAuthority } from './authority.ts';
import { type ProxyOptions, startProxy } from './proxy.ts';

const logger = createLogger({ service: 'proxy', level: 'fatal' });

async function listening<S extends Server>(t: TestContext, server: S): Promise<Target> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

/** Sends back what it is sent, and says good-bye when its client has ended. */
const echo = () =>
  createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('data', (part) => socket.write(part));
    socket.on('end', () => socket.end('bye'));
  });

async function proxyTo(
  t: TestContext,
  names: { readonly [authority: string]: Target },
  options: Partial<ProxyOptions> = {},
) {
  const proxy = await startProxy({
    host: '127.0.0.1',
    port: 0,
    network: () => ({ target: async (host, port) => names[`${host}:${port}`] }),
    listener: () => ({ host: '127.0.0.1', port: 1 }),
    logger,
    ...options,
  });
  t.after(() => proxy.stop());
  return proxy;
}

/** Everything a connection gives until it ends, after sending the parts: each is sent when the text before it has come. */
async function talk(port: number, ...parts: readonly (string | { readonly after: string; readonly send: string })[]) {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  socket.setEncoding('utf8');
  let text = '';
  const waiting = [...parts];
  const step = (): void => {
    for (;;) {
      const next = waiting[0];
      if (next === undefined) return;
      if (typeof next !== 'string' && !text.includes(next.after)) return;
      waiting.shift();
      const sent = typeof next === 'string' ? next : next.send;
      if (sent === '') socket.end();
      else socket.write(sent);
    }
  };
  socket.on('connect', step);
  socket.on('error', () => undefined);
  for await (const part of socket) {
    text += part;
    step();
  }
  socket.destroy();
  return text;
}

test('a name of the cloud leads to where it is, and the end of each side reaches the other', async (t) => {
  const target = await listening(t, echo());
  const { port } = await proxyTo(t, { 'a.vault.azure.test:443': target });
  const text = await talk(
    port,
    'CONNECT A.vault.azure.test:443 HTTP/1.1\r\nHost: a.vault.azure.test:443\r\n\r\nhello',
    { after: 'hello', send: ' there' },
    { after: 'there', send: '' },
  );
  assert.match(text, /^HTTP\/1\.1 200 [^\r]*\r\n\r\nhello therebye$/);
});

for (const [what, line, status] of [
  ['names outside of the cloud', 'CONNECT example.com:443', 403],
  ['other ports of a name', 'CONNECT a.vault.azure.test:22', 403],
  ['other ports of this machine', 'CONNECT 127.0.0.1:22', 403],
  ['other spellings of this machine', 'CONNECT localhost:22', 403],
  ['a CONNECT without a port', 'CONNECT a.vault.azure.test', 400],
  ['a port that is none', 'CONNECT a.vault.azure.test:65536', 400],
  ['paths, as if it were a server', 'GET /', 400],
  ['https addresses outside of a tunnel', 'GET https://a.vault.azure.test/', 400],
  ['user information in an address', 'GET http://a@a.vault.azure.test/', 400],
  ['plain requests for names outside of the cloud', 'GET http://example.com/', 403],
] as const) {
  test(`it refuses ${what}`, async (t) => {
    const target = await listening(t, echo());
    const { port } = await proxyTo(t, { 'a.vault.azure.test:443': target });
    const text = await talk(port, `${line} HTTP/1.1\r\nHost: x\r\n\r\n`);
    assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `));
  });
}

test('names that configuration lets through are reached; names that only look like them are not', async (t) => {
  const target = await listening(t, echo());
  const { port } = await proxyTo(t, {}, { passThrough: ['.localdomain.test', 'ip6-localhost'] });
  const status = async (host: string): Promise<string> =>
    (await talk(port, `CONNECT ${host}:${target.port} HTTP/1.1\r\nHost: x\r\n\r\n`)).slice(9, 12);
  // Nothing has this name, but it was tried.
  assert.equal(await status('a.localdomain.test'), '502');
  assert.equal(await status('localdomain.test'), '403');
  assert.equal(await status('evil-localdomain.test'), '403');
  await assert.rejects(proxyTo(t, {}, { passThrough: ['*'] }), /not a host pattern/);
});

test('the cloud at its origin is reached through the proxy too', async (t) => {
  const target = await listening(t, echo());
  const { port } = await proxyTo(t, {}, { listener: () => target });
  const text = await talk(port, `CONNECT localhost:${target.port} HTTP/1.1\r\nHost: x\r\n\r\n`, {
    after: '200',
    send: '',
  });
  assert.match(text, /bye$/);
});

test('nothing behind a name is 502, and a cloud that is starting 503', async (t) => {
  const gone = createServer();
  gone.listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const target = { host: '127.0.0.1', port: (gone.address() as AddressInfo).port };
  gone.close();
  await once(gone, 'close');
  const ask = 'CONNECT a.test:443 HTTP/1.1\r\nHost: x\r\n\r\n';
  assert.match(await talk((await proxyTo(t, { 'a.test:443': target })).port, ask), /^HTTP\/1\.1 502 /);
  assert.match(await talk((await proxyTo(t, {}, { network: () => undefined })).port, ask), /^HTTP\/1\.1 503 /);
});

test('a side that has ended does not hold the other open for ever', async (t) => {
  const silent = createServer({ allowHalfOpen: true }, (socket) => socket.resume());
  const target = await listening(t, silent);
  const { port } = await proxyTo(t, { 'a.test:443': target }, { limits: { halfOpenMs: 20 } });
  const text = await talk(port, 'CONNECT a.test:443 HTTP/1.1\r\nHost: x\r\n\r\n', { after: '200', send: '' });
  assert.match(text, /^HTTP\/1\.1 200 /);
});

test('http:// names of services that speak TLS are sent on to https', async (t) => {
  const own = await listening(t, echo());
  const { port } = await proxyTo(t, { 'v.vault.azure.test:80': own }, { listener: () => own });
  const text = await talk(port, 'GET http://v.vault.azure.test/secrets?x=1 HTTP/1.1\r\nHost: other.test\r\n\r\n');
  assert.match(text, /^HTTP\/1\.1 308 /);
  assert.match(text, /\r\nlocation: https:\/\/v\.vault\.azure\.test\/secrets\?x=1\r\n/i);
});

test('http:// names of what listens without TLS are answered by it, which sees the name of the address and no hop-by-hop headers', async (t) => {
  const web = createHttpServer((request, response) => {
    response.setHeader('connection', 'x-own');
    response.setHeader('x-own', '1');
    response.end(JSON.stringify({ url: request.url, headers: request.headers }));
  });
  const target = await listening(t, web);
  const { port } = await proxyTo(t, { 'web.test:80': target });
  const text = await talk(
    port,
    'GET http://web.test/a HTTP/1.1\r\nHost: other.test\r\nConnection: x-mine, close\r\nX-Mine: 1\r\nX-Kept: 2\r\nProxy-Authorization: Basic eA==\r\n\r\n',
  );
  assert.match(text, /^HTTP\/1\.1 200 /);
  assert.doesNotMatch(text, /\r\nx-own/i);
  const seen = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  assert.equal(seen.url, '/a');
  assert.equal(seen.headers.host, 'web.test');
  assert.equal(seen.headers['x-kept'], '2');
  assert.equal(seen.headers['x-mine'], undefined);
  assert.equal(seen.headers['proxy-authorization'], undefined);
});

test('a request whose length can be read in two ways is not passed on', async (t) => {
  let asked = 0;
  const web = createHttpServer((_request, response) => {
    asked++;
    response.end();
  });
  const target = await listening(t, web);
  const { port } = await proxyTo(t, { 'web.test:80': target });
  const text = await talk(
    port,
    'POST http://web.test/ HTTP/1.1\r\nHost: web.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  );
  assert.match(text, /^HTTP\/1\.1 400 /);
  assert.equal(asked, 0);
});

test('it stops while tunnels are open', async (t) => {
  const target = await listening(t, echo());
  const proxy = await proxyTo(t, { 'a.test:443': target });
  const socket = connect({ host: '127.0.0.1', port: proxy.port });
  socket.on('error', () => undefined);
  socket.write('CONNECT a.test:443 HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  await proxy.stop();
  if (!socket.closed) await once(socket, 'close');
});

test('an authority is a name or an address and a port, and nothing beside', () => {
  assert.deepEqual(parseAuthority('A.Test:443'), { host: 'a.test', port: 443 });
  assert.deepEqual(parseAuthority('a.test.:443'), { host: 'a.test', port: 443 });
  assert.deepEqual(parseAuthority('[::1]:443'), { host: '::1', port: 443 });
  for (const text of [
    '',
    ':443',
    'a',
    'a:0',
    'a:-1',
    'a:4 43',
    'a/b:1',
    '[a]:1',
    '[::1:1',
    'a..b:1',
    `${'a'.repeat(64)}:1`,
  ])
    assert.equal(parseAuthority(text), undefined, text);
});
