import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, Operation } from '../../store.ts';
import { type Body, refused, type World } from './world.ts';

const partition = 'p';

export function batches(world: World): void {
  describe('a batch', () => {
    const three = async (spec = {}) => {
      const things = await world.container<Body>(spec);
      const make = (id: string) => things.create({ partition, id }, { name: id });
      return { things, a: await make('a'), b: await make('b'), c: await make('c') };
    };
    const state = async (things: Container<Body>) =>
      (await things.query({})).documents.map(({ id, etag, body }) => [id, etag, body.name]);

    it('creates, replaces, deletes and checks at once', async () => {
      const { things, a, b, c } = await three();
      const answers = await things.batch(partition, [
        { kind: 'create', id: 'd', body: { name: 'new' } },
        { kind: 'replace', version: a, body: { name: 'changed' } },
        { kind: 'delete', version: b },
        { kind: 'check', version: c },
      ]);
      assert.equal(answers.length, 4);
      assert.deepEqual(await things.read({ partition, id: 'd' }), answers[0]);
      assert.deepEqual(await things.read(a), answers[1]);
      assert.deepEqual(answers.slice(2), [undefined, undefined]);
      assert.equal(await things.read(b), undefined);
      assert.deepEqual(await things.read(c), c);
      assert.deepEqual(answers[1]?.body, { name: 'changed' });
    });

    it('changes nothing when one operation is refused, and says which', async () => {
      const uniqueKeys = [{ name: 'name', paths: [['name']] }];
      const { things, a, b, c } = await three({ uniqueKeys });
      const before = await state(things);
      const good: Operation<Body>[] = [
        { kind: 'create', id: 'd', body: { name: 'd' } },
        { kind: 'replace', version: a, body: { name: 'changed' } },
        { kind: 'delete', version: b },
      ];
      const stale = { ...c, etag: a.etag };
      const wrong: readonly [Operation<Body>, Parameters<typeof refused>[1]][] = [
        [{ kind: 'create', id: 'c', body: {} }, 'Exists'],
        [{ kind: 'create', id: 'e', body: { name: 'c' } }, 'UniqueKey'],
        [{ kind: 'replace', version: stale, body: {} }, 'Changed'],
        [{ kind: 'replace', version: { ...c, id: 'e' }, body: {} }, 'NotFound'],
        [{ kind: 'delete', version: stale }, 'Changed'],
        [{ kind: 'delete', version: { ...c, id: 'e' } }, 'NotFound'],
        [{ kind: 'check', version: stale }, 'Changed'],
        [{ kind: 'check', version: { ...c, id: 'e' } }, 'NotFound'],
        [{ kind: 'check', version: { ...c, etag: 'none' } }, 'Changed'],
        [{ kind: 'create', id: 'e', body: { text: '\0' } }, 'Invalid'],
      ];
      for (const [operation, code] of wrong) {
        const error = await refused(things.batch(partition, [...good, operation]), code);
        if (code !== 'Invalid') assert.equal(error.operation, 3, code);
        assert.deepEqual(await state(things), before);
      }
      const first = await refused(
        things.batch(partition, [{ kind: 'check', version: stale }, ...good.slice(0, 1)]),
        'Changed',
      );
      assert.equal(first.operation, 0);
    });

    it('lets a value of a unique key change hands', async () => {
      const { things, a, b } = await three({ uniqueKeys: [{ name: 'name', paths: [['name']] }] });
      await things.batch(partition, [
        { kind: 'delete', version: a },
        { kind: 'create', id: 'd', body: { name: 'a' } },
      ]);
      await things.batch(partition, [
        { kind: 'replace', version: b, body: { name: 'bb' } },
        { kind: 'create', id: 'e', body: { name: 'b' } },
      ]);
    });

    it('is refused before anything is written when it is too large', async () => {
      const { things } = await three();
      const before = await state(things);
      const many: Operation<Body>[] = Array.from({ length: 100_001 }, (_, at) => ({
        kind: 'create',
        id: `x${at}`,
        body: {},
      }));
      const error = await refused(things.batch(partition, many), 'TooLarge');
      assert.match(error.message, /100001 operations/);
      const text = 'x'.repeat(1_000_000);
      const heavy: Operation<Body>[] = Array.from({ length: 99 }, (_, at) => ({
        kind: 'create',
        id: `x${at}`,
        body: { text },
      }));
      await refused(things.batch(partition, heavy), 'TooLarge');
      const single: Operation<Body> = { kind: 'create', id: 'y', body: { text: 'x'.repeat(64 * 1024 * 1024) } };
      const one = await refused(things.batch(partition, [{ kind: 'create', id: 'x', body: {} }, single]), 'TooLarge');
      assert.equal(one.operation, 1);
      assert.deepEqual(await state(things), before);
    });

    it('takes a hundred documents', async () => {
      const things = await world.container<Body>();
      const operations: Operation<Body>[] = Array.from({ length: 100 }, (_, at) => ({
        kind: 'create',
        id: `d${at}`,
        body: { at },
      }));
      const answers = await things.batch(partition, operations);
      assert.equal(await things.count(), 100);
      const revisions = answers.map((document) => document?.revision ?? 0);
      assert.deepEqual(
        revisions.toSorted((one, other) => one - other),
        revisions,
        'revisions grow in the order given',
      );
    });

    it('is of one partition, has one operation for a document, and may be empty', async () => {
      const { things, a } = await three();
      const other = await things.create({ partition: 'q', id: 'a' }, {});
      await refused(things.batch(partition, [{ kind: 'delete', version: other }]), 'Invalid');
      const twice = await refused(
        things.batch(partition, [
          { kind: 'check', version: a },
          { kind: 'delete', version: a },
        ]),
        'Invalid',
      );
      assert.equal(twice.operation, 1);
      const unknown = { kind: 'upsert', version: a } as unknown as Operation<Body>;
      await refused(things.batch(partition, [unknown]), 'Invalid');
      await refused(things.batch(partition, [null as unknown as Operation<Body>]), 'Invalid');
      await refused(things.batch(partition, {} as unknown as Operation<Body>[]), 'Invalid');
      assert.deepEqual(await things.batch(partition, []), []);
    });
  });
}
