import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineContainer } from '../engine.ts';
import { isStoreError } from '../errors.ts';
import { creation, openThings, replacement, testClock } from './testing/engines.ts';

async function kindsOf(things: EngineContainer): Promise<string[]> {
  return (await things.changesAfter('0', 1000)).map(({ kind, id }) => `${kind} ${id}`);
}

describe('a write', () => {
  it('is all or nothing, and tells which operation was refused', async (t) => {
    const things = await openThings(t, { uniqueKeys: [{ name: 'name', paths: [['name']] }] });
    const [revision = 0] = await things.write('p', [creation('a', { name: 'x' })]);
    const refused: [string, number, Parameters<typeof things.write>[1]][] = [
      ['Exists', 1, [creation('b', {}), creation('a', {})]],
      ['UniqueKey', 1, [creation('b', {}), creation('c', { name: 'x' })]],
      ['Changed', 1, [creation('b', {}), replacement('a', revision + 1, {})]],
      ['NotFound', 2, [creation('b', {}), creation('c', {}), replacement('d', 1, {})]],
      ['Changed', 1, [creation('b', {}), { kind: 'delete', id: 'a', revision: 99 }]],
      ['NotFound', 1, [creation('b', {}), { kind: 'check', id: 'd', revision: 99 }]],
    ];
    for (const [code, operation, writes] of refused) {
      await assert.rejects(
        things.write('p', writes),
        (error) => isStoreError(error) && error.code === code && error.operation === operation,
        code,
      );
    }
    assert.deepEqual(await kindsOf(things), ['create a']);
  });

  it('too long for the main thread keeps every rule', async (t) => {
    const things = await openThings(t, { uniqueKeys: [{ name: 'name', paths: [['name']] }] });
    const large = 'x'.repeat(600_000);
    const [revision = 0] = await things.write('p', [creation('a', { name: 'x', large })]);
    await assert.rejects(
      things.write('p', [creation('b', { large }), creation('c', { name: 'x' })]),
      (error) => isStoreError(error, 'UniqueKey') && error.operation === 1 && error.uniqueKey === 'name',
    );
    await assert.rejects(things.write('p', [replacement('a', revision, { large })], { id: 'a', token: 1 }), (error) =>
      isStoreError(error, 'LeaseLost'),
    );
    const [second = 0] = await things.write('p', [replacement('a', revision, { name: 'y', large })]);
    await things.write('p', [{ kind: 'delete', id: 'a', revision: second }]);
    assert.equal(await things.read('p', 'a'), undefined);
    assert.deepEqual(await kindsOf(things), ['create a', 'replace a']);
    const rest = await things.changesAfter(String(second), 10);
    assert.deepEqual(
      rest.map(({ kind, json }) => [kind, json.length]),
      [['delete', JSON.stringify({ name: 'y', large }).length]],
    );
  });

  it('takes the place of what has expired, which leaves the feed with a delete first', async (t) => {
    const clock = testClock();
    const things = await openThings(
      t,
      { uniqueKeys: [{ name: 'name', paths: [['name'], ['of']] }] },
      { clock: clock.now },
    );
    await things.write('p', [
      creation('same id', {}, { ttlSeconds: 5 }),
      creation('same name', { name: 'x', of: 1 }, { ttlSeconds: 5 }),
      creation('other', { name: 'x', of: 2 }, { ttlSeconds: 5 }),
    ]);
    const taken = [creation('same id', {}), creation('new', { name: 'x', of: 1 })];
    await assert.rejects(things.write('p', taken), (error) => isStoreError(error, 'Exists'));
    clock.advance(5_001);
    await things.write('p', taken);
    assert.deepEqual((await kindsOf(things)).slice(3, 7), [
      'delete same id',
      'create same id',
      'delete same name',
      'create new',
    ]);
    assert.equal(await things.count(undefined, undefined), 2, 'the third has expired as well');
  });

  it('to a document that has expired finds nothing', async (t) => {
    const clock = testClock();
    const things = await openThings(t, {}, { clock: clock.now });
    const [revision = 0] = await things.write('p', [creation('a', {}, { ttlSeconds: 1 })]);
    clock.advance(1_001);
    assert.equal(await things.read('p', 'a'), undefined);
    const gone = (error: unknown) => isStoreError(error, 'NotFound');
    await assert.rejects(things.write('p', [replacement('a', revision, {})]), gone);
    await assert.rejects(things.write('p', [{ kind: 'delete', id: 'a', revision }]), gone);
    await assert.rejects(things.write('p', [{ kind: 'check', id: 'a', revision }]), gone);
  });

  it('compares unique values by JSON type and not when they are missing or null', async (t) => {
    const things = await openThings(t, { uniqueKeys: [{ name: 'v', paths: [['v']] }] });
    const values = [1, '1', true, 'true', 'null', {}, []];
    await things.write('p', [
      ...values.map((v, index) => creation(`v${index}`, { v })),
      creation('missing', {}),
      creation('missing too', {}),
      creation('null', { v: null }),
      creation('null too', { v: null }),
    ]);
    await things.write('q', [creation('other partition', { v: 1 })]);
    for (const v of values) {
      await assert.rejects(things.write('p', [creation('twin', { v })]), (error) => isStoreError(error, 'UniqueKey'));
    }
  });

  it('keeps labels in step with the document', async (t) => {
    const things = await openThings(t, { labels: ['labels'] });
    const found = async (key: string, value: string) => things.count('p', { op: 'label', key, value });
    const [first = 0] = await things.write('p', [
      creation(
        'a',
        {},
        {
          labels: [
            ['k', 'v'],
            ['l', 'w'],
          ],
        },
      ),
    ]);
    assert.deepEqual([await found('k', 'v'), await found('l', 'w')], [1, 1]);
    const [second = 0] = await things.write('p', [
      replacement(
        'a',
        first,
        {},
        {
          labels: [
            ['k', 'u'],
            ['l', 'w'],
          ],
        },
      ),
    ]);
    assert.deepEqual([await found('k', 'v'), await found('k', 'u'), await found('l', 'w')], [0, 1, 1]);
    await things.write('p', [{ kind: 'delete', id: 'a', revision: second }]);
    await things.write('p', [creation('a', {})]);
    assert.deepEqual([await found('k', 'u'), await found('l', 'w')], [0, 0]);
  });
});
