import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Claim, Container, ContainerSpec, Lease } from '../../store.ts';
import { refused, type World } from './world.ts';

interface Job {
  /** The fairness key; none when there is no work to do. */
  readonly for?: string;
  readonly n?: number;
}

const partition = 'p';
const spec: Omit<ContainerSpec<Job>, 'name'> = { queue: (body) => body.for };
const forLong = { owner: 'o', leaseSeconds: 600 };
/** Short enough to wait for; the waits are for the database's clock, whatever this machine is busy with. */
const briefly = { owner: 'o', leaseSeconds: 0.5 };

async function put(jobs: Container<Job>, ...entries: readonly [id: string, key: string | undefined][]): Promise<void> {
  for (const [id, key] of entries) await jobs.create({ partition, id }, key === undefined ? {} : { for: key });
}

async function one(jobs: Container<Job>, options = forLong): Promise<Claim<Job>> {
  const [claim] = await jobs.leases.claim(options);
  assert(claim, 'there is work to claim');
  return claim;
}

/** Claims until there is nothing left. */
async function drained(jobs: Container<Job>, owner = 'o'): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const claims = await jobs.leases.claim({ owner, leaseSeconds: 600 });
    if (claims.length === 0) return ids;
    ids.push(...claims.map(({ document }) => document.id));
  }
}

/** Until the lease is over by the database's clock. */
async function lapse(world: World, lease: Lease): Promise<void> {
  const until = (await world.store.now()) + lease.leaseSeconds * 1000;
  while ((await world.store.now()) <= until) await setTimeout(20);
}

export function leases(world: World): void {
  describe('a queue', () => {
    it('gives out what waits, once, with everything about it', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x'], ['idle', undefined]);
      assert.equal(await jobs.leases.waiting(), 1);
      const asked = performance.now();
      const { document, lease } = await one(jobs, { owner: 'worker 1', leaseSeconds: 600 });
      assert.deepEqual(document, await jobs.read({ partition, id: 'a' }));
      const { token, deadline, ...rest } = lease;
      assert.deepEqual(rest, {
        container: jobs.name,
        partition,
        id: 'a',
        owner: 'worker 1',
        dequeues: 1,
        leaseSeconds: 600,
      });
      assert(Number.isSafeInteger(token));
      assert(deadline >= asked + 600_000 && deadline <= performance.now() + 600_000, 'on the safe side');
      assert.equal(await jobs.leases.waiting(), 0);
      assert.deepEqual(await jobs.leases.claim(forLong), []);
    });

    it('takes turns over the fairness keys, the oldest of each first', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['x1', 'x'], ['x2', 'x'], ['x3', 'x'], ['x4', 'x'], ['y1', 'y'], ['y2', 'y'], ['z1', 'z']);
      assert.deepEqual(await drained(jobs), ['x1', 'y1', 'z1', 'x2', 'y2', 'x3', 'x4']);
    });

    it('takes turns within one claim of many, and lets a newcomer in', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['x1', 'x'], ['x2', 'x'], ['x3', 'x'], ['x4', 'x'], ['y1', 'y']);
      const many = await jobs.leases.claim({ ...forLong, max: 3 });
      assert.deepEqual(
        many.map(({ document }) => document.id),
        ['x1', 'y1', 'x2'],
      );
      await put(jobs, ['z1', 'z']);
      const rest = await drained(jobs);
      assert.deepEqual(rest.toSorted(), ['x3', 'x4', 'z1']);
      assert(rest.indexOf('z1') < 2, 'a key that comes late waits one round, not for the whole of another');
    });

    it('gives an owner no more than its limit', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x'], ['b', 'x'], ['c', 'x'], ['d', 'x']);
      const first = await jobs.leases.claim({ ...forLong, max: 10, ownerLimit: 2 });
      assert.equal(first.length, 2);
      assert.deepEqual(await jobs.leases.claim({ ...forLong, ownerLimit: 2 }), []);
      assert.equal((await jobs.leases.claim({ ...forLong, owner: 'other', ownerLimit: 1 })).length, 1);
      assert(first[0]);
      await jobs.leases.release(first[0].lease, { delaySeconds: 600 });
      assert.equal((await jobs.leases.claim({ ...forLong, max: 10, ownerLimit: 2 })).length, 1);
    });

    it('is entered and left by writes', async () => {
      const jobs = await world.container(spec);
      const made = await jobs.create({ partition, id: 'a' }, {});
      assert.equal(await jobs.leases.waiting(), 0);
      const waiting = await jobs.replace(made, { for: 'x' });
      assert.equal(await jobs.leases.waiting(), 1);
      const done = await jobs.replace(waiting, {});
      assert.equal(await jobs.leases.waiting(), 0);
      assert.deepEqual(await jobs.leases.claim(forLong), []);
      await jobs.batch(partition, [
        { kind: 'replace', version: done, body: { for: 'x' } },
        { kind: 'create', id: 'b', body: { for: 'y' } },
      ]);
      assert.equal(await jobs.leases.waiting(), 2);
      await refused(
        jobs.batch(partition, [
          { kind: 'create', id: 'c', body: { for: 'y' } },
          { kind: 'create', id: 'b', body: {} },
        ]),
        'Exists',
      );
      assert.equal(await jobs.leases.waiting(), 2);
      const b = await jobs.read({ partition, id: 'b' });
      assert(b);
      await jobs.delete(b);
      assert.deepEqual(await drained(jobs), ['a']);
    });

    it('keeps the place of a document that is written while it waits, and moves it when its key changes', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x'], ['b', 'x'], ['c', 'y']);
      await jobs.update({ partition, id: 'a' }, () => ({ for: 'x', n: 2 }));
      await jobs.update({ partition, id: 'c' }, () => ({ for: 'x' }));
      assert.deepEqual(await drained(jobs), ['a', 'b', 'c']);
    });

    it('forgets what has expired', async () => {
      const jobs = await world.container(spec);
      await jobs.create({ partition, id: 'a' }, { for: 'x' }, { ttlSeconds: 0.5 });
      await put(jobs, ['b', 'x']);
      while (await jobs.read({ partition, id: 'a' })) await setTimeout(20);
      assert.equal(await jobs.leases.waiting(), 1);
      assert.equal(await jobs.leases.claimOne({ partition, id: 'a' }, forLong), undefined);
      assert.deepEqual(await drained(jobs), ['b']);
      await put(jobs, ['a', 'x']);
      const { lease } = await one(jobs);
      assert.equal(lease.dequeues, 1);
    });

    it('gives every document to one of many claimants', async () => {
      const name = world.unique();
      const stores = [world.store, await world.open()];
      const claimants = await Promise.all(stores.map((store) => store.container<Job>({ name, ...spec })));
      const [first] = claimants;
      assert(first);
      const operations = Array.from({ length: 60 }, (_, n) => ({
        kind: 'create' as const,
        id: `d${n}`,
        body: { for: `k${n % 5}` },
      }));
      await first.batch(partition, operations);
      const taken = await Promise.all(
        Array.from({ length: 6 }, (_, nth) => drained(claimants[nth % 2] ?? first, `owner ${nth}`)),
      );
      assert.deepEqual(taken.flat().toSorted(), operations.map(({ id }) => id).toSorted());
    });

    it('claims a document by its key', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x'], ['b', 'x'], ['idle', undefined]);
      const claim = await jobs.leases.claimOne({ partition, id: 'b' }, forLong);
      assert.equal(claim?.document.id, 'b');
      assert.equal(claim.lease.dequeues, 1);
      assert.equal(await jobs.leases.claimOne({ partition, id: 'b' }, forLong), undefined);
      assert.equal(await jobs.leases.claimOne({ partition, id: 'idle' }, forLong), undefined);
      assert.equal(await jobs.leases.claimOne({ partition, id: 'none' }, forLong), undefined);
      await jobs.leases.release(claim.lease, { delaySeconds: 600 });
      assert.equal(await jobs.leases.claimOne({ partition, id: 'b' }, forLong), undefined);
      assert.deepEqual(await drained(jobs), ['a']);
    });

    it('refuses what makes no sense', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x']);
      const wrong: object[] = [
        { owner: '' },
        { owner: 'a\nb' },
        { owner: undefined },
        { leaseSeconds: 0 },
        { leaseSeconds: -1 },
        { leaseSeconds: Number.NaN },
        { leaseSeconds: 1e9 },
        { max: 0 },
        { max: 1.5 },
        { max: 1001 },
        { ownerLimit: 0 },
        { ownerLimit: -1 },
      ];
      for (const part of wrong) await refused(jobs.leases.claim({ ...forLong, ...part }), 'Invalid');
      for (const part of wrong.slice(0, 7))
        await refused(jobs.leases.claimOne({ partition, id: 'a' }, { ...forLong, ...part }), 'Invalid');
      await refused(jobs.leases.claimOne({ partition: '', id: 'a' }, forLong), 'Invalid');
      const { lease } = await one(jobs);
      for (const delaySeconds of [-1, Number.NaN, Number.POSITIVE_INFINITY, '1' as unknown as number])
        await refused(jobs.leases.release(lease, { delaySeconds }), 'Invalid');
      const strange = await world.container<Job>({ queue: () => '' });
      await refused(strange.create({ partition, id: 'a' }, {}), 'Invalid');
    });

    it('is not there for a container that has none', async () => {
      const things = await world.container<Job>();
      const lease: Lease = {
        container: things.name,
        partition,
        id: 'a',
        owner: 'o',
        token: 1,
        dequeues: 1,
        leaseSeconds: 1,
        deadline: 0,
      };
      await refused(things.leases.claim(forLong), 'Invalid');
      await refused(things.leases.claimOne(lease, forLong), 'Invalid');
      await refused(things.leases.renew(lease), 'Invalid');
      await refused(things.leases.renewAll([lease]), 'Invalid');
      await refused(things.leases.release(lease), 'Invalid');
      await refused(things.leases.waiting(), 'Invalid');
    });
  });

  describe('a lease', () => {
    it('changes neither etag nor revision, and shows nothing in the feed', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x']);
      const before = await jobs.read({ partition, id: 'a' });
      const feed = jobs.changes({ from: 'now', signal: AbortSignal.timeout(30_000) })[Symbol.asyncIterator]();
      await feed.next();
      const { lease } = await one(jobs);
      await jobs.leases.release(await jobs.leases.renew(lease));
      await one(jobs);
      assert.deepEqual(await jobs.read({ partition, id: 'a' }), before);
      await put(jobs, ['b', 'x']);
      const { value, done } = await feed.next();
      assert(!done);
      assert.deepEqual(
        value.changes.map(({ document }) => document.id),
        ['b'],
      );
      await feed.return?.();
    });

    it('is given back and claimed again with a greater token, the dequeues counted', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x'], ['b', 'x']);
      const first = await one(jobs);
      assert.equal(first.document.id, 'a');
      await jobs.leases.release(first.lease);
      const second = await jobs.leases.claimOne({ partition, id: 'a' }, { ...forLong, owner: 'other' });
      assert(second);
      assert.equal(second.lease.dequeues, 2);
      assert(second.lease.token > first.lease.token);
      await jobs.leases.release(first.lease);
      assert.deepEqual(await drained(jobs), ['b'], 'releasing a lease that is not held any more changes nothing');
    });

    it('goes to the back of its line when it is given back', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x'], ['b', 'x']);
      const { lease } = await one(jobs);
      await jobs.leases.release(lease);
      assert.deepEqual(await drained(jobs), ['b', 'a']);
    });

    it('is put off for as long as was asked', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x']);
      const { lease } = await one(jobs);
      const until = (await world.store.now()) + 500;
      await jobs.leases.release(lease, { delaySeconds: 0.5 });
      let claims: readonly Claim<Job>[] = [];
      while (claims.length === 0) {
        claims = await jobs.leases.claim(forLong);
        await setTimeout(20);
      }
      assert((await world.store.now()) >= until);
      assert.equal(claims[0]?.lease.dequeues, 2);
    });

    it('lasts longer when it is renewed, and keeps its token', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x']);
      const { lease } = await one(jobs, { owner: 'o', leaseSeconds: 3 });
      const until = (await world.store.now()) + 3500;
      let renewed = lease;
      while ((await world.store.now()) < until) {
        renewed = await jobs.leases.renew(renewed);
        assert.equal(renewed.token, lease.token);
        assert.deepEqual(await jobs.leases.claim(forLong), []);
        await setTimeout(200);
      }
      assert(renewed.deadline > lease.deadline);
      await jobs.update({ partition, id: 'a' }, () => ({ for: 'x', n: 1 }), { lease });
    });

    it('that lapsed is claimed by another, and cannot be renewed', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x']);
      const first = await one(jobs, briefly);
      await lapse(world, first.lease);
      assert.equal(await jobs.leases.waiting(), 1);
      await refused(jobs.leases.renew(first.lease), 'LeaseLost');
      const second = await one(jobs, { ...forLong, owner: 'other' });
      assert(second.lease.token > first.lease.token);
      assert.equal(second.lease.dequeues, 2);
      await refused(jobs.leases.renew(first.lease), 'LeaseLost');
      await jobs.leases.release(first.lease);
      await jobs.leases.renew(second.lease);
    });

    it('is renewed with many others in one go, the lost ones left out', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x'], ['b', 'x'], ['c', 'x'], ['d', 'x']);
      const claims = await jobs.leases.claim({ ...forLong, max: 3 });
      const more = await jobs.leases.claim({ ...forLong, leaseSeconds: 300 });
      const [a, b, c, d] = [...claims, ...more].map(({ lease }) => lease);
      assert(a && b && c && d);
      await jobs.leases.release(b);
      const forged = { ...c, token: c.token + 1000 };
      const renewed = await jobs.leases.renewAll([a, b, forged, d]);
      assert.deepEqual(
        renewed.map(({ id, leaseSeconds, token }) => [id, leaseSeconds, token]),
        [
          ['a', 600, a.token],
          ['d', 300, d.token],
        ],
      );
      assert(renewed.every((lease) => lease.deadline >= performance.now()));
      assert.deepEqual(await jobs.leases.renewAll([]), []);
    });

    it('is of one container', async () => {
      const [jobs, others] = [await world.container(spec), await world.container(spec)];
      await put(jobs, ['a', 'x']);
      await put(others, ['a', 'x']);
      const { lease } = await one(jobs);
      await refused(others.leases.renew(lease), 'Invalid');
      await refused(others.leases.renewAll([lease]), 'Invalid');
      await refused(others.leases.release(lease), 'Invalid');
      await refused(others.create({ partition, id: 'b' }, {}, { lease }), 'Invalid');
      await refused(jobs.create({ partition: 'q', id: 'b' }, {}, { lease }), 'Invalid');
      assert.equal(await jobs.read({ partition: 'q', id: 'b' }), undefined);
    });
  });

  describe('a write under a lease', () => {
    const everyWrite = async (jobs: Container<Job>, lease: Lease): Promise<readonly (() => Promise<unknown>)[]> => {
      const leased = await jobs.read({ partition, id: lease.id });
      const other = await jobs.read({ partition, id: 'other' });
      assert(leased && other);
      return [
        () => jobs.replace(leased, { for: 'x', n: 1 }, { lease }),
        () => jobs.replace(leased, {}, { lease }),
        () => jobs.update(leased, () => ({ for: 'x', n: 1 }), { lease }),
        () => jobs.replace(other, { n: 1 }, { lease }),
        () => jobs.create({ partition, id: 'new' }, {}, { lease }),
        () => jobs.delete(other, { lease }),
        () => jobs.delete(leased, { lease }),
        () =>
          jobs.batch(
            partition,
            [
              { kind: 'create', id: 'new', body: {} },
              { kind: 'delete', version: other },
            ],
            { lease },
          ),
        () => jobs.batch(partition, [{ kind: 'check', version: other }], { lease }),
      ];
    };
    const state = async (jobs: Container<Job>) => (await jobs.query({})).documents;

    it('goes through while the lease is held', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x'], ['other', undefined]);
      const { lease, document } = await one(jobs);
      const changed = await jobs.replace(document, { for: 'x', n: 1 }, { lease });
      await jobs.create({ partition, id: 'b' }, {}, { lease });
      await jobs.batch(
        partition,
        [
          { kind: 'replace', version: changed, body: { for: 'y', n: 2 } },
          { kind: 'create', id: 'c', body: {} },
        ],
        { lease },
      );
      await jobs.leases.renew(lease);
      assert.deepEqual(await jobs.leases.claim(forLong), []);
    });

    it('is refused by the database once the lease has lapsed, whatever the caller believes', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x'], ['other', undefined]);
      const { lease } = await one(jobs, briefly);
      await lapse(world, lease);
      const believed = { ...lease, deadline: performance.now() + 600_000, leaseSeconds: 600 };
      const before = await state(jobs);
      for (const write of await everyWrite(jobs, believed)) await refused(write(), 'LeaseLost');
      assert.deepEqual(await state(jobs), before);
      await one(jobs);
    });

    it('is refused once another has the lease, or with a token that never was', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x'], ['other', undefined]);
      const { lease } = await one(jobs);
      await jobs.leases.release(lease);
      const before = await state(jobs);
      for (const write of await everyWrite(jobs, lease)) await refused(write(), 'LeaseLost');
      const second = await one(jobs, { ...forLong, owner: 'other' });
      for (const write of await everyWrite(jobs, lease)) await refused(write(), 'LeaseLost');
      const forged = { ...second.lease, token: second.lease.token + 1 };
      for (const write of await everyWrite(jobs, forged)) await refused(write(), 'LeaseLost');
      assert.deepEqual(await state(jobs), before);
    });

    it('that takes the document out of the queue ends the lease', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x'], ['other', undefined]);
      const { lease, document } = await one(jobs);
      const done = await jobs.replace(document, {}, { lease });
      await refused(jobs.leases.renew(lease), 'LeaseLost');
      await refused(jobs.create({ partition, id: 'b' }, {}, { lease }), 'LeaseLost');
      await jobs.leases.release(lease);
      assert.deepEqual(await jobs.leases.claim(forLong), []);
      await jobs.replace(done, { for: 'x' });
      const again = await one(jobs);
      assert(again.lease.token > lease.token, 'the token grows also over a stay outside the queue');
      assert.equal(again.lease.dequeues, 1, 'the count begins anew');
    });

    it('that deletes the document ends the lease, also when it is created again', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x'], ['other', undefined]);
      const { lease, document } = await one(jobs);
      await jobs.delete(document, { lease });
      await refused(jobs.leases.renew(lease), 'LeaseLost');
      await put(jobs, ['a', 'x']);
      await refused(jobs.create({ partition, id: 'b' }, {}, { lease }), 'LeaseLost');
      const again = await one(jobs);
      assert(again.lease.token > lease.token);
      for (const write of await everyWrite(jobs, lease)) await refused(write(), 'LeaseLost');
    });

    it('that is made without the lease is not kept from a leased document', async () => {
      const jobs = await world.container(spec);
      await put(jobs, ['a', 'x']);
      const { lease, document } = await one(jobs);
      await jobs.replace(document, { for: 'x', n: 1 });
      await refused(jobs.replace(document, { for: 'x', n: 2 }, { lease }), 'Changed');
      await jobs.update(document, () => ({ for: 'x', n: 2 }), { lease });
      await jobs.leases.renew(lease);
    });
  });
}
