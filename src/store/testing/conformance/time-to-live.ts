import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Change, Container } from '../../store.ts';
import { type Body, refused, type World } from './world.ts';

/** Long enough for what a test does before, short enough to wait for. */
const ttlSeconds = 1;
const key = { partition: 'p', id: 'a' };

async function expired(things: Container<Body>, id: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if ((await things.read({ partition: 'p', id })) === undefined) return;
    await setTimeout(50);
  }
  assert.fail(`${id} never expires`);
}

export function timeToLive(world: World): void {
  describe('a time to live', () => {
    it('is told, and ends the document by the clock of the database', async () => {
      const things = await world.container<Body>();
      const before = await world.store.now();
      const made = await things.create(key, { v: 1 }, { ttlSeconds });
      assert(made.expiresAt !== undefined);
      const read = await things.read(key);
      assert(read?.expiresAt !== undefined);
      assert(made.expiresAt <= read.expiresAt, 'a write promises no more than it gives');
      assert(made.expiresAt >= before + ttlSeconds * 1000 && read.expiresAt <= before + ttlSeconds * 1000 + 30_000);
      await expired(things, 'a');
      assert((await world.store.now()) >= read.expiresAt);
      assert.deepEqual((await things.query({})).documents, []);
      assert.deepEqual((await things.query({ filter: { op: 'eq', field: ['v'], value: 1 } })).documents, []);
      assert.equal(await things.count(), 0);
      await refused(things.replace(made, { v: 2 }), 'NotFound', 'Changed');
      await refused(things.delete(made), 'NotFound', 'Changed');
      await refused(things.batch('p', [{ kind: 'check', version: made }]), 'NotFound', 'Changed');
    });

    it('leaves the id and the unique values free', async () => {
      const uniqueKeys = [{ name: 'v', paths: [['v']] }];
      const things = await world.container<Body>({ uniqueKeys, labels: ['labels'] });
      const made = await things.create(key, { v: 1, labels: { app: 'old' } }, { ttlSeconds });
      await refused(things.create({ partition: 'p', id: 'b' }, { v: 1 }), 'UniqueKey');
      await expired(things, 'a');
      await things.create({ partition: 'p', id: 'b' }, { v: 1 });
      const again = await things.create(key, { v: 2 });
      assert(again.revision > made.revision);
      assert.equal(again.expiresAt, undefined);
      assert.equal(await things.count({ filter: { op: 'hasLabel', key: 'app' } }), 0);
      await refused(things.replace(made, { v: 3 }), 'Changed');
      assert.deepEqual(await things.read(key), again);
    });

    it('is the default of the container unless the write says otherwise, and counts from each write', async () => {
      const things = await world.container<Body>({ ttlSeconds: 3600 });
      const now = await world.store.now();
      const read = async (id: string) => (await things.read({ partition: 'p', id }))?.expiresAt;
      const near = (at: number | undefined, seconds: number) =>
        assert(at !== undefined && Math.abs(at - now - seconds * 1000) < 30_000, `${at} is ${seconds} s from ${now}`);
      const made = await things.create(key, {});
      near(await read('a'), 3600);
      const changed = await things.replace(made, {}, { ttlSeconds: 7200 });
      near(changed.expiresAt, 7200);
      near(await read('a'), 7200);
      const forEver = await things.replace(changed, {}, { ttlSeconds: null });
      assert.equal(forEver.expiresAt, undefined);
      assert.equal(await read('a'), undefined);
      await things.replace(forEver, {});
      near(await read('a'), 3600);
      const [one, other] = await things.batch('p', [
        { kind: 'create', id: 'b', body: {}, ttlSeconds: null },
        { kind: 'create', id: 'c', body: {}, ttlSeconds: 60 },
      ]);
      assert.equal(one?.expiresAt, undefined);
      near(other?.expiresAt, 60);
      assert.equal(await read('b'), undefined);
      near(await read('c'), 60);
    });

    it('ends in a delete that the feed shows', async () => {
      const things = await world.container<Body>();
      const seen: Change<Body>[] = [];
      await things.create(key, { v: 1 }, { ttlSeconds });
      await things.create({ partition: 'p', id: 'b' }, { v: 2 });
      for await (const { changes } of things.changes({ from: 'beginning', signal: AbortSignal.timeout(60_000) })) {
        seen.push(...changes);
        if (seen.some(({ kind }) => kind === 'delete')) break;
      }
      const deleted = seen.at(-1);
      assert.equal(deleted?.kind, 'delete');
      assert.equal(deleted.document.id, 'a');
      assert.deepEqual(deleted.document.body, { v: 1 });
      assert(deleted.document.revision > (seen[0]?.document.revision ?? 0));
    });

    it('shows the delete before the create when the id is taken again', async () => {
      const things = await world.container<Body>();
      const feed = things.changes({ from: 'now', signal: AbortSignal.timeout(60_000) })[Symbol.asyncIterator]();
      await feed.next();
      await things.create(key, { v: 1 }, { ttlSeconds });
      await expired(things, 'a');
      await things.create(key, { v: 2 });
      const seen: [string, unknown][] = [];
      while (seen.length < 3) {
        const { value, done } = await feed.next();
        assert(!done);
        for (const { kind, document } of value.changes) seen.push([kind, document.body.v]);
      }
      await feed.return?.();
      assert.deepEqual(seen, [
        ['create', 1],
        ['delete', 1],
        ['create', 2],
      ]);
    });
  });
}
