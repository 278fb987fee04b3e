import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { testCertificates } from './testing/certificates.ts';

const program = fileURLToPath(new URL('./testing/example-service.ts', import.meta.url));
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('a service made of the whole kit', async (t) => {
  const certificates = await testCertificates(t);
  const service = await run(t, [
    '--listen-certificate',
    certificates.server.certificate,
    '--listen-key',
    certificates.server.key,
    '--listen-client-authorities',
    certificates.caFile,
    '--listen-client',
    'arm',
  ]);
  const { https, plain, health } = await service.addresses;
  const known = await certificates.client({ commonName: 'arm' });
  const other = await certificates.client({ commonName: 'somebody' });
  const ask = (path: string, tls: object) => get(`${https}${path}`, { ca: certificates.ca, ...tls });

  await t.test('serves the client on its list, inside the trace it brought', async () => {
    const answer = await ask('/who', known);
    assert.equal(answer.status, 200);
    const { caller, outgoing } = JSON.parse(answer.body);
    assert.equal(caller, 'certificate');
    assert.match(outgoing.traceparent, /^00-0af7651916cd43dd8448eb211c80319c-/);
  });
  await t.test('refuses another identity with 403 and none with 401', async () => {
    assert.equal((await ask('/who', other)).status, 403);
    assert.equal((await ask('/who', {})).status, 401);
  });
  await t.test('serves the same app on the plain listener, but not /admin', async () => {
    const who = await fetch(`${plain}/who`);
    assert.equal(((await who.json()) as { caller: string }).caller, 'plain');
    assert.equal((await fetch(`${plain}/admin/keys`)).ok, false);
    assert.equal((await ask('/admin/keys', known)).status, 200);
  });
  await t.test('tells its health and counts its requests by route', async () => {
    assert.equal((await fetch(`${health}/readyz`)).status, 200);
    const text = await (await fetch(`${health}/metrics`)).text();
    assert.match(text, /http_request_duration_seconds_count\{method="GET",route="\/who",status="200"\} 2/);
  });
  await t.test('ends in order, and its secret is in no line it wrote', async () => {
    service.kill('SIGTERM');
    assert.equal(await service.ended, 0);
    assert.ok(service.lines.some((line) => line.includes('asked who') && line.includes('[redacted]')));
    assert.ok(!service.lines.some((line) => line.includes('not to be seen')));
  });
});

test('a service told nonsense says all that is wrong and does not start', async (t) => {
  const service = await run(t, ['--listen-prot', '8443', '--listen-key', 'k']);
  await assert.rejects(service.addresses);
  assert.notEqual(await service.ended, 0);
  const said = service.errors.join('\n');
  assert.match(said, /listen-prot/);
  assert.match(said, /listen-port/, 'the nearest known flag');
  assert.match(said, /listen\.certificate/);
});

async function run(t: TestContext, flags: readonly string[]) {
  const child = spawn(process.execPath, [program, ...flags], {
    env: { PATH: process.env.PATH, ARO_GREETING: 'not to be seen' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  const errors: string[] = [];
  const ready = Promise.withResolvers<Record<string, string>>();
  ready.promise.catch(() => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    const event = JSON.parse(line);
    if (event.msg === 'ready') ready.resolve(event.addresses);
  });
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  void ended.then(() => ready.reject(new Error(`ended before it was ready: ${errors.join(' ')}`)));
  return { addresses: ready.promise, lines, errors, ended, kill: (signal: NodeJS.Signals) => child.kill(signal) };
}

function get(url: string, options: object): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    request(url, { ...options, headers: { traceparent }, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    })
      .on('error', reject)
      .end();
  });
}
