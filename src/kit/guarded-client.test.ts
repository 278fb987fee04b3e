import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createGuardedClient, type GuardedClientOptions } from './guarded-client.ts';
import { GuardedRequestError, type GuardRule } from './guarded-url.ts';
import { testCertificates } from './testing/certificates.ts';
import { traceFromHttp, traceIntoHttp, withTrace } from './tracing.ts';

test('sends a request to an allowed host and returns its answer', async (t) => {
  const { client, url } = await setup(t, async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    response.setHeader('x-answer', 'yes');
    response.statusCode = 202;
    response.end(`${request.method} ${request.url} ${request.headers['content-type']} ${body}`);
  });
  const answer = await client.request(`${url}/notify?a=b#c`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  assert.equal(answer.status, 202);
  assert.equal(answer.headers['x-answer'], 'yes');
  assert.equal(answer.body.toString(), 'POST /notify?a=b application/json {}');
});

test('a host on this machine is not reached unless it is named for that', async (t) => {
  const { client, url, connections } = await setup(t, (_, response) => response.end(), { privateHosts: [] });
  await refused(client.request(url), 'address');
  assert.equal(connections(), 0);
});

test('a name with one address that is not allowed is refused, however many good ones it has', async (t) => {
  const { client, url, connections } = await setup(t, (_, response) => response.end(), {
    privateHosts: [],
    resolve: async () => [
      { address: '20.50.1.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ],
  });
  await refused(client.request(url), 'address');
  assert.equal(connections(), 0);
});

test('the platform’s own addresses are refused even for hosts that may be private', async (t) => {
  for (const address of ['169.254.169.254', '168.63.129.16']) {
    const { client, url } = await setup(t, (_, response) => response.end(), {
      resolve: async () => [{ address, family: 4 }],
    });
    await refused(client.request(url), 'address');
  }
});

test('the address that was checked is the one connected to: a name is looked up once per connection', async (t) => {
  let lookups = 0;
  const { client, url, connections } = await setup(t, (_, response) => response.end('ok'), {
    // A name server that gives another answer to whoever asks again.
    resolve: async () => [{ address: lookups++ === 0 ? '127.0.0.1' : '169.254.169.254', family: 4 }],
  });
  assert.equal((await client.request(url)).status, 200);
  assert.equal(lookups, 1);
  assert.equal(connections(), 1);
});

test('a redirect is an answer, not followed', async (t) => {
  const { client, url, requests } = await setup(t, (_, response) => {
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  assert.equal((await client.request(url)).status, 302);
  assert.deepEqual(requests(), ['/']);
});

test('an answer that is too long is cut while it comes, whether or not it tells its length', async (t) => {
  const gone = Promise.withResolvers<void>();
  const { client, url } = await setup(
    t,
    (request, response) => {
      if (request.url === '/told') {
        response.setHeader('content-length', 10_000_000);
        response.write('x'.repeat(5000));
        return;
      }
      const more = (): void => {
        while (response.write('x'.repeat(1000)));
        response.once('drain', more);
      };
      response.once('close', () => gone.resolve());
      more();
    },
    { maxResponseBytes: 4096 },
  );
  await refused(client.request(`${url}/told`), 'size');
  await refused(client.request(`${url}/endless`), 'size');
  await gone.promise;
});

test('an answer of just the allowed length is returned', async (t) => {
  const { client, url } = await setup(t, (_, response) => response.end('x'.repeat(4096)), { maxResponseBytes: 4096 });
  assert.equal((await client.request(url)).body.length, 4096);
});

test('a compressed answer is not unpacked', async (t) => {
  const bomb = gzipSync(Buffer.alloc(5_000_000));
  const { client, url } = await setup(
    t,
    (request, response) => {
      assert.equal(request.headers['accept-encoding'], 'identity');
      response.setHeader('content-encoding', 'gzip');
      response.end(bomb);
    },
    { maxResponseBytes: 100_000 },
  );
  assert.deepEqual((await client.request(url)).body, bomb);
});

test('everything together has to end by the deadline', async (t) => {
  const { client, url } = await setup(
    t,
    (request, response) => {
      if (request.url === '/silent') return;
      response.write('x');
      const drip = setInterval(() => response.write('x'), 20);
      response.once('close', () => clearInterval(drip));
    },
    { timeoutSeconds: 0.3 },
  );
  await refused(client.request(`${url}/silent`), 'deadline');
  await refused(client.request(`${url}/dripping`), 'deadline');
  const slow = await setup(t, (_, response) => response.end(), {
    timeoutSeconds: 0.2,
    resolve: () => new Promise(() => undefined),
  });
  await refused(slow.client.request(slow.url), 'deadline');
});

test('a caller can give up', async (t) => {
  const { client, url } = await setup(t, () => undefined);
  const controller = new AbortController();
  const asked = client.request(url, { signal: controller.signal });
  controller.abort(new Error('no longer needed'));
  await assert.rejects(asked, /no longer needed/);
});

test('nothing of one answer goes into the next request', async (t) => {
  const seen: IncomingMessage['headers'][] = [];
  const { client, url } = await setup(t, (request, response) => {
    seen.push(request.headers);
    response.setHeader('set-cookie', 'a=b');
    response.end();
  });
  await client.request(url, { headers: { authorization: 'Bearer x' } });
  await client.request(url);
  assert.equal(seen[1]?.cookie, undefined);
  assert.equal(seen[1]?.authorization, undefined);
});

test('the trace context stays here, unless the client is told to pass it on', async (t) => {
  const seen: IncomingMessage['headers'][] = [];
  const answer: RequestListener = (request, response) => {
    seen.push(request.headers);
    response.end();
  };
  const silent = await setup(t, answer);
  const telling = await setup(t, answer, { propagateTrace: true });
  const incoming = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    baggage: 'tenant=contoso',
  };
  await withTrace(traceFromHttp(incoming), async () => {
    await silent.client.request(silent.url);
    await telling.client.request(telling.url, { headers: { accept: 'text/plain' } });
    await silent.client.request(silent.url, { headers: traceIntoHttp({ accept: 'text/plain' }) });
  });
  await telling.client.request(telling.url);
  assert.deepEqual(
    seen.map(({ traceparent, baggage, accept }) => ({ traceparent, baggage, accept })),
    [
      { traceparent: undefined, baggage: undefined, accept: undefined },
      { ...incoming, accept: 'text/plain' },
      { ...incoming, accept: 'text/plain' },
      { traceparent: undefined, baggage: undefined, accept: undefined },
    ],
  );
});

test('a server whose certificate is not trusted or names another host is not talked to', async (t) => {
  const { client, url, requests } = await setup(t, (_, response) => response.end(), { ca: '' });
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  t.after(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  });
  await refused(client.request(url), 'connection');
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  const other = await setup(t, (_, response) => response.end(), {
    allowedHosts: ['other.aro.local'],
    privateHosts: ['other.aro.local'],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  await refused(other.client.request(other.url.replace('localhost', 'other.aro.local')), 'connection');
  assert.deepEqual([...requests(), ...other.requests()], []);
});

test('headers that decide where a request goes, and text that is not a header, are refused', async (t) => {
  const { client, url, connections } = await setup(t, (_, response) => response.end());
  for (const headers of [
    { Host: 'evil.example' },
    { 'transfer-encoding': 'chunked' },
    { 'content-length': '5' },
    { 'x-a': 'b\r\nx-c: d' },
    { 'x a': 'b' },
  ] as unknown as Readonly<Record<string, string>>[]) {
    await refused(client.request(url, { headers }), 'header');
  }
  assert.equal(connections(), 0);
});

test('an error names the rule and not what may be secret', async (t) => {
  const { client, url } = await setup(t, (_, response) => response.end('x'.repeat(10)), { maxResponseBytes: 5 });
  for (const target of [`${url}/p?sig=SECRET`, 'https://evil.test/?sig=SECRET']) {
    await assert.rejects(client.request(target), (error) => {
      assert.ok(error instanceof GuardedRequestError);
      assert.ok(!JSON.stringify([error.message, String(error.cause)]).includes('SECRET'));
      return true;
    });
  }
});

test('nobody there is told as such', async (t) => {
  const { client, url, close } = await setup(t, (_, response) => response.end());
  await close();
  await refused(client.request(url), 'connection');
});

async function refused(work: Promise<unknown>, rule: GuardRule): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof GuardedRequestError, String(error));
    assert.equal(error.rule, rule, error.message);
    return true;
  });
}

async function setup(t: TestContext, answer: RequestListener, options: Partial<GuardedClientOptions> = {}) {
  const certificates = await testCertificates(t);
  const seen: string[] = [];
  let connected = 0;
  const server = createServer(
    { cert: await readFile(certificates.server.certificate), key: await readFile(certificates.server.key) },
    (request, response) => {
      seen.push(request.url ?? '');
      answer(request, response);
    },
  );
  server.on('connection', () => {
    connected++;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createGuardedClient({
    allowedHosts: ['localhost'],
    privateHosts: ['localhost'],
    allowedPorts: [port],
    ca: certificates.ca,
    timeoutSeconds: 20,
    maxResponseBytes: 1_000_000,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ...options,
  });
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  t.after(() => client.close());
  t.after(close);
  return { client, url: `https://localhost:${port}`, requests: () => seen, connections: () => connected, close };
}
