import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Key } from '../../store.ts';
import { refused, type World } from './world.ts';

export function verbs(world: World): void {
  describe('documents', () => {
    it('reads what was created, with the etag and revision that create answered', async () => {
      const things = await world.container();
      const body = { name: 'one', nested: { list: [1, 'two', null, { three: true }] }, empty: {}, none: [] };
      const created = await things.create({ partition: 'p', id: 'a' }, body);
      assert.equal(created.body, body);
      assert.deepEqual(await things.read({ partition: 'p', id: 'a' }), created);
      assert.equal(await things.read({ partition: 'p', id: 'b' }), undefined);
      assert.equal(await things.read({ partition: 'q', id: 'a' }), undefined);
    });

    it('refuses to create a document that is there', async () => {
      const things = await world.container();
      await things.create({ partition: 'p', id: 'a' }, { n: 1 });
      await refused(things.create({ partition: 'p', id: 'a' }, { n: 2 }), 'Exists');
      assert.deepEqual((await things.read({ partition: 'p', id: 'a' }))?.body, { n: 1 });
    });

    it('replaces only the version it was given', async () => {
      const things = await world.container<{ n: number }>();
      const first = await things.create({ partition: 'p', id: 'a' }, { n: 1 });
      const second = await things.replace(first, { n: 2 });
      assert.notEqual(second.etag, first.etag);
      assert(second.revision > first.revision);
      await refused(things.replace(first, { n: 3 }), 'Changed');
      assert.deepEqual(await things.read(first), second);
      await refused(things.replace({ ...first, id: 'b' }, { n: 3 }), 'NotFound');
    });

    it('treats a malformed etag as one that no version has', async () => {
      const things = await world.container<{ n: number }>();
      const made = await things.create({ partition: 'p', id: 'a' }, { n: 1 });
      for (const etag of [
        '',
        '*',
        '0',
        '-1',
        '1e3',
        ' 1',
        '1 ',
        '01',
        '99999999999999999999',
        '"1"',
        'x'.repeat(9999),
      ]) {
        await refused(things.replace({ ...made, etag }, { n: 2 }), 'Changed');
        await refused(things.delete({ ...made, etag }), 'Changed');
      }
      await refused(things.replace({ ...made, etag: 1 as unknown as string }, { n: 2 }), 'Changed');
      assert.deepEqual(await things.read(made), made);
    });

    it('deletes only the version it was given', async () => {
      const things = await world.container<{ n: number }>();
      const first = await things.create({ partition: 'p', id: 'a' }, { n: 1 });
      const second = await things.replace(first, { n: 2 });
      await refused(things.delete(first), 'Changed');
      await things.delete(second);
      assert.equal(await things.read(first), undefined);
      await refused(things.delete(second), 'NotFound');
    });

    it('never gives an etag twice, also when a document is created again', async () => {
      const things = await world.container<{ n: number }>();
      const etags = new Set<string>();
      let last = 0;
      for (let round = 0; round < 5; round++) {
        const made = await things.create({ partition: 'p', id: 'a' }, { n: round });
        const changed = await things.replace(made, { n: -round });
        for (const { etag, revision } of [made, changed]) {
          assert(!etags.has(etag));
          etags.add(etag);
          assert(revision > last);
          last = revision;
        }
        await things.delete(changed);
      }
    });

    it('keeps partitions and containers apart', async () => {
      const [things, others] = [await world.container<{ n: number }>(), await world.container<{ n: number }>()];
      await things.create({ partition: 'p', id: 'a' }, { n: 1 });
      await things.create({ partition: 'q', id: 'a' }, { n: 2 });
      await others.create({ partition: 'p', id: 'a' }, { n: 3 });
      assert.deepEqual((await things.read({ partition: 'p', id: 'a' }))?.body, { n: 1 });
      assert.deepEqual((await things.read({ partition: 'q', id: 'a' }))?.body, { n: 2 });
      assert.deepEqual((await others.read({ partition: 'p', id: 'a' }))?.body, { n: 3 });
    });

    it('takes any key of 1 to 1,023 bytes, as it is', async () => {
      const things = await world.container<{ of: Key }>();
      const texts = [
        "'); DROP TABLE x; --",
        'a"b',
        'a\\b',
        '%_$*?',
        '/subscriptions/0/a b',
        'é',
        'E\u0301',
        '\u{1f600}',
        ' ',
      ];
      const keys = texts.flatMap((text) => [
        { partition: text, id: 'a' },
        { partition: 'p', id: text },
      ]);
      keys.push({ partition: 'x'.repeat(1023), id: '€'.repeat(341) });
      for (const key of keys) await things.create(key, { of: key });
      for (const key of keys) assert.deepEqual((await things.read(key))?.body, { of: key });
      assert.equal(await things.count(), keys.length);
    });

    it('answers from the same data after it was closed and opened again', async () => {
      const spec = { name: world.unique() };
      const before = await world.open();
      const made = await (await before.container<{ n: number }>(spec)).create({ partition: 'p', id: 'a' }, { n: 1 });
      await before.close();
      const again = await (await world.open()).container<{ n: number }>(spec);
      assert.deepEqual(await again.read(made), made);
      assert((await again.replace(made, { n: 2 })).revision > made.revision);
    });

    it('gives back every JSON object that was put in', async () => {
      const things = await world.container<{ value: fc.JsonValue }>();
      let count = 0;
      const storable = (text: string) => text.isWellFormed() && !text.includes('\0');
      const strings = fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'binary' }).filter(storable),
        fc.constantFrom('\\u0000', '\\\\u0000', '\\ud800', '"', '\n\u2028', '[redacted]', '\u0001', '\ufffe'),
      );
      const { value } = fc.letrec<{ value: fc.JsonValue }>((tie) => ({
        value: fc.oneof(
          { maxDepth: 4, withCrossShrink: true },
          fc.oneof(strings, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
          fc.array(tie('value'), { maxLength: 5 }),
          fc.dictionary(strings, tie('value'), { maxKeys: 5, noNullPrototype: true }),
        ),
      }));
      await fc.assert(
        fc.asyncProperty(value, async (stored) => {
          const made = await things.create({ partition: 'p', id: `d${++count}` }, { value: stored });
          assert.deepEqual((await things.read(made))?.body, JSON.parse(JSON.stringify({ value: stored })));
        }),
        { numRuns: 200 },
      );
    });
  });

  describe('update', () => {
    it('reads, changes and replaces', async () => {
      const things = await world.container<{ n: number }>();
      const made = await things.create({ partition: 'p', id: 'a' }, { n: 1 });
      const changed = await things.update(made, ({ n }) => ({ n: n + 1 }));
      assert.deepEqual(changed.body, { n: 2 });
      assert.deepEqual(await things.read(made), changed);
    });

    it('leaves the document as it is when there is nothing to change', async () => {
      const things = await world.container<{ n: number }>();
      const made = await things.create({ partition: 'p', id: 'a' }, { n: 1 });
      assert.deepEqual(await things.update(made, () => undefined), made);
      assert.deepEqual(await things.read(made), made);
    });

    it('takes a body changed in place', async () => {
      const things = await world.container<{ n: number }>();
      const made = await things.create({ partition: 'p', id: 'a' }, { n: 1 });
      await things.update(made, (body) => {
        body.n = 5;
        return body;
      });
      assert.deepEqual((await things.read(made))?.body, { n: 5 });
    });

    it('loses no change of others', async () => {
      const things = await world.container<{ n: number }>();
      const made = await things.create({ partition: 'p', id: 'a' }, { n: 0 });
      await Promise.all(Array.from({ length: 8 }, () => things.update(made, ({ n }) => ({ n: n + 1 }))));
      assert.deepEqual((await things.read(made))?.body, { n: 8 });
    });

    it('refuses a document that is not there', async () => {
      const things = await world.container<{ n: number }>();
      await refused(
        things.update({ partition: 'p', id: 'a' }, () => ({ n: 1 })),
        'NotFound',
      );
    });

    it('passes on what the change itself throws', async () => {
      const things = await world.container<{ n: number }>();
      const made = await things.create({ partition: 'p', id: 'a' }, { n: 0 });
      const wrong = new Error('wrong');
      await assert.rejects(
        things.update(made, () => {
          throw wrong;
        }),
        wrong,
      );
    });
  });

  describe('the store', () => {
    it('tells the time of the database', async () => {
      assert(Math.abs((await world.store.now()) - Date.now()) < 60_000);
      await world.store.ping();
    });

    it('refuses everything once it is closed', async () => {
      const store = await world.open();
      const name = world.unique();
      const things = await store.container<{ n: number }>({ name, queue: () => 'q' });
      const made = await things.create({ partition: 'p', id: 'a' }, { n: 1 });
      const lease = (await things.leases.claim({ owner: 'o', leaseSeconds: 60 }))[0]?.lease;
      assert(lease);
      await store.close();
      await store.close();
      const calls: (() => Promise<unknown>)[] = [
        () => store.container({ name }),
        () => store.now(),
        () => store.ping(),
        () => things.create({ partition: 'p', id: 'b' }, { n: 1 }),
        () => things.read(made),
        () => things.replace(made, { n: 2 }),
        () => things.update(made, () => ({ n: 2 })),
        () => things.delete(made),
        () => things.batch('p', [{ kind: 'check', version: made }]),
        () => things.query({}),
        () => things.count(),
        () => things.changes({ from: 'now' })[Symbol.asyncIterator]().next(),
        () => things.leases.claim({ owner: 'o', leaseSeconds: 60 }),
        () => things.leases.claimOne(made, { owner: 'o', leaseSeconds: 60 }),
        () => things.leases.renew(lease),
        () => things.leases.renewAll([lease]),
        () => things.leases.release(lease),
        () => things.leases.waiting(),
        () => things.reseal(),
      ];
      for (const call of calls) await refused(call(), 'Closed');
    });
  });
}
