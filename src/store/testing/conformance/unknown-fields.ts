import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { type Body, refused, type World } from './world.ts';

const key = { partition: 'p', id: 'a' };
const schema = Type.Object({
  name: Type.Optional(Type.String()),
  nested: Type.Optional(Type.Object({ known: Type.Optional(Type.Number()) })),
  pools: Type.Optional(Type.Array(Type.Object({ name: Type.String(), size: Type.Optional(Type.Number()) }))),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
});

export function unknownFields(world: World): void {
  describe('members that this version of the code does not know', () => {
    /** A document as a newer version wrote it, and the container as this version sees it. */
    const newer = async (body: Body) => {
      const name = world.unique();
      const newerCode = await world.store.container<Body>({ name });
      await newerCode.create(key, body);
      return { newerCode, things: await world.store.container<Body>({ name, schema, labels: ['tags'] }) };
    };
    const full = {
      name: 'one',
      added: { x: 1 },
      nested: { known: 1, added: [1, 2] },
      pools: [
        { name: 'a', size: 1, added: 'A' },
        { name: 'b', added: 'B' },
      ],
      tags: { keep: 'yes', drop: 'no' },
    };
    const known = {
      name: 'two',
      nested: {},
      pools: [{ name: 'b', size: 5 }, { name: 'c' }, { name: 'a' }],
      tags: { keep: 'yes' },
    };
    const expected = {
      name: 'two',
      added: { x: 1 },
      nested: { added: [1, 2] },
      pools: [{ name: 'b', size: 5, added: 'B' }, { name: 'c' }, { name: 'a', added: 'A' }],
      tags: { keep: 'yes' },
    };

    it('survive a replace of the document that was read', async () => {
      const { newerCode, things } = await newer(full);
      const read = await things.read(key);
      assert(read);
      await things.replace(read, known);
      assert.deepEqual((await newerCode.read(key))?.body, expected);
      assert.equal(await things.count({ filter: { op: 'hasLabel', key: 'drop' } }), 0);
    });

    it('survive although the body that was read was changed in place', async () => {
      const { newerCode, things } = await newer(full);
      await things.update(key, (body) => {
        for (const member of Object.keys(body)) delete body[member];
        return Object.assign(body, known);
      });
      assert.deepEqual((await newerCode.read(key))?.body, expected);
    });

    it('survive a replace by a version alone, such as from an If-Match header', async () => {
      const { newerCode, things } = await newer(full);
      const etag = (await newerCode.read(key))?.etag;
      assert(etag);
      await things.replace({ ...key, etag }, known);
      assert.deepEqual((await newerCode.read(key))?.body, expected);
      await refused(things.replace({ ...key, etag }, known), 'Changed');
    });

    it('survive a batch, and a second replace of what the first answered', async () => {
      const { newerCode, things } = await newer(full);
      const read = await things.read(key);
      assert(read);
      const [written] = await things.batch('p', [{ kind: 'replace', version: read, body: { name: 'once' } }]);
      assert(written);
      assert.deepEqual(written.body, { name: 'once' });
      await things.replace(written, { name: 'twice' });
      assert.deepEqual((await newerCode.read(key))?.body, { name: 'twice', added: { x: 1 } });
    });

    it('survive when the document came from a query, the feed or a claim', async () => {
      const name = world.unique();
      const newerCode = await world.store.container<Body>({ name, queue: () => 'q' });
      await newerCode.create(key, { name: 'one', added: 0 });
      const things = await world.store.container<Body>({ name, schema, queue: () => 'q' });
      const [queried] = (await things.query({})).documents;
      assert(queried);
      await things.replace(queried, { name: 'two' });
      for await (const { changes } of things.changes({ from: 'beginning' })) {
        assert(changes[0]);
        await things.replace(changes[0].document, { name: 'three' });
        break;
      }
      const [claim] = await things.leases.claim({ owner: 'o', leaseSeconds: 60 });
      assert(claim);
      await things.replace(claim.document, { name: 'four' }, { lease: claim.lease });
      assert.deepEqual((await newerCode.read(key))?.body, { name: 'four', added: 0 });
    });
  });
}
