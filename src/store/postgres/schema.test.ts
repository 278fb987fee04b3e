import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Layout } from '../engine.ts';
import { isStoreError } from '../errors.ts';
import type { Filter } from '../filter.ts';
import { fieldValue } from './json-value.ts';
import { openPostgresEngine } from './open.ts';
import { filterSql } from './sql-filter.ts';
import { create, plain, testWorld } from './testing/world.ts';

const timeout = 60_000;

const full: Layout = {
  name: 'things',
  uniqueKeys: [{ name: 'by name', paths: [['name'], ['kind']] }],
  indexes: [
    { field: ['state'], type: 'string' },
    { field: ['a', "it's"], type: 'number' },
    { field: ['on'], type: 'boolean' },
  ],
  labels: ['labels'],
};

test('many processes may open the same containers at once, and open them again', { timeout }, async (t) => {
  const world = await testWorld(t);
  const engines = await Promise.all(Array.from({ length: 4 }, () => world.engine({ maxConnections: 2 })));
  const layouts = [full, { ...full, name: 'others' }];
  await Promise.all(engines.flatMap((engine) => layouts.map((layout) => engine.open(layout))));
  const secrets = await Promise.all(engines.map((engine) => engine.secret('s')));
  assert.equal(new Set(secrets.map((secret) => secret.toString('hex'))).size, 1);
  assert.equal(secrets[0]?.length, 32);
});

test('a schema of a newer version is not touched', { timeout }, async (t) => {
  const world = await testWorld(t);
  await (await world.engine()).close();
  await (await world.raw()).query(`UPDATE ${world.schema}.meta SET value = '99' WHERE name = 'version'`);
  await assert.rejects(
    world.engine(),
    (error) => isStoreError(error, 'Corrupt') && /version 99.*newer/.test(error.message),
  );
});

test('indexes and unique keys declared later are made over what is there, and unique keys given up go', {
  timeout,
}, async (t) => {
  const world = await testWorld(t);
  const engine = await world.engine();
  const before = await engine.open(plain);
  await before.write('p', [create('a', { name: 'x', kind: 1 }), create('b', { name: 'x', kind: 1, state: 'up' })]);
  await assert.rejects(engine.open(full), (error) => isStoreError(error, 'UniqueKey') && error.uniqueKey === 'by name');

  const [row] = (await before.query({ orderBy: [], limit: 1, offset: 0 })).rows;
  await before.write('p', [{ kind: 'delete', id: 'a', revision: row?.row.revision ?? 0 }]);
  // While others write: an index must not keep them waiting, and must not miss what they wrote.
  const writing = Promise.all(
    Array.from({ length: 50 }, (_, n) => before.write('q', [create(`d${n}`, { state: 'up' })])),
  );
  const after = await engine.open(full);
  await writing;
  const up: Filter = { op: 'eq', field: ['state'], value: 'up' };
  assert.equal(await after.count(undefined, up), 51);
  await assert.rejects(
    after.write('p', [create('c', { name: 'x', kind: 1 })]),
    (error) => isStoreError(error, 'UniqueKey') && error.operation === 0,
  );
  await (await engine.open(plain)).write('p', [create('c', { name: 'x', kind: 1 })]);
});

test('every declared filter and order is served by its index', { timeout }, async (t) => {
  const world = await testWorld(t);
  const engine = await world.engine();
  const container = await engine.open(full);
  const states = ['up', 'down', 'x'.repeat(300)];
  for (let batch = 0; batch < 10; batch++) {
    const bodies = Array.from({ length: 100 }, (_, n) => ({
      state: `${states[n % 3]}${batch}-${n}`,
      a: { "it's": n },
      on: n === 0,
      labels: { [`l${n}`]: 'v' },
    }));
    await container.write(
      `p${batch}`,
      bodies.map((body, n) => create(`d${n}`, body)),
    );
  }
  const raw = await world.raw();
  // As the store's own connections have it.
  await raw.query(`ANALYZE ${world.schema}.things_documents; SET enable_seqscan = off`);
  const filters: Filter[] = [
    { op: 'eq', field: ['state'], value: 'up3-3' },
    { op: 'eq', field: ['state'], value: `${'x'.repeat(300)}3-2` },
    { op: 'in', field: ['state'], values: ['up3-3', 'down3-1'] },
    { op: 'prefix', field: ['state'], value: 'up3-3' },
    { op: 'between', field: ['state'], low: 'up3-3', high: 'up3-6' },
    { op: 'gt', field: ['a', "it's"], value: 98 },
    { op: 'eq', field: ['on'], value: true },
    { op: 'label', key: 'l7', value: 'v' },
    { op: 'labelIn', key: 'l7', values: ['u', 'v'] },
    { op: 'hasLabel', key: 'l7' },
  ];
  const planOf = async (rest: string, values: unknown[]) => {
    const text = `EXPLAIN SELECT * FROM ${world.schema}.things_documents d ${rest}`;
    const { rows } = await raw.query<{ 'QUERY PLAN': string }>(text, values);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  for (const filter of filters) {
    assert.ok((await container.count(undefined, filter)) > 0, JSON.stringify(filter));
    const values: unknown[] = [];
    const where = filterSql(full, filter, (value, type) => `$${values.push(value)}::${type}`);
    assert.match(await planOf(`WHERE ${where}`, values), /things_(by|labels)_/, JSON.stringify(filter));
  }
  const { exact } = fieldValue(full, ['a', "it's"], 'number', () => assert.fail('a declared field is written out'));
  const inOrder = `ORDER BY ${exact} NULLS FIRST, partition, id LIMIT 10`;
  const plan = await planOf(inOrder, []);
  assert.match(plan, /things_by_/);
  assert.doesNotMatch(plan, /Sort/);
});

test('values at the limits of an index entry are stored, found and kept unique', { timeout }, async (t) => {
  const world = await testWorld(t);
  const container = await (await world.engine()).open(full);
  // Four bytes each and without repetition, so that nothing is gained by compression.
  const wide = (length: number, seed: number) =>
    Array.from({ length }, (_, n) => String.fromCodePoint(0x20000 + ((n * 7919 + seed * 104_729) % 40_000))).join('');
  const key = (seed: number) => wide(255, seed);
  const long = wide(20_000, 1);
  await container.write(key(1), [create(key(2), { state: long, name: long, kind: long, labels: { [long]: long } })]);
  assert.equal(await container.count(undefined, { op: 'eq', field: ['state'], value: long }), 1);
  assert.equal(await container.count(undefined, { op: 'eq', field: ['state'], value: `${long}x` }), 0);
  assert.equal(await container.count(undefined, { op: 'lt', field: ['state'], value: `${long}x` }), 1);
  assert.equal(await container.count(undefined, { op: 'gt', field: ['state'], value: long.slice(0, -2) }), 1);
  assert.equal(await container.count(undefined, { op: 'ne', field: ['state'], value: `${long.slice(0, -2)}x` }), 1);
  assert.equal(await container.count(undefined, { op: 'prefix', field: ['state'], value: long.slice(0, -2) }), 1);
  assert.equal(await container.count(undefined, { op: 'label', key: long, value: long }), 1);
  await assert.rejects(container.write(key(1), [create(key(3), { name: long, kind: long })]), (error) =>
    isStoreError(error, 'UniqueKey'),
  );
  await container.write(key(1), [create(key(3), { name: long, kind: `${long}x` })]);
});

test('names that cannot be are refused', async (t) => {
  const world = await testWorld(t);
  for (const schema of ['', 'Upper', 'pg_own', 'a"b', 'x'.repeat(41)]) {
    await assert.rejects(openPostgresEngine({ server: world.url, schema }), (error) => isStoreError(error, 'Invalid'));
  }
  const engine = await world.engine();
  await assert.rejects(engine.open({ ...plain, name: 'a"b' }), (error) => isStoreError(error, 'Invalid'));
});

test('what jsonb cannot hold is refused without showing it', { timeout }, async (t) => {
  const container = await (await (await testWorld(t)).engine()).open(full);
  const secret = 'the hidden part';
  const refused = [
    JSON.stringify({ a: `${secret}\0` }),
    `{"a":"${secret}\\ud800"}`,
    `{"a":"${secret}"`,
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  ];
  for (const json of refused) {
    await assert.rejects(container.write('p', [{ kind: 'create', id: 'd', json, labels: [] }]), (error) => {
      assert.ok(isStoreError(error, 'Invalid'));
      assert.ok(!`${error.stack} ${String(error.cause)} ${JSON.stringify(error)}`.includes('hidden'));
      return true;
    });
  }
});
