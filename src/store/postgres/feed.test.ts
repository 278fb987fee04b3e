import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineChange, EngineContainer } from '../engine.ts';
import { isStoreError } from '../errors.ts';
import { create, plain, testWorld, until } from './testing/world.ts';

const timeout = 60_000;

/** A writer that takes its transaction id and revision now and commits later: what a slow commit looks like. */
function earlyWrite(schema: string, partition: string, id: string): string {
  return `WITH d AS (INSERT INTO ${schema}.things_documents (partition, id, revision, body)
      VALUES ('${partition}', '${id}', nextval('${schema}.things_revisions'), '{}') RETURNING *)
    INSERT INTO ${schema}.things_changes (revision, kind, partition, id, body)
      SELECT revision, 'create', partition, id, body FROM d`;
}

async function readAll(
  container: EngineContainer,
  from: string,
): Promise<{ changes: EngineChange[]; position: string }> {
  const changes: EngineChange[] = [];
  let position = from;
  for (;;) {
    const page = await container.changesAfter(position, 2);
    if (page.length === 0) return { changes, position };
    changes.push(...page);
    position = page.at(-1)?.position ?? position;
  }
}

const ids = (changes: readonly EngineChange[]) => changes.map(({ id }) => id);

test('a transaction that took its revision early and committed late is not skipped', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine()).open(plain);
  const start = await container.feedEnd();
  const late = await world.raw();
  await late.query('BEGIN');
  await late.query(earlyWrite(world.schema, 'p', 'late'));

  // Committed after the late one took its place: held back, or the late one would come behind the position.
  await container.write('q', [create('quick')]);
  const first = await readAll(container, start);
  assert.deepEqual(ids(first.changes), []);

  await late.query('COMMIT');
  await until(async () => (await readAll(container, start)).changes.length === 2);
  assert.deepEqual(ids((await readAll(container, first.position)).changes), ['late', 'quick']);
});

test('a transaction that is rolled back holds the feed back no longer, and shows nothing', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine()).open(plain);
  const start = await container.feedEnd();
  const undone = await world.raw();
  await undone.query('BEGIN');
  await undone.query(earlyWrite(world.schema, 'p', 'undone'));
  await container.write('q', [create('quick')]);
  assert.deepEqual(ids((await readAll(container, start)).changes), []);

  // Nobody tells of a roll-back, or of a transaction that is none of the store's: the store looks again by itself.
  const woken = new Promise<void>((settle) => {
    t.after(container.onCommit(settle));
  });
  await undone.query('ROLLBACK');
  await woken;
  await until(async () => (await readAll(container, start)).changes.length === 1);
  assert.deepEqual(ids((await readAll(container, start)).changes), ['quick']);
});

test('a transaction that only reads does not hold the feed back', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine()).open(plain);
  const start = await container.feedEnd();
  const reader = await world.raw();
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query(`SELECT count(*) FROM ${world.schema}.things_documents`);
  await container.write('p', [create('one')]);
  // Others' transactions on the same server may hold it back for a moment; this one never ends by itself.
  await until(async () => (await readAll(container, start)).changes.length === 1);
  await reader.query('ROLLBACK');
});

test('the end of the feed lies behind what is committed and before what is not', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine()).open(plain);
  const late = await world.raw();
  await late.query('BEGIN');
  await late.query(earlyWrite(world.schema, 'p', 'late'));
  await container.write('q', [create('before')]);
  const end = await container.feedEnd();
  await container.write('q', [create('after')]);
  await late.query('COMMIT');
  await until(async () => (await readAll(container, end)).changes.length === 2);
  // One at a time, so that the positions in between are used too.
  const found: string[] = [];
  for (let position = end; ; ) {
    const [change] = await container.changesAfter(position, 1);
    if (!change) break;
    found.push(change.id);
    position = change.position;
  }
  assert.deepEqual(found, ['late', 'after']);
  assert.deepEqual(ids(await container.changesAfter(end, 10, 'q')), ['after']);
});

test('commits of another process wake the feed', { timeout }, async (t) => {
  const world = await testWorld(t);
  const here = await (await world.engine()).open(plain);
  const other = await (await world.engine()).open(plain);
  const woken = new Promise<void>((settle) => {
    t.after(here.onCommit(settle));
  });
  // The listening connection is made in the background, so the first news may come before it.
  let index = 0;
  const writing = setInterval(() => void other.write('p', [create(`d${index++}`)]), 100);
  t.after(() => clearInterval(writing));
  await woken;
  clearInterval(writing);
});

test('history past its age is trimmed, and positions in it are told to be expired', { timeout }, async (t) => {
  const world = await testWorld(t);
  const engine = await world.engine({ historySeconds: 0.001 });
  const container = await engine.open(plain);
  const start = await container.feedEnd();
  for (let index = 0; index < 3; index++) await container.write('p', [create(`d${index}`)]);
  const last = (await readAll(container, start)).position;
  const raw = await world.raw();
  await until(async () => {
    await engine.upkeep();
    return (await raw.query(`SELECT 1 FROM ${world.schema}.things_changes`)).rowCount === 0;
  });
  await assert.rejects(container.changesAfter(start, 10), (error) => isStoreError(error, 'ContinuationExpired'));
  assert.deepEqual(await container.changesAfter(last, 10), []);
  await container.write('p', [create('next')]);
  await until(async () => (await container.changesAfter(last, 10)).length === 1);
});

test('text that is not a position is refused', async (t) => {
  const container = await (await (await testWorld(t)).engine()).open(plain);
  const end = await container.feedEnd();
  for (const text of ['', 'x', `${end} `, '1:2', end.replace('/', ':'), `${end}/1:2`, `${end}'`]) {
    await assert.rejects(container.changesAfter(text, 1), (error) => isStoreError(error, 'InvalidContinuation'), text);
  }
});

test('a database that came here by a dump begins a new history', { timeout }, async (t) => {
  const world = await testWorld(t);
  const first = await world.engine();
  const container = await first.open(plain);
  await container.write('p', [create('kept')]);
  const old = await container.feedEnd();
  await first.close();
  // What a dump of a busier server leaves: transaction ids that this one has not come to.
  const raw = await world.raw();
  await raw.query(`UPDATE ${world.schema}.things_changes SET xid = '900000000000'`);

  const again = await (await world.engine()).open(plain);
  await assert.rejects(again.changesAfter(old, 10), (error) => isStoreError(error, 'ContinuationExpired'));
  const start = await again.feedEnd();
  await again.write('p', [create('new')]);
  await until(async () => (await readAll(again, start)).changes.length === 1);
  assert.ok(await again.read('p', 'kept'));
});

test('writers of one partition commit in the order of their revisions', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine()).open(plain);
  const start = await container.feedEnd();
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let index = 0; index < 25; index++) await container.write('p', [create(`${writer}-${index}`)]);
  });
  let isDone = false;
  const done = Promise.all(writers).then(() => {
    isDone = true;
  });
  const seen: EngineChange[] = [];
  let position = start;
  for (;;) {
    const wasDone = isDone;
    const page = await container.changesAfter(position, 7, 'p');
    seen.push(...page);
    position = page.at(-1)?.position ?? position;
    if (wasDone && page.length === 0 && seen.length >= 200) break;
  }
  await done;
  assert.equal(new Set(ids(seen)).size, 200);
  const revisions = seen.map(({ revision }) => revision);
  assert.deepEqual(
    revisions,
    revisions.toSorted((one, other) => one - other),
  );
});
