import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createLogger, type Level, type Logger } from './log.ts';
import { printLimits } from './printable.ts';
import { Secret } from './secret.ts';

const hidden = 'hunter2';

function logged(options: { level?: Level } = {}): { logger: Logger; lines: string[]; last(): Record<string, unknown> } {
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', ...options, destination: { write: (line) => lines.push(line) } });
  return {
    logger,
    lines,
    last() {
      const line = lines.at(-1) ?? '';
      assert.equal(line.indexOf('\n'), line.length - 1, 'one event is one line');
      return JSON.parse(line);
    },
  };
}

/** pino's types ask that arguments fit the format; here they are not meant to. */
function say(logger: Logger, ...args: unknown[]): void {
  (logger.info as (...args: unknown[]) => void).apply(logger, args);
}

describe('an event', () => {
  it('is one line of JSON with level, time, service and message', () => {
    const lines: string[] = [];
    const logger = createLogger({
      service: 'rp',
      version: '1.2.3',
      destination: { write: (line) => lines.push(line) },
    });
    logger.warn({ attempt: 2 }, 'trying %s', 'again');
    const { time, ...rest } = JSON.parse(lines.join(''));
    assert.deepEqual(rest, {
      level: 'warn',
      service: 'rp',
      version: '1.2.3',
      pid: process.pid,
      attempt: 2,
      msg: 'trying again',
    });
    assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000);
  });

  it('carries the ids bound by a child logger, and those of its parents', () => {
    const { logger, last } = logged();
    logger.child({ requestId: 'r' }).child({ correlationId: 'c', clientRequestId: 'x' }).info('hello');
    const { requestId, correlationId, clientRequestId } = last();
    assert.deepEqual(
      { requestId, correlationId, clientRequestId },
      { requestId: 'r', correlationId: 'c', clientRequestId: 'x' },
    );
  });

  it('below the level is not written', () => {
    const { logger, lines } = logged({ level: 'error' });
    logger.warn('no');
    assert.deepEqual(lines, []);
  });

  it('cannot be forged by line breaks or by keys of its data', () => {
    const { logger, last } = logged();
    logger.info(
      { level: 'fatal', time: 'never', service: 'other', msg: 'forged', note: 'a\n{"level":"fatal"}' },
      'real\nmessage\u2028',
    );
    const event = last();
    assert.equal(event.level, 'info');
    assert.equal(event.service, 'test');
    assert.equal(event.msg, 'real\nmessage\u2028');
    assert.equal(event.level_, 'fatal');
    logger.child({ service: 'other' }).info('x');
    assert.equal(last().service, 'test');
  });

  it('shows an error with type, code, stack and causes', () => {
    const { logger, last } = logged();
    const cause = Object.assign(new TypeError('inner'), { code: 'E_INNER', clientSecret: hidden });
    logger.error(new AggregateError([new Error('one')], 'outer', { cause }));
    const { err, msg } = last() as {
      err: Record<string, Record<string, unknown>[] & Record<string, unknown>>;
      msg: string;
    };
    assert.equal(msg, 'outer');
    assert.equal(err.type, 'AggregateError');
    assert.match(String(err.stack), /log\.test\.ts/);
    assert.equal(err.cause?.type, 'TypeError');
    assert.equal(err.cause?.code, 'E_INNER');
    assert.equal(err.cause?.clientSecret, '[redacted]');
    assert.equal(err.errors?.[0]?.message, 'one');
    logger.error({ err: new Error('as a field') }, 'said');
    assert.equal((last().err as { message: string }).message, 'as a field');
    assert.equal(last().msg, 'said');
  });

  it('shows a request and a response in short', async () => {
    const { logger, last } = logged();
    const server = createServer((req: IncomingMessage, res) => {
      logger.info({ req, res });
      res.end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    assert.ok(typeof address === 'object' && address);
    await fetch(`http://127.0.0.1:${address.port}/path`, { headers: { authorization: hidden, connection: 'close' } });
    await new Promise((resolve) => server.close(resolve));
    assert.deepEqual(last().req, { method: 'GET', url: '/path', ip: '127.0.0.1' });
    assert.deepEqual(last().res, { statusCode: 200 });
  });
});

describe('a secret does not reach the log', () => {
  const cases: Readonly<Record<string, unknown>> = {
    'by type': { value: new Secret(hidden) },
    'by type, deep inside': { a: [{ b: new Map([['k', [new Secret(hidden)]]]) }, new Set([new Secret(hidden)])] },
    'by type, in the cause of an error': { err: new Error('x', { cause: { value: new Secret(hidden) } }) },
    'in headers': {
      headers: { Authorization: `Bearer ${hidden}`, Cookie: hidden, 'set-cookie': [hidden], 'x-api-key': hidden },
    },
    'in Headers': { headers: new Headers({ authorization: hidden }) },
    'in raw headers': { rawHeaders: ['Authorization', hidden] },
    'in pairs': { headers: [['authorization', hidden]] },
    'in a Map': new Map([['password', hidden]]),
    'in name and value': { env: [{ name: 'DB_PASSWORD', value: hidden }] },
    'by name': { password: hidden, adminPassword: { x: hidden }, client_secret: hidden, PULL_SECRET: hidden },
    'by name, nested': { a: { b: [{ kubeconfig: hidden, adminKubeconfig: hidden, privateKey: hidden }] } },
    'any token': {
      token: hidden,
      accessToken: hidden,
      refresh_token: hidden,
      'x-ms-token-aad': hidden,
      tokens: [hidden],
    },
    'cloud credentials': { accountKey: hidden, connectionString: hidden, sasUrl: hidden, clientAssertion: hidden },
    'in a Kubernetes Secret': { kind: 'Secret', data: { x: hidden }, stringData: { x: hidden } },
    'in a URL': { url: new URL(`https://user:${hidden}@example.com/`) },
    'in the query or fragment of a URL': {
      urls: ['?sig=', '?access_token=', '?x=', '#id_token='].map(
        (at) => new URL(`https://example.com/p${at}${hidden}`),
      ),
      database: new URL(`postgres://user:${hidden}@db/x`),
    },
    'in a parsed kubeconfig': {
      users: [{ name: 'admin', user: { 'client-certificate-data': 'public', 'client-key-data': hidden } }],
    },
    'in TLS files': { 'tls.crt': 'public', 'tls.key': hidden, 'ca.key': hidden, 'server-key.pem': hidden },
    'by name, with more around it': {
      clientSecretValue: hidden,
      secretValue: hidden,
      secretAccessKey: hidden,
      pullSecretJson: hidden,
      password1: hidden,
      passwordHash: hidden,
      pass: hidden,
      adminKubeconfigData: hidden,
      secretNamePassword: hidden,
      'Azure-AsyncNotificationUri': hidden,
      notificationUri: hidden,
    },
    'in key and value': {
      headers: [
        { key: 'authorization', value: hidden },
        { key: 'cookie', values: [hidden] },
        { key: 'x-api-key', value: { stringValue: hidden } },
      ],
    },
    'in a flat list of names and values': {
      list: ['host', 'example.com', 'Authorization', hidden, 'x-api-key', hidden, 'accept', '*/*'],
    },
    'in a list of Kubernetes Secrets': { kind: 'SecretList', items: [{ data: { x: hidden } }] },
    'in a URL inside a text': {
      text: `connect postgres://user:${hidden}@db:5432/x and https://${hidden}@github.example`,
      odd: `amqp://u:p@${hidden}@host`,
    },
    'as a bearer or basic credential inside a text': {
      text: `sent "Authorization: Bearer ${hidden}", then BEARER ${hidden}, authorization: bearer ${hidden}`,
      basic: `Basic ${hidden}ABC=`,
    },
    'as a private key inside a text': {
      whole: `read -----BEGIN EC PRIVATE KEY-----\n${hidden}\n-----END EC PRIVATE KEY-----\n from a file`,
      cut: `-----BEGIN PRIVATE KEY-----\n${hidden}`,
      encrypted: `-----BEGIN ENCRYPTED PRIVATE KEY-----\\n${hidden}\\n-----END ENCRYPTED PRIVATE KEY-----`,
    },
    'as a parameter inside a text': {
      text: `GET https://h/p?sv=1&sig=${hidden}&x=1 and access_token=${hidden}`,
      connection: `Server=db;Password=${hidden};AccountKey=${hidden};SharedAccessKey=${hidden}`,
    },
    'as a web token inside a text': { text: `got eyJhbGciOiJub25lIn0.${hidden}.${hidden}!` },
    'across the place where a text is cut': {
      text: `${'x'.repeat(printLimits.charactersPerText - 20)} a://user:${hidden}@host ${'x'.repeat(2000)}`,
    },
    'in the message and stack of an error': {
      err: new Error(`cannot connect to postgres://u:${hidden}@db`, { cause: new Error(`Bearer ${hidden}`) }),
    },
    'in bytes': { body: Buffer.from(hidden), view: new Uint8Array(Buffer.from(hidden)) },
  };
  for (const [how, value] of Object.entries(cases)) {
    it(how, () => {
      const { logger, lines } = logged();
      logger.info(value as object, 'said');
      logger.info({ inside: value }, 'said');
      say(logger, 'said %o %s %j', value, value, value);
      logger.child({ bound: value }).info('said');
      logger.child(value as Record<string, unknown>).info('said');
      logger.setBindings({ bound: value });
      logger.info('said');
      assert.equal(lines.length, 6);
      for (const line of lines) {
        assert.ok(!line.includes(hidden), line);
        assert.ok(!line.includes(JSON.stringify([...Buffer.from(hidden)]).slice(1, -1)), line);
      }
    });
  }

  it('while what only sounds like one does', () => {
    const { logger, last } = logged();
    const shown = {
      fencingToken: 7,
      tokenType: 'Bearer',
      tokenEndpoint: 'https://login.example/token',
      secretName: 'pull',
      pullSecretName: 'pull',
      secretRef: { name: 'x', namespace: 'y' },
      secretKeyRef: { name: 'x', key: 'y' },
      imagePullSecrets: [{ name: 'pull' }],
      secretNamespace: 'aro',
      secretVersion: '3',
      clientSecretExpiresAt: '2030-01-01',
      kubeconfigPath: '/etc/kubeconfig',
      passwordless: 'yes',
      passwordSet: true,
      hasSecret: false,
      keyId: 'k',
      publicKey: 'k',
      bypass: 'x',
      credentialsMode: 'Manual',
      authorizationUrl: 'https://login.example/',
      pair: { name: 'region', value: 'eastus' },
      label: { key: 'tier', value: 'gold' },
      list: ['a', 'b', 'c', 'd'],
      challenge: 'Bearer realm="x", error="invalid_token"',
      talk: 'the Bearer token is missing, Basic authentication is off; see https://example.com/a@b?x=1',
      certificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      page: '/x?api-version=2024-06-10&$skipToken=abc',
    };
    logger.info(shown);
    for (const [key, value] of Object.entries(shown)) assert.deepEqual(last()[key], value);
  });

  it('and what stands around it is still read', () => {
    const { logger, last } = logged();
    logger.error(`cannot reach postgres://u:${hidden}@db:5432/x: Bearer ${hidden}, sig=${hidden}&se=1`);
    assert.equal(last().msg, 'cannot reach postgres://[redacted]@db:5432/x: Bearer [redacted], sig=[redacted]&se=1');
    logger.info({ url: new URL(`https://u:p@example.com/a/b?sig=${hidden}#x`) });
    assert.equal(last().url, 'https://example.com/a/b?[redacted]');
    logger.info({ pem: `a -----BEGIN PRIVATE KEY-----${hidden}-----END PRIVATE KEY----- b` });
    assert.equal(last().pem, 'a -----BEGIN PRIVATE KEY-----[redacted] b');
  });

  it('and texts made to be slow to read are not', () => {
    const { logger, lines } = logged();
    const start = performance.now();
    for (const part of [
      '://',
      '://a@',
      'Bearer ',
      'basic a',
      'eyJ-',
      'eyJaaaaaaaa',
      '-----BEGIN PRIVATE KEY',
      'sig=',
      '-----BEGIN A',
      'token',
    ]) {
      logger.info(part.repeat(printLimits.charactersPerText));
      logger.info(part + part.at(-1)?.repeat(printLimits.charactersPerText));
    }
    assert.equal(lines.length, 20);
    assert.ok(performance.now() - start < 5000);
  });

  it('and an absent one is seen to be absent', () => {
    const { logger, last } = logged();
    logger.info({ token: null });
    assert.equal(last().token, null);
  });
});

describe('logging neither throws nor grows without bound', () => {
  it('over hostile values', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = { deep };
    const throwing = {
      get bad() {
        throw new Error('no');
      },
      fine: 1,
    };
    const badProxy = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('no');
        },
        get() {
          throw new Error('no');
        },
      },
    );
    const hostile: unknown[] = [
      cycle,
      deep,
      throwing,
      badProxy,
      new Proxy(new Error('x'), {
        get: () => {
          throw new Error('no');
        },
      }),
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
      new (class {
        toJSON() {
          throw new Error('no');
        }
      })(),
      new (class {
        toJSON() {
          return this;
        }
      })(),
      { big: 10n ** 5000n, symbol: Symbol('s'), fn: () => 1, nan: Number.NaN, date: new Date(Number.NaN), re: /x/ },
      { toString: 1, valueOf: 2, hasOwnProperty: 3, constructor: 4, toJSON: 5, method: 'x', headers: {}, socket: {} },
      JSON.parse('{"__proto__": {"polluted": true}}'),
      { text: 'x'.repeat(50_000_000) },
      Array(1_000_000).fill({ a: 1 }),
      Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${n}`, { n }])),
      { wide: Array(100).fill(Array(100).fill(Array(100).fill('x'.repeat(100)))) },
      new Map([[cycle, cycle]]),
      new WeakMap(),
      Promise.resolve(),
      null,
      undefined,
      '',
      42,
      Object.create(null),
      Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('no');
        },
      }),
    ];
    for (const value of hostile) {
      const { logger, lines } = logged();
      logger.info(value as object);
      logger.info({ value }, 'said');
      say(logger, 'said %s %o %d %j', value, value, value, value);
      logger.error({ err: value }, 'said');
      logger.child({ value }).info('said');
      assert.equal(lines.length, 5);
      for (const line of lines) {
        assert.equal(typeof JSON.parse(line), 'object');
        assert.ok(line.length < 5 * printLimits.characters, `${line.length} characters`);
      }
    }
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });

  it('shows where a cycle closes, and a value that is used twice, twice', () => {
    const { logger, last } = logged();
    const twice = { x: 1 };
    const cycle: Record<string, unknown> = { a: twice, b: [twice] };
    cycle.inner = { cycle };
    logger.info({ cycle });
    assert.deepEqual(last().cycle, { a: { x: 1 }, b: [{ x: 1 }], inner: { cycle: '[circular]' } });
  });

  it('over any value at all', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withNullPrototype: true,
          withObjectString: true,
          withSparseArray: true,
        }),
        fc.string(),
        (value, message) => {
          const { logger, lines, last } = logged();
          logger.info({ value }, message);
          say(logger.child({ value }), message, value);
          assert.equal(lines.length, 2);
          last();
        },
      ),
      { numRuns: 300 },
    );
  });

  it('over a destination that is gone', () => {
    const logger = createLogger({
      service: 'test',
      destination: {
        write() {
          throw new Error('gone');
        },
      },
    });
    logger.info('into the void');
  });

  const writer = `
    import { createLogger, flushLogger } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
    const logger = createLogger({ service: 'test' });
    process.on('message', async () => {
      for (let i = 0; i < 1000; i++) logger.info({ text: 'x'.repeat(1000) });
      await flushLogger(logger, 200);
      process.send('alive');
      process.disconnect();
    });
    logger.info('first');
  `;

  async function survives(child: ChildProcess): Promise<void> {
    child.send('go');
    const [said, code] = await Promise.all([
      Promise.race([once(child, 'message'), once(child, 'exit')]),
      once(child, 'exit'),
    ]);
    assert.deepEqual([said[0], code[0]], ['alive', 0]);
  }

  it('to a standard output that nobody reads any more', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', writer], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    await survives(child);
  });

  it('to a file on a full disk', async (t) => {
    if (!existsSync('/dev/full')) return t.skip('only Linux has a file that is always full');
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, ['--input-type=module', '-e', writer], {
      stdio: ['ignore', full, 'inherit', 'ipc'],
    });
    await survives(child);
    closeSync(full);
  });
});
