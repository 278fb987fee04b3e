import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { fastify } from 'fastify';
import { createAuthority, issueClientCertificate } from '../pki/authority.ts';
import type { KeyedCertificate } from '../pki/certificate.ts';
import { certificateFiles, writeCertificate } from '../pki/files.ts';
import { keyPem } from '../pki/keys.ts';
import { keepCertificate } from '../pki/renewal.ts';
import { ListenError } from './http-server.ts';
import { type ListenerOptions, listen, type TlsListener } from './listener.ts';
import { createLogger } from './log.ts';
import { type TestCertificates, testCertificates } from './testing/certificates.ts';
import { rawConnection, rawRequest } from './testing/raw.ts';

test('serves an app over TLS and says where, with the port really bound', async (t) => {
  const { listener, certificates } = await setup(t);
  assert.match(listener.url, /^https:\/\/127\.0\.0\.1:[1-9]\d+$/);
  assert.equal(new URL(listener.url).port, String(listener.port));
  const answer = await get(listener, { ca: certificates.ca });
  assert.deepEqual(answer, { status: 200, body: { caller: { kind: 'anonymous' } } });
});

test('speaks TLS 1.2 and 1.3 on P-256 and X25519, and nothing older', async (t) => {
  const { listener, certificates } = await setup(t);
  const handshake = async (options: object): Promise<string | null> => {
    const socket = connectTls({ port: listener.port, servername: 'localhost', ca: certificates.ca, ...options });
    try {
      await once(socket, 'secureConnect');
      return socket.getProtocol();
    } finally {
      socket.destroy();
    }
  };
  assert.equal(await handshake({ maxVersion: 'TLSv1.2' }), 'TLSv1.2');
  assert.equal(await handshake({}), 'TLSv1.3');
  for (const ecdhCurve of ['X25519', 'P-256']) assert.equal(await handshake({ ecdhCurve }), 'TLSv1.3');
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
  await assert.rejects(handshake(old), /protocol|version/i);
  await assert.rejects(handshake({ maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' }), /handshake failure/i);
});

test('an unusable certificate or address is told before anything is served', async (t) => {
  const certificates = await testCertificates(t);
  const options = optionsFor(certificates);
  await writeFile(join(certificates.directory, 'broken.crt'), 'hello');
  await assert.rejects(
    listen(fastify(), { ...options, certificate: join(certificates.directory, 'broken.crt') }),
    /broken\.crt holds no certificate/,
  );
  const first = await listen(fastify(), options);
  t.after(() => first.stop());
  await assert.rejects(listen(fastify(), { ...options, port: first.port }), (error) => {
    assert.ok(error instanceof ListenError);
    assert.match(error.message, new RegExp(`127.0.0.1:${first.port}: something else listens there`));
    return true;
  });
});

test('one app is served by several listeners, each with its own callers', async (t) => {
  const certificates = await testCertificates(t);
  const app = appOf();
  const clients = { authorities: certificates.caFile, unauthenticated: 'handshake' } as const;
  const open = await listen(app, optionsFor(certificates));
  const closed = await listen(app, { ...optionsFor(certificates), clients });
  t.after(() => Promise.all([open.stop(), closed.stop()]));
  const client = await certificates.client({ commonName: 'rp' });
  assert.equal(callerIn(await get(open, { ca: certificates.ca, ...client })).kind, 'anonymous');
  assert.equal(callerIn(await get(closed, { ca: certificates.ca, ...client })).kind, 'certificate');
});

for (const http2 of [false, true]) {
  const over = http2 ? 'HTTP/2' : 'HTTP/1.1';

  test(`a client certificate names the caller, over ${over}`, async (t) => {
    const { listener, certificates } = await setup(t, { http2, unauthenticated: 'handshake' });
    const client = await certificates.client({
      commonName: 'rp',
      organizations: ['aro'],
      uris: ['spiffe://aro.local/rp'],
    });
    const answer = http2
      ? await getHttp2(t, listener, { ca: certificates.ca, ...client })
      : await get(listener, { ca: certificates.ca, ...client });
    assert.equal(answer.status, 200);
    const caller = callerIn(answer);
    assert.equal(caller.commonName, 'rp');
    assert.deepEqual(caller.organizations, ['aro']);
    assert.equal(caller.identity, 'spiffe://aro.local/rp');
  });

  test(`an allow list lets the listed through and refuses others with 403, over ${over}`, async (t) => {
    const { listener, certificates, handled } = await setup(t, {
      http2,
      unauthenticated: 'handshake',
      allow: [
        { of: 'commonName', exact: 'rp' },
        { of: 'dns', suffix: '.aro.local' },
      ],
    });
    const ask = async (names: Parameters<TestCertificates['client']>[0]): Promise<Answer> => {
      const options = { ca: certificates.ca, ...(await certificates.client(names)) };
      return http2 ? getHttp2(t, listener, options) : get(listener, options);
    };
    assert.equal((await ask({ commonName: 'rp' })).status, 200);
    const listed = await ask({ commonName: 'x', dnsNames: ['monitor.aro.local'] });
    assert.equal(callerIn(listed).identity, 'monitor.aro.local');
    assert.equal(handled(), 2);
    const refused = await ask({ commonName: 'rp2', dnsNames: ['evilaro.local'] });
    assert.equal(refused.status, 403);
    assert.equal(refused.body.error?.code, 'ClientNotAllowed');
    assert.equal(handled(), 2, 'a refused request does not reach the app');
  });

  for (const [unauthenticated, status] of [
    [401, 401],
    [403, 403],
    ['anonymous', 200],
  ] as const) {
    test(`without a certificate, where that is answered as ${unauthenticated}: ${status}, over ${over}`, async (t) => {
      const { listener, certificates } = await setup(t, { http2, unauthenticated });
      const options = { ca: certificates.ca };
      const answer = http2 ? await getHttp2(t, listener, options) : await get(listener, options);
      assert.equal(answer.status, status);
      if (status === 200) assert.equal(callerIn(answer).kind, 'anonymous');
      else assert.equal(answer.body.error?.code, 'ClientCertificateRequired');
    });
  }
}

test('without a certificate, where one is required: no handshake', async (t) => {
  const { listener, certificates } = await setup(t, { unauthenticated: 'handshake' });
  await assert.rejects(get(listener, { ca: certificates.ca }));
});

test('a certificate that is shown but not good is refused, also where none is needed', async (t) => {
  const { listener, certificates, handled } = await setup(t, { unauthenticated: 'anonymous' });
  const stranger = await createAuthority({ name: 'Test authority' });
  const past = new Date('2020-01-01T00:00:00Z');
  const shown: readonly KeyedCertificate[] = [
    await issueClientCertificate(stranger, { commonName: 'rp' }),
    await certificates.issueServer(),
    await issueClientCertificate(await createAuthority({ name: 'Old', now: past }), {
      commonName: 'rp',
      now: past,
      lifeSeconds: 60,
    }),
  ];
  for (const client of shown) {
    const answer = await get(listener, { ca: certificates.ca, cert: client.certificatePem, key: keyPem(client.key) });
    assert.equal(answer.status, 403);
    assert.equal(answer.body.error?.code, 'ClientCertificateNotTrusted');
  }
  assert.equal(handled(), 0);
});

test('HTTP/2 and HTTP/1.1 are both spoken where HTTP/2 is on', async (t) => {
  const { listener, certificates } = await setup(t, { http2: true });
  assert.equal((await get(listener, { ca: certificates.ca })).status, 200);
  assert.equal((await getHttp2(t, listener, { ca: certificates.ca })).status, 200);
});

test('a body is asked for only after the listener has admitted the caller', async (t) => {
  const { listener, certificates } = await setup(t, { unauthenticated: 401 });
  const head = 'POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n';
  const refused = await rawConnection(listener.port, { ca: certificates.ca });
  t.after(() => refused.socket.destroy());
  refused.write(`${head}expect: 100-continue\r\n\r\n`);
  const answer = await refused.until(/\r\n\r\n/);
  assert.match(answer, /^HTTP\/1\.1 401 /);

  const admitted = await rawConnection(listener.port, {
    ca: certificates.ca,
    ...(await certificates.client({ commonName: 'rp' })),
  });
  t.after(() => admitted.socket.destroy());
  admitted.write(`${head}expect: 100-continue\r\nconnection: close\r\n\r\n`);
  await admitted.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  admitted.write('hello');
  assert.match(await admitted.ended(), /HTTP\/1\.1 200 OK[\s\S]*hello$/);
});

test('a header too many, and headers too large, are refused', async (t) => {
  const { listener, certificates } = await setup(t, { limits: { maxHeaders: 20, maxHeaderBytes: 4096 } });
  const request = (headers: string): string =>
    `GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${headers}\r\n`;
  const many = (count: number): string => Array.from({ length: count }, (_, index) => `a${index}: b\r\n`).join('');
  const tls = { ca: certificates.ca };
  assert.equal((await rawRequest(listener.port, request(many(18)), tls)).status, 200);
  assert.equal((await rawRequest(listener.port, request(many(19)), tls)).status, 431);
  assert.equal((await rawRequest(listener.port, request(`a: ${'b'.repeat(5000)}\r\n`), tls)).status, 431);
});

for (const http2 of [false, true]) {
  test(`clients that send slowly are cut (HTTP/1.1${http2 ? ' beside HTTP/2' : ''})`, async (t) => {
    const { listener, certificates } = await setup(t, { http2, limits: { readSeconds: 1 } });
    const tls = { ca: certificates.ca, ALPNProtocols: ['http/1.1'] };
    const slowHeaders = await rawConnection(listener.port, tls);
    slowHeaders.write('GET / HTTP/1.1\r\nhost: localhost\r\n');
    const drip = setInterval(() => slowHeaders.write('a: b\r\n'), 100);
    const slowBody = await rawConnection(listener.port, tls);
    slowBody.write(
      'POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ncontent-length: 99\r\n\r\nab',
    );
    const silent = await rawConnection(listener.port, tls);
    const noHandshake = connectPlain(listener.port, '127.0.0.1');
    noHandshake.on('error', () => undefined);
    t.after(() => clearInterval(drip));
    await Promise.all([slowHeaders.ended(), slowBody.ended(), silent.ended(), once(noHandshake, 'close')]);
    assert.doesNotMatch(slowHeaders.received(), / 200 /);
    assert.doesNotMatch(slowBody.received(), / 200 /);
    assert.equal((await get(listener, { ca: certificates.ca })).status, 200);
  });
}

test('a client that sends the body of an HTTP/2 request slowly is cut', async (t) => {
  const { listener, certificates } = await setup(t, { http2: true, limits: { readSeconds: 1 } });
  const session = await http2Session(t, listener, { ca: certificates.ca });
  const stream = session.request({ ':path': '/echo', ':method': 'POST', 'content-type': 'text/plain' });
  stream.on('error', () => undefined);
  stream.write('ab');
  await once(stream, 'close');
  assert.notEqual(stream.rstCode, 0);
});

test('an idle connection is closed, one that waits for its answer is not', async (t) => {
  for (const http2 of [false, true]) {
    const { listener, certificates, release } = await setup(t, {
      http2,
      limits: { idleSeconds: 0.3, readSeconds: 60 },
    });
    const tls = { ca: certificates.ca, ALPNProtocols: ['http/1.1'] };
    const waiting = await rawConnection(listener.port, tls);
    waiting.write('GET /slow HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    const idle = await rawConnection(listener.port, tls);
    idle.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await idle.ended();
    const silent = await rawConnection(listener.port, tls);
    await silent.ended();
    release();
    assert.match(await waiting.ended(), /^HTTP\/1\.1 200 [\s\S]*late$/);
  }
});

test('new connections use a new certificate, existing ones go on', async (t) => {
  const { listener, certificates } = await setup(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: certificates.ca });
  t.after(() => agent.destroy());
  const before = await fingerprint(listener, certificates);
  assert.equal((await get(listener, { agent })).status, 200);

  const fresh = await certificates.issueServer();
  await writeCertificate(certificates.server, fresh);
  await eventually(async () => (await fingerprint(listener, certificates)) === fresh.certificate.fingerprint256);
  assert.notEqual(before, fresh.certificate.fingerprint256);
  const answer = await get(listener, { agent });
  assert.equal(answer.status, 200);
  assert.equal(answer.reused, true);
});

test('a secret mounted by Kubernetes is followed through the swap of its link', async (t) => {
  const certificates = await testCertificates(t);
  const mount = join(certificates.directory, 'mount');
  const publish = async (name: string, keyed: KeyedCertificate): Promise<void> => {
    await writeCertificate(certificateFiles(join(mount, name), 'tls'), keyed);
    await symlink(name, join(mount, '..data_tmp'));
    await rename(join(mount, '..data_tmp'), join(mount, '..data'));
  };
  await mkdir(mount);
  await publish('..2030_01', await certificates.issueServer());
  for (const name of ['tls.crt', 'tls.key']) await symlink(join('..data', name), join(mount, name));
  const listener = await listen(appOf(), {
    ...optionsFor(certificates),
    certificate: join(mount, 'tls.crt'),
    key: join(mount, 'tls.key'),
  });
  t.after(() => listener.stop());
  const fresh = await certificates.issueServer();
  await publish('..2030_02', fresh);
  await eventually(async () => (await fingerprint(listener, certificates)) === fresh.certificate.fingerprint256);
});

test('a certificate that its keeper renews is in use at once', async (t) => {
  const { listener, certificates } = await setup(t);
  const clock = { now: new Date() };
  const keeper = await keepCertificate({
    files: certificates.server,
    issue: certificates.issueServer,
    onRenewed: () => listener.reload(),
    now: () => clock.now,
    stillRight: () => clock.now.getTime() < Date.now() + 1000,
  });
  t.after(() => keeper.stop());
  const before = await fingerprint(listener, certificates);
  clock.now = new Date(Date.now() + 3_600_000);
  await keeper.check();
  const after = await fingerprint(listener, certificates);
  assert.notEqual(after, before);
  assert.equal(after, keeper.current.certificate.fingerprint256);
});

test('where clients show certificates no TLS session is taken up again, so each is judged anew', async (t) => {
  const { listener, certificates } = await setup(t, { unauthenticated: 'handshake' });
  const client = await certificates.client({ commonName: 'rp' });
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const tls = { ca: certificates.ca, ...client, maxVersion };
    const sessions: Buffer[] = [];
    const first = await rawConnection(listener.port, tls);
    first.socket.on('session', (session: Buffer) => sessions.push(session));
    first.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    await first.ended();
    const again = connectTls({ port: listener.port, servername: 'localhost', session: sessions.at(-1), ...tls });
    await once(again, 'secureConnect');
    assert.equal(again.isSessionReused(), false, maxVersion);
    again.destroy();
  }
});

test('files that cannot serve are logged, once, and the certificate in use stays', async (t) => {
  const lines: string[] = [];
  const { listener, certificates } = await setup(t, { log: (line) => lines.push(line) });
  const before = await fingerprint(listener, certificates);
  const good = await readFile(certificates.server.certificate, 'utf8');
  await writeFile(certificates.server.certificate, good.slice(0, 200));
  await listener.reload();
  await listener.reload();
  const other = await certificates.issueServer();
  await writeFile(certificates.server.certificate, other.certificatePem);
  await listener.reload();
  assert.equal(await fingerprint(listener, certificates), before);
  const errors = lines.filter((line) => line.includes('the one before it stays'));
  assert.equal(errors.length, 2, errors.join(''));
  assert.match(errors[1] ?? '', /does not belong to the certificate/);
  await writeCertificate(certificates.server, other);
  await listener.reload();
  assert.equal(await fingerprint(listener, certificates), other.certificate.fingerprint256);
});

test('clients of a new authority are accepted once its file is there, those of the old one no longer', async (t) => {
  const { listener, certificates } = await setup(t, { unauthenticated: 401 });
  const old = await certificates.client({ commonName: 'rp' });
  const authority = await createAuthority({ name: 'Next authority' });
  const next = await issueClientCertificate(authority, { commonName: 'rp' });
  const tls = { ca: certificates.ca, cert: next.certificatePem, key: keyPem(next.key) };
  assert.equal((await get(listener, tls)).status, 403);
  await writeFile(certificates.caFile, authority.certificatePem);
  await listener.reload();
  assert.equal((await get(listener, tls)).status, 200);
  assert.equal((await get(listener, { ca: certificates.ca, ...old })).status, 403);
});

for (const http2 of [false, true]) {
  test(`stopping lets the request in flight end and takes no other (${http2 ? 'HTTP/2' : 'HTTP/1.1'})`, async (t) => {
    const { listener, certificates, release, started } = await setup(t, { http2 });
    const tls = { ca: certificates.ca, agent: new Agent({ keepAlive: true }) };
    t.after(() => tls.agent.destroy());
    const idle = await get(listener, tls);
    assert.equal(idle.status, 200);
    const answer = http2
      ? getHttp2(t, listener, { ca: certificates.ca }, '/slow')
      : get(listener, { ...tls, path: '/slow' });
    await started;
    let stopped = false;
    const stopping = listener.stop().then(() => {
      stopped = true;
    });
    await eventually(async () => !(await accepts(listener.port)));
    assert.equal(stopped, false);
    release();
    const { status, headers } = await answer;
    assert.equal(status, 200);
    if (!http2) assert.equal(headers?.connection, 'close');
    await stopping;
    assert.equal(listener.stop(), listener.stop());
  });

  test(`what has not ended when the grace period is over is cut (${http2 ? 'HTTP/2' : 'HTTP/1.1'})`, async (t) => {
    const { listener, certificates, started } = await setup(t, { http2 });
    const answer = http2
      ? getHttp2(t, listener, { ca: certificates.ca }, '/slow')
      : get(listener, { ca: certificates.ca, path: '/slow' });
    const failed = assert.rejects(answer);
    await started;
    const silent = connectPlain(listener.port, '127.0.0.1');
    silent.on('error', () => undefined);
    await once(silent, 'connect');
    await listener.stop(AbortSignal.timeout(50));
    await failed;
  });
}

interface SetupOptions extends Pick<ListenerOptions, 'http2' | 'limits'> {
  readonly unauthenticated?: NonNullable<ListenerOptions['clients']>['unauthenticated'];
  readonly allow?: NonNullable<NonNullable<ListenerOptions['clients']>['allow']>;
  readonly log?: (line: string) => void;
}

async function setup(t: TestContext, options: SetupOptions = {}) {
  const certificates = await testCertificates(t);
  const { unauthenticated, allow, log, ...rest } = options;
  const app = appOf();
  let count = 0;
  const slow = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  app.addHook('onRequest', async () => {
    count++;
  });
  app.get('/slow', () => {
    started.resolve();
    return slow.promise;
  });
  app.post('/echo', async (request) => request.body);
  const listener = await listen(app, {
    ...optionsFor(certificates, log),
    ...rest,
    ...(unauthenticated === undefined
      ? {}
      : {
          clients: { authorities: certificates.caFile, unauthenticated, ...(allow === undefined ? {} : { allow }) },
        }),
  });
  t.after(() => listener.stop(AbortSignal.abort()));
  return {
    listener,
    certificates,
    handled: () => count,
    started: started.promise,
    release: () => slow.resolve('late'),
  };
}

function appOf() {
  const app = fastify();
  app.get('/', async (request) => ({ caller: request.caller }));
  return app;
}

function optionsFor(certificates: TestCertificates, log: (line: string) => void = () => undefined): ListenerOptions {
  return {
    host: '127.0.0.1',
    port: 0,
    ...certificates.server,
    logger: createLogger({ service: 'test', destination: { write: log } }),
  };
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly caller?: Readonly<Record<string, unknown>>;
    readonly error?: { readonly code: string };
  };
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly reused?: boolean;
}

function callerIn(answer: Answer): Readonly<Record<string, unknown>> {
  assert.ok(answer.body.caller, JSON.stringify(answer));
  return answer.body.caller;
}

async function get(listener: TlsListener, options: RequestOptions): Promise<Answer> {
  const request = httpsRequest({
    host: '127.0.0.1',
    port: listener.port,
    servername: 'localhost',
    headers: { host: 'localhost' },
    agent: false,
    ...options,
  });
  request.end();
  const [response] = await once(request, 'response');
  let text = '';
  for await (const part of response) text += part;
  return {
    status: response.statusCode,
    body: text.startsWith('{') ? JSON.parse(text) : {},
    ...(options.path ? { headers: response.headers } : {}),
    ...(options.agent ? { reused: request.reusedSocket } : {}),
  };
}

async function http2Session(t: TestContext, listener: TlsListener, options: object): Promise<ClientHttp2Session> {
  const session = connectHttp2(listener.url, { servername: 'localhost', ...options });
  t.after(() => session.destroy());
  await once(session, 'connect');
  session.on('error', () => undefined);
  return session;
}

async function getHttp2(t: TestContext, listener: TlsListener, options: object, path = '/'): Promise<Answer> {
  const session = await http2Session(t, listener, options);
  const stream = session.request({ ':path': path });
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (part: string) => {
    text += part;
  });
  let status = 0;
  stream.on('response', (headers) => {
    status = headers[':status'] ?? 0;
  });
  await once(stream, 'close');
  assert.notEqual(status, 0, 'the connection ended without an answer');
  return { status, body: text.startsWith('{') ? JSON.parse(text) : {} };
}

async function fingerprint(listener: TlsListener, certificates: TestCertificates): Promise<string | undefined> {
  const socket = connectTls({ port: listener.port, servername: 'localhost', ca: certificates.ca });
  await once(socket, 'secureConnect');
  const found = socket.getPeerX509Certificate()?.fingerprint256;
  socket.destroy();
  return found;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connectPlain(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000;
  while (!(await holds())) {
    assert.ok(Date.now() < end, 'it did not come about within 20 s');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
