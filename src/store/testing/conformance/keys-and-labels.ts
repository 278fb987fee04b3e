import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Filter } from '../../filter.ts';
import type { Container } from '../../store.ts';
import { type Body, refused, type World } from './world.ts';

async function ids(things: Container<Body>, filter: Filter): Promise<string[]> {
  return (await things.query({ filter })).documents.map(({ id }) => id);
}

export function keysAndLabels(world: World): void {
  describe('unique keys', () => {
    const uniqueKeys = [
      { name: 'name', paths: [['name']] },
      {
        name: 'place',
        paths: [
          ['at', 'x'],
          ['at', 'y'],
        ],
      },
    ];

    it('keep two documents of a partition from sharing the values', async () => {
      const things = await world.container({ uniqueKeys });
      await things.create({ partition: 'p', id: 'a' }, { name: 'one', at: { x: 1, y: 1 } });
      const error = await refused(things.create({ partition: 'p', id: 'b' }, { name: 'one' }), 'UniqueKey');
      assert.equal(error.uniqueKey, 'name');
      assert(!error.message.includes('one'));
      const other = await refused(things.create({ partition: 'p', id: 'b' }, { at: { y: 1, x: 1 } }), 'UniqueKey');
      assert.equal(other.uniqueKey, 'place');
      assert.equal(await things.count(), 1);
      await things.create({ partition: 'p', id: 'b' }, { name: 'two', at: { x: 1, y: 2 } });
      await things.create({ partition: 'q', id: 'a' }, { name: 'one', at: { x: 1, y: 1 } });
    });

    it('do not compare missing values', async () => {
      const things = await world.container({ uniqueKeys });
      await things.create({ partition: 'p', id: 'a' }, {});
      await things.create({ partition: 'p', id: 'b' }, {});
      await things.create({ partition: 'p', id: 'c' }, { at: { x: 1 } });
      await things.create({ partition: 'p', id: 'd' }, { at: { x: 1 } });
      await things.create({ partition: 'p', id: 'e' }, { name: null });
      await things.create({ partition: 'p', id: 'f' }, { name: null });
    });

    it('hold in a replace, and are free again once given up', async () => {
      const things = await world.container({ uniqueKeys });
      const a = await things.create({ partition: 'p', id: 'a' }, { name: 'one' });
      const b = await things.create({ partition: 'p', id: 'b' }, { name: 'two' });
      await refused(things.replace(b, { name: 'one' }), 'UniqueKey');
      assert.deepEqual(await things.read(b), b);
      await things.replace(a, { name: 'one', more: 1 });
      const c = await things.update(a, () => ({ name: 'three' }));
      await things.replace(b, { name: 'one' });
      await things.delete(c);
      await things.create({ partition: 'p', id: 'a' }, { name: 'three' });
    });

    it('tell a text from a number and one case from the other', async () => {
      const things = await world.container({ uniqueKeys });
      await things.create({ partition: 'p', id: 'a' }, { name: '1' });
      await things.create({ partition: 'p', id: 'b' }, { name: 1 });
      await things.create({ partition: 'p', id: 'c' }, { name: 'x' });
      await things.create({ partition: 'p', id: 'd' }, { name: 'X' });
      await things.create({ partition: 'p', id: 'e' }, { name: true });
      await refused(things.create({ partition: 'p', id: 'f' }, { name: 1 }), 'UniqueKey');
    });

    it('are checked for the documents there when a container gets one later', async () => {
      const name = world.unique();
      const before = await world.store.container<Body>({ name });
      await before.create({ partition: 'p', id: 'a' }, { name: 'one' });
      const later = await world.store.container<Body>({
        name,
        uniqueKeys,
        indexes: [{ field: ['name'], type: 'string' }],
      });
      await refused(later.create({ partition: 'p', id: 'b' }, { name: 'one' }), 'UniqueKey');
      assert.deepEqual(await ids(later, { op: 'eq', field: ['name'], value: 'one' }), ['a']);
    });
  });

  describe('labels', () => {
    const spec = { labels: ['metadata', 'labels'] };
    const labelled = (labels: Record<string, string>) => ({ metadata: { labels } });

    it('are found by key and value, by key and any of some values, and by key', async () => {
      const things = await world.container<Body>(spec);
      await things.create({ partition: 'p', id: 'a' }, labelled({ app: 'web', 'app.kubernetes.io/name': 'x' }));
      await things.create({ partition: 'p', id: 'b' }, labelled({ app: 'db', empty: '' }));
      await things.create({ partition: 'p', id: 'c' }, labelled({ App: 'web' }));
      await things.create({ partition: 'p', id: 'd' }, {});
      await things.create({ partition: 'p', id: 'e' }, { metadata: null });
      assert.deepEqual(await ids(things, { op: 'label', key: 'app', value: 'web' }), ['a']);
      assert.deepEqual(await ids(things, { op: 'label', key: 'app.kubernetes.io/name', value: 'x' }), ['a']);
      assert.deepEqual(await ids(things, { op: 'label', key: 'empty', value: '' }), ['b']);
      assert.deepEqual(await ids(things, { op: 'labelIn', key: 'app', values: ['db', 'web', 'no'] }), ['a', 'b']);
      assert.deepEqual(await ids(things, { op: 'labelIn', key: 'app', values: [] }), []);
      assert.deepEqual(await ids(things, { op: 'hasLabel', key: 'app' }), ['a', 'b']);
      const not: Filter = { op: 'not', filter: { op: 'label', key: 'app', value: 'web' } };
      assert.deepEqual(await ids(things, not), ['b', 'c', 'd', 'e']);
      const both: Filter = { op: 'and', filters: [not, { op: 'hasLabel', key: 'app' }] };
      assert.deepEqual(await ids(things, both), ['b']);
      assert.equal(await things.count({ filter: both }), 1);
    });

    it('follow the document', async () => {
      const things = await world.container<Body>(spec);
      const made = await things.create({ partition: 'p', id: 'a' }, labelled({ app: 'web', tier: 'one' }));
      const changed = await things.replace(made, labelled({ app: 'db' }));
      assert.deepEqual(await ids(things, { op: 'label', key: 'app', value: 'web' }), []);
      assert.deepEqual(await ids(things, { op: 'hasLabel', key: 'tier' }), []);
      assert.deepEqual(await ids(things, { op: 'label', key: 'app', value: 'db' }), ['a']);
      await things.delete(changed);
      assert.deepEqual(await ids(things, { op: 'hasLabel', key: 'app' }), []);
      await things.create({ partition: 'p', id: 'a' }, {});
      assert.deepEqual(await ids(things, { op: 'hasLabel', key: 'app' }), []);
    });

    it('are told apart by partition and id', async () => {
      const things = await world.container<Body>(spec);
      await things.create({ partition: 'p', id: 'a' }, labelled({ app: 'web' }));
      await things.create({ partition: 'q', id: 'a' }, {});
      await things.create({ partition: 'q', id: 'b' }, labelled({ app: 'web' }));
      const filter: Filter = { op: 'label', key: 'app', value: 'web' };
      const shown = async (partition: string) =>
        (await things.query({ partition, filter })).documents.map(({ id }) => id);
      assert.deepEqual(await shown('p'), ['a']);
      assert.deepEqual(await shown('q'), ['b']);
    });

    it('are refused when they are not texts', async () => {
      const things = await world.container<Body>(spec);
      for (const labels of ['app', ['app'], { app: 1 }, { app: null }, { app: { web: 'x' } }])
        await refused(things.create({ partition: 'p', id: 'a' }, { metadata: { labels } }), 'Invalid');
    });

    it('are there for the documents written before they were declared', async () => {
      const name = world.unique();
      const before = await world.store.container<Body>({ name });
      await before.create({ partition: 'p', id: 'a' }, labelled({ app: 'web' }));
      const later = await world.store.container<Body>({ name, ...spec });
      assert.deepEqual(await ids(later, { op: 'label', key: 'app', value: 'web' }), ['a']);
    });
  });
}
