import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineClaim, EngineContainer } from '../engine.ts';
import { isStoreError } from '../errors.ts';
import { create, plain, testWorld, until } from './testing/world.ts';

const timeout = 60_000;
const ids = (claims: readonly EngineClaim[]) => claims.map(({ row }) => row.id);

async function drain(container: EngineContainer, owner: string, max = 1): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const claims = await container.claim(owner, 600, max, undefined);
    if (claims.length === 0) return found;
    found.push(...ids(claims));
  }
}

test('claimants at the same time share one fairness key without waiting empty-handed', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine()).open(plain);
  const writes = Array.from({ length: 96 }, (_, index) => create(`d${index}`, {}, { queue: 'one key' }));
  await container.write('p', writes);
  // 8 claims of 12 at once: none may come back empty while so much waits.
  const claims = await Promise.all(
    Array.from({ length: 8 }, (_, n) => container.claim(`owner ${n}`, 600, 12, undefined)),
  );
  assert.ok(claims.every((found) => found.length > 0));
  const all = [...claims.flatMap(ids), ...(await drain(container, 'last'))];
  assert.equal(all.length, 96);
  assert.equal(new Set(all).size, 96);
});

test('a key that runs empty while documents are added to it loses none of them', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine({ maxConnections: 12 })).open(plain);
  const rounds = 60;
  let isWriting = 4;
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let index = 0; index < rounds; index++) {
      await container.write(`p${writer}`, [create(`${writer}-${index}`, {}, { queue: `key ${index % 2}` })]);
    }
    isWriting--;
  });
  const found: string[] = [];
  const claimants = Array.from({ length: 4 }, async (_, n) => {
    for (;;) {
      const wasWriting = isWriting > 0;
      const claimed = await drain(container, `owner ${n}`);
      found.push(...claimed);
      if (!wasWriting && claimed.length === 0) return;
    }
  });
  await Promise.all([...writers, ...claimants]);
  assert.equal(await container.waiting(), 0);
  assert.equal(found.length, 4 * rounds);
  assert.equal(new Set(found).size, 4 * rounds);
});

test('a writer whose document is not yet visible keeps the turn of its key', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine()).open(plain);
  await container.write('p', [create('first', {}, { queue: 'k' })]);
  const [first] = await container.claim('a', 600, 1, undefined);
  assert.equal(first?.row.id, 'first');

  // The writer has added its document and seen that the key still has a turn, and has not committed.
  const raw = await world.raw();
  await raw.query('BEGIN');
  const { rows } = await raw.query<{ name: string }>(
    `SELECT proname AS name FROM pg_proc WHERE pronamespace = '${world.schema}'::regnamespace AND proname LIKE 'things_create_%'`,
  );
  await raw.query(`SELECT ${world.schema}.${rows[0]?.name}('q', 'second', NULL, '{}', NULL, 'k', NULL, NULL)`);
  assert.deepEqual(await container.claim('a', 600, 1, undefined), []);
  await raw.query('COMMIT');
  assert.deepEqual(ids(await container.claim('a', 600, 1, undefined)), ['second']);
});

test('a claim does not get between the check of a fence and its commit', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine()).open(plain);
  await container.write('p', [create('d', {}, { queue: 'k' })]);
  const [claim] = await container.claim('a', 0.3, 1, undefined);
  assert.ok(claim);
  // A write under the lease, checked and not yet committed.
  const raw = await world.raw();
  await raw.query('BEGIN');
  const { rows } = await raw.query<{ name: string }>(
    `SELECT proname AS name FROM pg_proc WHERE pronamespace = '${world.schema}'::regnamespace AND proname LIKE 'things_create_%'`,
  );
  const under = `SELECT ${world.schema}.${rows[0]?.name}('p', 'made under it', NULL, '{}', NULL, NULL, 'd', ${claim.token})`;
  await raw.query(under);
  // The lease lapses meanwhile, and still nobody gets the document.
  await new Promise((settle) => setTimeout(settle, 500));
  assert.deepEqual(await container.claim('b', 60, 1, undefined), []);
  await raw.query('COMMIT');
  const [taken] = await container.claim('b', 60, 1, undefined);
  assert.equal(taken?.row.id, 'd');
  assert.ok(taken.token > claim.token);
  await assert.rejects(container.write('p', [create('too late')], { id: 'd', token: claim.token }), (error) =>
    isStoreError(error, 'LeaseLost'),
  );
});

test('a clock that was set back does not keep documents waiting', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine()).open(plain);
  await container.write('p', [create('leased', {}, { queue: 'k' }), create('put off', {}, { queue: 'k' })]);
  const claims = await container.claim('a', 60, 2, undefined);
  const other = claims.find(({ row }) => row.id === 'put off');
  assert.ok(other);
  await container.release({ partition: 'p', id: 'put off', token: other.token }, 60);
  assert.deepEqual(await container.claim('b', 60, 2, undefined), []);
  // To the database's clock it now looks as if both had been set an hour from now.
  const raw = await world.raw();
  await raw.query(
    `UPDATE ${world.schema}.things_queue SET since = since + interval '1 hour', wake_at = wake_at + interval '1 hour'`,
  );
  assert.deepEqual(ids(await container.claim('b', 60, 2, undefined)).toSorted(), ['leased', 'put off']);
});

test('the limit of an owner holds for claims at the same time', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine()).open(plain);
  await container.write(
    'p',
    Array.from({ length: 40 }, (_, n) => create(`d${n}`, {}, { queue: `k${n % 5}` })),
  );
  const claims = await Promise.all(Array.from({ length: 8 }, () => container.claim('greedy', 600, 3, 7)));
  assert.equal(claims.flat().length, 7);
  assert.equal((await container.claim('modest', 600, 3, 7)).length, 3);
});

test('keys take turns, whatever the length of their lines', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine()).open(plain);
  const lines = { long: 12, short: 2, middle: 4 };
  for (const [key, length] of Object.entries(lines)) {
    await container.write(
      key,
      Array.from({ length }, (_, n) => create(`${key} ${n}`, {}, { queue: key })),
    );
  }
  assert.deepEqual((await drain(container, 'a')).slice(0, 8), [
    'long 0',
    'short 0',
    'middle 0',
    'long 1',
    'short 1',
    'middle 1',
    'long 2',
    'middle 2',
  ]);
  const { rows } = await (await world.raw()).query(`SELECT 1 FROM ${world.schema}.things_turns`);
  assert.equal(rows.length, 0, 'turns of empty keys are removed');
});

test('writers and claimants on many keys neither deadlock nor lose anything', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine({ maxConnections: 12 })).open(plain);
  const keys = Array.from({ length: 12 }, (_, n) => `k${n}`);
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let batch = 0; batch < 15; batch++) {
      // Each batch brings all keys, in another order every time.
      const order = keys.toSorted(() => Math.random() - 0.5);
      await container.write(
        `p${writer}`,
        order.map((queue) => create(`${writer}-${batch}-${queue}`, {}, { queue })),
      );
    }
  });
  const found: string[] = [];
  let isWriting = true;
  const claimants = Array.from({ length: 4 }, async (_, n) => {
    while (isWriting || (await container.waiting()) > 0) {
      for (const { row, token } of await container.claim(`owner ${n}`, 600, 5, undefined)) {
        found.push(row.id);
        const { partition, id, revision } = row;
        await container.write(partition, [{ kind: 'delete', id, revision }], { id, token });
      }
    }
  });
  await Promise.all(writers);
  isWriting = false;
  await Promise.all(claimants);
  assert.equal(new Set(found).size, 4 * 15 * 12);
  assert.equal(found.length, 4 * 15 * 12);
  assert.equal(await container.count(undefined, undefined), 0);
});

test('fairness keys of any length are taken', { timeout }, async (t) => {
  const container = await (await (await testWorld(t)).engine()).open(plain);
  const key = (last: string) =>
    Array.from({ length: 3000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7919) % 20_000))).join('') + last;
  await container.write('p', [create('a', {}, { queue: key('1') }), create('b', {}, { queue: key('1') })]);
  await container.write('p', [create('c', {}, { queue: key('2') })]);
  await until(async () => (await container.waiting()) === 3);
  assert.deepEqual(await drain(container, 'o'), ['a', 'c', 'b']);
});
