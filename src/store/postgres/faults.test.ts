import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { isStoreError, type StoreError, type StoreErrorCode } from '../errors.ts';
import { type FaultyPostgres, startPostgres } from '../testing/postgres-server.ts';
import { toStoreError } from './errors.ts';
import { openPostgresEngine } from './open.ts';
import { create, plain, testWorld, until } from './testing/world.ts';

const timeout = 120_000;
let server: FaultyPostgres;

before(async () => {
  server = await startPostgres({ max_connections: '30' });
});
after(() => server.stop());

async function refused(work: Promise<unknown>, ...codes: StoreErrorCode[]): Promise<StoreError> {
  const error = await work.then(
    () => assert.fail(`expected ${codes.join(' or ')}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(isStoreError(error, ...codes), inspect(error));
  return error;
}

for (const signal of ['SIGINT', 'SIGKILL'] as const) {
  test(`a server that goes by ${signal} under load and comes back: clear errors, nothing acknowledged lost`, {
    timeout,
  }, async (t) => {
    const world = await testWorld(t, server);
    const engine = await world.engine({ connectTimeoutSeconds: 2 });
    const container = await engine.open(plain);
    const start = await container.feedEnd();
    const acknowledged = new Set<string>();
    const unknown = new Set<string>();
    const codes = new Set<string>();
    let isOver = false;
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let index = 0; !isOver; index++) {
        const id = `${writer}-${index}`;
        try {
          await container.write(`p${writer}`, [create(id)]);
          acknowledged.add(id);
        } catch (error) {
          assert.ok(isStoreError(error, 'Unavailable', 'OutcomeUnknown'), inspect(error));
          codes.add(error.code);
          if (error.code === 'OutcomeUnknown') unknown.add(id);
          await new Promise((settle) => setTimeout(settle, 20));
        }
      }
    });
    const readers = Array.from({ length: 2 }, async () => {
      while (!isOver) {
        await container.read('p0', '0-0').catch((error: unknown) => {
          assert.ok(isStoreError(error, 'Unavailable'), inspect(error));
        });
        await new Promise((settle) => setTimeout(settle, 5));
      }
    });
    // The feed is woken again by itself once the server is back.
    let wakes = 0;
    t.after(container.onCommit(() => wakes++));

    await until(() => acknowledged.size > 50);
    await server.down(signal);
    await refused(container.read('p0', '0-0'), 'Unavailable');
    await refused(container.write('p9', [create('not sent')]), 'Unavailable');
    await refused(container.changesAfter(start, 10), 'Unavailable');
    await refused(engine.ping(), 'Unavailable');
    await server.up();
    const before = acknowledged.size;
    const wakesBefore = wakes;
    await until(() => acknowledged.size > before + 50 && wakes > wakesBefore);
    isOver = true;
    await Promise.all([...writers, ...readers]);

    const there = new Set<string>();
    for (let position = start; ; ) {
      const page = await container.changesAfter(position, 500);
      if (page.length === 0) break;
      for (const { id } of page) there.add(id);
      position = page.at(-1)?.position ?? position;
    }
    for (const id of acknowledged) assert.ok(there.has(id), `${id} was acknowledged and is gone`);
    for (const id of there) assert.ok(acknowledged.has(id) || unknown.has(id), `${id} was said not to be written`);
    assert.equal(await container.count(undefined, undefined), there.size);
    assert.ok(!there.has('not sent'));
    assert.ok(codes.has('Unavailable') || codes.has('OutcomeUnknown'));
  });
}

test('a write whose connection breaks under way has an unknown outcome; a read is asked again', {
  timeout,
}, async (t) => {
  const world = await testWorld(t, server);
  const container = await (await world.engine()).open(plain);
  await container.write('p', [create('d')]);
  const raw = await world.raw();
  // Somebody holds the partition, so the write is under way for as long as we like.
  await raw.query('BEGIN');
  await raw.query(`LOCK TABLE ${world.schema}.things_documents IN ACCESS EXCLUSIVE MODE`);
  const write = container.write('p', [create('e')]);
  const read = container.read('p', 'd');
  const killer = await world.raw();
  const isWaiting = `FROM pg_stat_activity WHERE application_name = 'aro' AND wait_event_type = 'Lock'`;
  await until(async () => (await killer.query(`SELECT 1 ${isWaiting}`)).rowCount === 2);
  const failed = refused(write, 'OutcomeUnknown');
  await killer.query(`SELECT pg_terminate_backend(pid) ${isWaiting}`);
  await failed;
  await raw.query('ROLLBACK');
  assert.equal((await read)?.id, 'd');
  assert.equal(await container.read('p', 'e'), undefined);
});

test('a statement that takes too long is given up, and is not done', { timeout }, async (t) => {
  const world = await testWorld(t, server);
  const engine = await world.engine({ statementTimeoutSeconds: 0.5 });
  const container = await engine.open(plain);
  const raw = await world.raw();
  await raw.query('BEGIN');
  await raw.query(`LOCK TABLE ${world.schema}.things_documents IN ACCESS EXCLUSIVE MODE`);
  await refused(container.write('p', [create('d')]), 'Busy');
  await refused(container.read('p', 'd'), 'Busy');
  await raw.query('ROLLBACK');
  assert.equal(await container.read('p', 'd'), undefined);
});

test('more calls than connections wait for one, and for no longer than they may', { timeout }, async (t) => {
  const world = await testWorld(t, server);
  const engine = await world.engine({ maxConnections: 2, connectTimeoutSeconds: 1 });
  const container = await engine.open(plain);
  await Promise.all(Array.from({ length: 50 }, (_, n) => container.write(`p${n}`, [create('d')])));
  const raw = await world.raw();
  await raw.query('BEGIN');
  await raw.query(`LOCK TABLE ${world.schema}.things_documents IN ACCESS EXCLUSIVE MODE`);
  const held = [container.read('p1', 'd'), container.read('p2', 'd')];
  await refused(container.read('p3', 'd'), 'Busy');
  await raw.query('ROLLBACK');
  await Promise.all(held);
});

test('a server without connections left says so', { timeout }, async (t) => {
  const world = await testWorld(t, server);
  const clients: Awaited<ReturnType<typeof world.raw>>[] = [];
  try {
    for (let open = 0; open < 40; open++) clients.push(await world.raw());
  } catch {
    // Full.
  }
  const error = await refused(openPostgresEngine({ server: world.url, openTimeoutSeconds: 0.5 }), 'Busy');
  assert.match(error.message, /max_connections/);
  for (const client of clients) await client.end();
});

test('a server that is not there: one clear error within the time given, naming host and port, never the password', {
  timeout,
}, async () => {
  const free = createServer();
  await new Promise<void>((settle) => free.listen(0, '127.0.0.1', settle));
  const address = free.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  await new Promise((settle) => free.close(settle));
  const from = performance.now();
  const error = await refused(
    openPostgresEngine({ server: `postgres://user:hunter2@127.0.0.1:${port}/db`, openTimeoutSeconds: 1 }),
    'Unavailable',
  );
  assert.ok(performance.now() - from < 30_000);
  assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port}`));
  assert.ok(!inspect(error, { depth: 9 }).includes('hunter2'));
});

test('a server that takes connections and never answers is given up on', { timeout }, async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined));
  await new Promise<void>((settle) => silent.listen(0, '127.0.0.1', settle));
  const address = silent.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  try {
    const server = `postgres://user:hunter2@127.0.0.1:${port}/db`;
    const error = await refused(
      openPostgresEngine({ server, openTimeoutSeconds: 1, connectTimeoutSeconds: 0.5 }),
      'Unavailable',
    );
    assert.match(error.message, /did not answer in time/);
  } finally {
    silent.close();
  }
});

test('a wrong password, database or address is told at once', { timeout }, async () => {
  const right = new URL(server.url);
  const wrongPassword = new URL(server.url);
  wrongPassword.password = 'hunter2';
  const from = performance.now();
  const password = await refused(
    openPostgresEngine({ server: wrongPassword.href, openTimeoutSeconds: 60 }),
    'Unavailable',
  );
  assert.match(password.message, /refused the password/);
  assert.ok(!inspect(password, { depth: 9 }).includes('hunter2'));
  const wrongDatabase = new URL(server.url);
  wrongDatabase.pathname = '/nothing';
  const database = await refused(
    openPostgresEngine({ server: wrongDatabase.href, openTimeoutSeconds: 60 }),
    'Unavailable',
  );
  assert.match(database.message, /no database of that name/);
  assert.ok(!inspect(database, { depth: 9 }).includes(right.password));
  const address = await refused(openPostgresEngine({ server: 'user:hunter2@host' }), 'Invalid');
  assert.ok(!inspect(address).includes('hunter2'));
  assert.ok(performance.now() - from < 50_000);
});

test('a server that takes no writes can be read', { timeout }, async (t) => {
  const world = await testWorld(t, server);
  const container = await (await world.engine()).open(plain);
  await container.write('p', [create('d')]);
  const url = new URL(server.url);
  const database = `readonly_${world.schema}`;
  const raw = await world.raw();
  // The same refusal as a standby gives.
  await raw.query(
    `CREATE ROLE ${database} LOGIN SUPERUSER PASSWORD 'x'; ALTER ROLE ${database} SET default_transaction_read_only = on`,
  );
  url.username = database;
  url.password = 'x';
  const reader = await (await world.engine({ server: url.href })).open(plain);
  assert.equal((await reader.read('p', 'd'))?.id, 'd');
  const error = await refused(reader.write('p', [create('e')]), 'ReadOnly');
  assert.match(error.message, /standby/);
});

test('after closing, calls are refused as such', { timeout }, async (t) => {
  const world = await testWorld(t, server);
  const engine = await world.engine();
  const container = await engine.open(plain);
  const under = container.write('p', [create('d')]);
  await Promise.all([engine.close(), engine.close()]);
  await under;
  await refused(container.read('p', 'd'), 'Closed');
  await refused(container.write('p', [create('e')]), 'Closed');
});

test("what the database reports is told in the store's own terms", () => {
  const reported = (code: string, message = 'told by the server') =>
    Object.assign(new Error(message), {
      code,
      severity: 'ERROR',
      detail: 'Key (name)=(secret contents)',
      where: 'secret',
    });
  const told: Record<string, StoreErrorCode> = {
    '53100': 'Full',
    '53300': 'Busy',
    '57014': 'Busy',
    '40P01': 'Busy',
    '25006': 'ReadOnly',
    '54000': 'TooLarge',
    XX001: 'Corrupt',
    '22P02': 'Invalid',
  };
  for (const [state, code] of Object.entries(told)) {
    const error = toStoreError(reported(state, 'invalid input: "secret contents"'), 'write', 'host:1');
    assert.equal(error.code, code);
    assert.match(error.message, /host:1/);
    if (state.startsWith('22')) assert.ok(!inspect(error, { depth: 9 }).includes('secret'));
    assert.ok(!inspect(error, { depth: 9 }).includes('Key (name)'));
  }
});
