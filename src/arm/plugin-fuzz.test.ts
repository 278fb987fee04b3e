// Whatever bytes a caller sends in URL, headers or body: the answer is never a 5xx, always has the error form, and the server lives.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { demoProvider, groupPath, provider, subscriptionId } from './testing/demo-provider.ts';
import { type DemoStore, demoStore } from './testing/demo-store.ts';

let store: DemoStore;
let app: FastifyInstance;
let port = 0;

before(async () => {
  store = await demoStore();
  app = demoProvider({ container: store.container });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as { port: number }).port;
});
after(async () => {
  await app.close();
  await store.close();
});

/** Sends the bytes, ends the sending side, gives all that comes back. */
function send(bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => void socket.end(bytes));
    let text = '';
    socket.setEncoding('latin1');
    socket.setTimeout(20_000, () =>
      socket.destroy(new Error(`no answer to ${JSON.stringify(bytes.toString('latin1'))}`)),
    );
    socket.on('data', (data: string) => {
      text += data;
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? undefined : reject(error),
    );
    socket.on('close', () => resolve(text));
  });
}

const methods = fc.constantFrom('GET', 'PUT', 'PATCH', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND');
/** Any byte that the HTTP parser lets through in a request line or header, and some that it does not. */
const text = fc.oneof(
  fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)), maxLength: 40 }),
  fc.constantFrom(
    '%',
    '%00',
    '%2f',
    '%2e%2e',
    '%c4%b0',
    '%E0%A4%A',
    '..',
    '',
    ' ',
    '*',
    '//',
    '#',
    '?',
    'İ',
    '%ed%a0%80',
    '__proto__',
    'constructor',
  ),
);
const visible = text.map((value) => value.replace(/[\r\n\0 ]/g, ''));
const segment = fc.oneof(
  visible,
  fc.constantFrom(
    'subscriptions',
    subscriptionId,
    'resourceGroups',
    'g',
    'providers',
    provider,
    'widgets',
    'w',
    'locations',
    'westeurope',
    'widgetStatuses',
    'operations',
    'preflight',
    'deployments',
  ),
);
const query = fc
  .array(
    fc.tuple(
      fc.oneof(visible, fc.constantFrom('api-version', '$top', '$skipToken', '$filter', 'API-version')),
      fc.oneof(visible, fc.constantFrom('2024-01-01', '1')),
    ),
    { maxLength: 5 },
  )
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'));
const known = fc.constantFrom(
  `${groupPath}/providers/${provider}/widgets`,
  `${groupPath}/providers/${provider}/deployments/d/preflight`,
  `/subscriptions/${subscriptionId}/providers/${provider}/locations/westeurope/widgetStatuses`,
);
/** What a request through a proxy has before its path. */
const front = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  fc.constantFrom('http://evil.example', 'HTTPS://user@evil.example:8443', 'http://', 'ftp://evil.example', 'http:'),
  visible.map((host) => `http://${host}`),
);
const target = fc
  .tuple(
    fc.oneof(fc.constant(''), known),
    fc.array(segment, { maxLength: 9 }),
    fc.oneof(query, fc.constant('api-version=2024-01-01')),
  )
  .chain(([start, parts, search]) => front.map((before) => `${before}${start}/${parts.join('/')}?${search}`));
const headerNames = fc.constantFrom(
  'x-ms-correlation-request-id',
  'x-ms-client-request-id',
  'x-ms-return-client-request-id',
  'x-ms-home-tenant-id',
  'x-ms-client-object-id',
  'x-ms-client-principal-name',
  'x-ms-arm-resource-system-data',
  'x-ms-identity-url',
  'azure-asyncnotificationuri',
  'referer',
  'host',
  'if-match',
  'if-none-match',
  'content-type',
  'content-encoding',
  'expect',
  'accept',
  'x-demo-caller',
  'origin',
  'x-forwarded-proto',
  'connection',
);
const headers = fc.array(
  fc.tuple(
    headerNames,
    fc.oneof(
      text.map((value) => value.replace(/[\r\n\0]/g, '')),
      fc.constantFrom(
        'arm',
        'true',
        '*',
        '{}',
        '[]',
        'null',
        '"x"',
        'application/json',
        'https://management.azure.com/x',
      ),
    ),
  ),
  { maxLength: 6 },
);
const body = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
  fc
    .record(
      {
        location: fc.jsonValue(),
        properties: fc.record(
          { size: fc.jsonValue(), colour: fc.jsonValue(), note: fc.jsonValue() },
          { requiredKeys: [] },
        ),
        resources: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    .map((value) => Buffer.from(JSON.stringify(value))),
);

function check(answer: string, sent: Buffer): void {
  const shown = JSON.stringify(sent.toString('latin1'));
  for (const [, status] of answer.matchAll(/^HTTP\/1\.1 (\d+)/gm))
    assert.ok(Number(status) < 500, `${status} to ${shown}: ${answer}`);
  const status = Number(/^HTTP\/1\.1 (?!100)(\d+)/m.exec(answer)?.[1] ?? 0);
  if (status < 400 || shown.startsWith('"HEAD')) return;
  const head = answer.split('\r\n\r\n')[0] ?? '';
  const code = /x-ms-error-code: (\S+)/i.exec(head)?.[1];
  assert.ok(code !== undefined, `no error code to ${shown}: ${answer}`);
  assert.match(head, /x-ms-request-id: [0-9a-f-]{36}/i);
  assert.ok(answer.includes(`"${code}"`), `no body to ${shown}: ${answer}`);
}

function get(url: string, lines = '', method = 'GET'): Promise<string> {
  return send(Buffer.from(`${method} ${url} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${lines}\r\n`));
}

describe('hostile bytes', () => {
  it('in URL, headers and body never yield a 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(methods, target, headers, body, fc.boolean(), async (method, url, fields, content, isJson) => {
        const type = isJson ? 'content-type: application/json\r\n' : '';
        const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
        const head = `${method} ${url} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${type}${lines}content-length: ${content.length}\r\n\r\n`;
        const bytes = Buffer.concat([Buffer.from(head, 'latin1'), content]);
        check(await send(bytes), bytes);
      }),
      { numRuns: 700 },
    );
  });

  it('that are not even a request do neither', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (raw) => {
        const bytes = Buffer.from(raw);
        check(await send(bytes), bytes);
      }),
      { numRuns: 100 },
    );
  });

  it('in the body of a good request to a good path do neither', async () => {
    const url = `${groupPath}/providers/${provider}/widgets/w?api-version=2024-01-01`;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('PUT', 'POST', 'DELETE'), body, async (method, payload) => {
        const answer = await app.inject({
          method: method as 'PUT',
          url,
          payload,
          headers: { 'content-type': 'application/json', 'x-demo-caller': 'arm' },
        });
        assert.ok(answer.statusCode < 500, `${answer.statusCode} ${payload.toString('latin1')}`);
      }),
      { numRuns: 400 },
    );
  });

  it('before the path of a request, as for a proxy, change nothing in the answer', async () => {
    const list = `${groupPath}/providers/${provider}/widgets`;
    for (const name of ['p1', 'p2', 'p3', 'p4']) {
      const payload = { location: 'westeurope', properties: { size: 1 } };
      await app.inject({ method: 'PUT', url: `${list}/${name}?api-version=2024-01-01`, payload });
    }
    for (const before of ['', 'http://evil.example', 'HTTPS://evil.example:8443', 'http://a@b']) {
      const first = await get(`${before}${list}?api-version=2024-01-01`);
      const link = /"nextLink": "([^"]+)"/.exec(first)?.[1] ?? '';
      assert.ok(link.startsWith(`https://demo.example${list}?`), link);
      const next = link.slice('https://demo.example'.length);
      assert.match(await get(next), /^HTTP\/1\.1 200/);
      assert.match(await get(`http://other.example${next}`), /^HTTP\/1\.1 200/);
      assert.match(await get(`${before}${list}/p1`, '', 'PATCH'), /^HTTP\/1\.1 405[\s\S]*allow: DELETE, GET/i);
      assert.match(await get(`${before}/nowhere`), /^HTTP\/1\.1 404/);
    }
    assert.match(await get('http://evil.example'), /^HTTP\/1\.1 404/);
    assert.match(await get(`ftp://evil.example${list}?api-version=2024-01-01`), /^HTTP\/1\.1 400/);
  });

  it('in a header that only ARM may set, given twice, are refused from ARM and ignored from others', async () => {
    const url = `${groupPath}/providers/${provider}/widgets?api-version=2024-01-01`;
    const names = [
      'x-ms-home-tenant-id',
      'X-MS-Client-Object-Id',
      'x-ms-client-principal-name',
      'x-ms-identity-url',
      'x-ms-arm-resource-system-data',
      'azure-asyncnotificationuri',
      'Referer',
    ];
    for (const name of names) {
      const lines = `${name}: https://a.example/\r\n${name.toLowerCase()}: https://b.example/\r\n`;
      const refused = await get(url, `x-demo-caller: arm\r\n${lines}`);
      assert.match(refused, /^HTTP\/1\.1 400[\s\S]*more than once/, name);
      assert.match(await get(url, lines), /^HTTP\/1\.1 200/, name);
    }
  });

  it('leave the server as it was', async () => {
    const answer = await app.inject({ url: `/providers/${provider}/operations` });
    assert.equal(answer.statusCode, 200);
  });
});
