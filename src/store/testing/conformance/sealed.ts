import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { type KeyRing, keyRing } from '../../../kit/key-ring.ts';
import { Secret } from '../../../kit/secret.ts';
import type { Filter } from '../../filter.ts';
import type { ContainerSpec } from '../../store.ts';
import { type Body, refused, type World } from './world.ts';

const key = { partition: 'p', id: 'a' };
const sealed = [['password'], ['users', '*', 'token'], ['map', '*']];
const revealed = (value: unknown): unknown => {
  assert(value instanceof Secret);
  return value.reveal();
};

export function sealedFields(world: World): void {
  const oldKey = { id: 'old', bytes: new Secret(randomBytes(32)) };
  const newKey = { id: 'new', bytes: new Secret(randomBytes(32)) };
  const ring = keyRing([oldKey]);
  const rotated = keyRing([newKey, oldKey]);

  /** A sealing container, and the same one as somebody sees it who has no key. */
  const both = async (more: Partial<ContainerSpec<Body>> = {}, by: KeyRing = ring) => {
    const name = world.unique();
    const things = await (await world.open({ keyRing: by })).container<Body>({ name, sealed, ...more });
    return { name, things, raw: await world.store.container<Body>({ name }) };
  };
  const body = () => ({
    plain: 'seen',
    password: new Secret('hunter2'),
    users: [{ token: new Secret('t1') }, { name: 'no token' }, { token: null }],
    map: { a: new Secret('ma'), b: 'mb' },
  });

  describe('sealed paths', () => {
    it('are Secrets in the body and unreadable at rest', async () => {
      const { things, raw } = await both();
      const given = body();
      const made = await things.create(key, given);
      assert.equal(made.body, given);
      assert.equal(given.password.reveal(), 'hunter2', 'the body that was given is left alone');
      const text = JSON.stringify((await raw.read(key))?.body);
      for (const secret of ['hunter2', '"t1"', '"ma"', '"mb"']) assert(!text.includes(secret));
      assert.match(text, /"plain": ?"seen"/);
      const read = (await things.read(key))?.body;
      assert(read);
      assert.equal(revealed(read.password), 'hunter2');
      const users = read.users as Body[];
      assert.equal(revealed(users[0]?.token), 't1');
      assert.deepEqual(users.slice(1), [{ name: 'no token' }, { token: null }]);
      assert.equal(revealed((read.map as Body).a), 'ma');
      assert.equal(revealed((read.map as Body).b), 'mb', 'a plain text there is sealed as well');
    });

    it('go through a replace, a batch, a query, the feed and a claim', async () => {
      const { things } = await both({ queue: () => 'q' });
      const made = await things.create(key, body());
      const changed = await things.replace(made, { password: new Secret('two') });
      await things.batch('p', [
        { kind: 'replace', version: changed, body: { password: new Secret('three') } },
        { kind: 'create', id: 'b', body: { password: 'four' } },
      ]);
      const [first, second] = (await things.query({})).documents;
      assert.equal(revealed(first?.body.password), 'three');
      assert.equal(revealed(second?.body.password), 'four');
      for await (const { changes } of things.changes({ from: 'beginning' })) {
        assert.equal(revealed(changes[0]?.document.body.password), 'three');
        break;
      }
      const [claim] = await things.leases.claim({ owner: 'o', leaseSeconds: 60 });
      assert.equal(revealed(claim?.document.body.password), 'three');
      await things.update(key, (read) => read);
      assert.equal(revealed((await things.read(key))?.body.password), 'three');
    });

    it('take nothing but Secrets of texts and texts', async () => {
      const { things } = await both();
      const wrong: readonly unknown[] = [1, true, {}, [], ['x'], new Secret(1), new Secret(Buffer.from('x')), '\ud800'];
      for (const password of wrong) {
        const error = await refused(things.create(key, { password }), 'Invalid');
        assert.match(error.message, /password/);
      }
      await things.create(key, { password: null, users: 'none', map: ['x'] });
      const read = (await things.read(key))?.body;
      assert(read);
      assert.equal(read.password, null);
      assert.equal(revealed((read.map as unknown[])[0]), 'x');
      const odd = 'sealed.1.old.AAAA\0 \u{1f600}';
      await things.create({ partition: 'p', id: 'b' }, { password: odd });
      assert.equal(revealed((await things.read({ partition: 'p', id: 'b' }))?.body.password), odd);
    });

    it('cannot be searched, indexed, unique or labels', async () => {
      const { things } = await both();
      const filters: Filter[] = [
        { op: 'eq', field: ['password'], value: 'x' },
        { op: 'isNull', field: ['password'] },
        { op: 'prefix', field: ['map', 'a'], value: 's' },
        { op: 'contains', field: [], value: { password: 'x' } },
        { op: 'contains', field: ['users'], value: [{ token: 'x' }] },
        { op: 'not', filter: { op: 'contains', field: ['map'], value: { a: 'x' } } },
      ];
      for (const filter of filters)
        assert.match((await refused(things.query({ filter }), 'Invalid')).message, /sealed/);
      await refused(things.query({ orderBy: [{ field: ['password'], type: 'string' }] }), 'Invalid');
      assert.equal(await things.count({ filter: { op: 'contains', field: [], value: { users: [{ name: 'x' }] } } }), 0);
      const store = await world.open({ keyRing: ring });
      const specs: Partial<ContainerSpec<Body>>[] = [
        { indexes: [{ field: ['password'], type: 'string' }] },
        { uniqueKeys: [{ name: 'u', paths: [['map', 'a']] }] },
        { labels: ['map'] },
        { sealed: [['*', '*']] },
        {
          sealed: [
            ['a', 'b'],
            ['a', '*'],
          ],
        },
        { sealed: [['a'], ['a', 'b']] },
        { sealed: [[]] },
      ];
      for (const spec of specs)
        await refused(store.container<Body>({ name: world.unique(), sealed, ...spec }), 'Invalid');
    });

    it('tell of a missing key or a changed byte, and never the value', async () => {
      const { name, things, raw } = await both();
      await things.create(key, body());
      const stranger = await world.open({ keyRing: keyRing([newKey]) });
      const other = await stranger.container<Body>({ name, sealed });
      const unknown = await refused(other.read(key), 'Seal');
      for (const part of [name, 'p/a', 'password', 'old']) assert(unknown.message.includes(part), unknown.message);
      await refused(other.query({}), 'Seal');
      await refused(other.changes({ from: 'beginning' })[Symbol.asyncIterator]().next(), 'Seal');

      const stored = await raw.read(key);
      assert(stored);
      const text = String(stored.body.password);
      const at = text.length - 5;
      const swapped = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
      for (const wrong of [swapped, 'plain', '', 1, `x${text}`, text.slice(0, -1), (stored.body.map as Body).a]) {
        await raw.update(key, () => ({ ...stored.body, password: wrong }));
        const error = await refused(things.read(key), 'Seal');
        assert.match(error.message, /password/);
        assert(!error.message.includes('plain'));
      }
    });

    it('open only in the place they were sealed for', async () => {
      const { things, raw } = await both();
      await things.create(key, body());
      const stored = (await raw.read(key))?.body;
      assert(stored);
      await raw.create({ partition: 'p', id: 'b' }, stored);
      await raw.create({ partition: 'q', id: 'a' }, stored);
      await refused(things.read({ partition: 'p', id: 'b' }), 'Seal');
      await refused(things.read({ partition: 'q', id: 'a' }), 'Seal');
    });

    it('that this version does not know survive, still sealed', async () => {
      const { name, things } = await both();
      await things.create(key, { name: 'x', users: [{ name: 'u', token: new Secret('t') }] });
      const schema = Type.Object({ name: Type.String(), users: Type.Array(Type.Object({ name: Type.String() })) });
      const older = await (await world.open({ keyRing: ring })).container<Body>({ name, sealed, schema });
      await older.update(key, () => ({ name: 'y', users: [{ name: 'new' }, { name: 'u' }] }));
      const read = (await things.read(key))?.body;
      assert(read);
      assert.equal(read.name, 'y');
      assert.equal(revealed((read.users as Body[])[1]?.token), 't');
    });

    it('do not keep a claim back from the documents that open', async () => {
      const { name, things } = await both({ queue: () => 'q' });
      await things.create(key, body());
      const strange = await (await world.open({ keyRing: keyRing([newKey]) })).container<Body>({
        name,
        sealed,
        queue: () => 'q',
      });
      await strange.create({ partition: 'p', id: 'b' }, body());
      const claims = await things.leases.claim({ owner: 'o', leaseSeconds: 60, max: 2 });
      assert.deepEqual(
        claims.map(({ document }) => document.id),
        ['a'],
      );
    });
  });

  describe('re-sealing', () => {
    it('moves every value to the current key, history included, and leaves etags alone', async () => {
      const { name, things, raw } = await both();
      const made = await things.create(key, body());
      const changed = await things.replace(made, { ...body(), plain: 'again' });
      const goner = await things.create({ partition: 'p', id: 'b' }, { password: 'gone' });
      const start = things.changes({ from: 'now' })[Symbol.asyncIterator]();
      await start.next();
      await start.return?.();
      await things.delete(goner);
      const newer = await (await world.open({ keyRing: rotated })).container<Body>({ name, sealed });
      await newer.create({ partition: 'p', id: 'c' }, { password: 'new already' });
      const count = await newer.reseal();
      assert(count >= 4, `${count} values`);
      assert.deepEqual((await newer.read(key))?.etag, changed.etag);
      assert(!JSON.stringify((await raw.read(key))?.body).includes('sealed.1.old'));
      assert.equal(await newer.reseal(), 0, 'the second time there is nothing to do');

      const onlyNew = await (await world.open({ keyRing: keyRing([newKey]) })).container<Body>({ name, sealed });
      assert.equal(revealed((await onlyNew.read(key))?.body.password), 'hunter2');
    });

    it('goes through as many documents as there are, and through the history that feeds still read', async () => {
      const { name, things } = await both();
      const feed = things.changes({ from: 'now' })[Symbol.asyncIterator]();
      const first = await feed.next();
      await feed.return?.();
      assert(!first.done);
      for (let n = 0; n < 300; n++)
        await things.create({ partition: `p${n % 3}`, id: `d${n}` }, { n, password: `s${n}` });
      const gone = await things.read({ partition: 'p0', id: 'd0' });
      assert(gone);
      await things.delete(gone);
      const newer = await (await world.open({ keyRing: rotated })).container<Body>({ name, sealed });
      assert((await newer.reseal()) >= 299);
      const onlyNew = await (await world.open({ keyRing: keyRing([newKey]) })).container<Body>({ name, sealed });
      let seen = 0;
      for await (const { changes } of onlyNew.changes({ from: first.value })) {
        for (const { kind, document } of changes) {
          assert.equal(revealed(document.body.password), `s${document.body.n}`);
          seen++;
          if (kind === 'delete') assert.equal(document.id, 'd0');
        }
        if (seen === 301) break;
      }
    });

    it('does what it can, and then tells of a value that does not open', async () => {
      const { name, things, raw } = await both();
      for (const id of ['a', 'b', 'c']) await things.create({ partition: 'p', id }, { password: id });
      await raw.update({ partition: 'p', id: 'a' }, () => ({ password: 'broken' }));
      const newer = await (await world.open({ keyRing: rotated })).container<Body>({ name, sealed });
      assert.match((await refused(newer.reseal(), 'Seal')).message, /p\/a/);
      for (const id of ['b', 'c'])
        assert.match(String((await raw.read({ partition: 'p', id }))?.body.password), /^sealed\.1\.new\./);
    });

    it('stops when it is told to, and is nothing where nothing is sealed', async () => {
      const { things } = await both();
      await things.create(key, body());
      assert.equal(await things.reseal({ signal: AbortSignal.abort() }), 0);
      assert.equal(await (await world.container()).reseal(), 0);
    });
  });
}
