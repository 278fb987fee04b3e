import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Container, Document, Lease, Operation } from '../../store.ts';
import { refused, type World } from './world.ts';

interface Job {
  readonly n: number;
  readonly for?: string;
}

/** What a container should hold: documents by id, who waits, who is leased. Times are long, so nothing lapses. */
interface Model {
  readonly documents: Map<string, Document<Job>>;
  readonly leased: Map<string, Lease>;
  readonly dequeues: Map<string, number>;
  /** Earlier versions and leases: what a slow or mistaken caller might still hold. */
  readonly stale: Document<Job>[];
  readonly lost: Lease[];
  /** What the feed must have shown. */
  readonly history: [kind: string, id: string, n: number][];
  lastToken: number;
  written: number;
}

const partition = 'p';
const ids: fc.Arbitrary<string> = fc.constantFrom('a', 'b', 'c', 'd');
const keys = fc.option(fc.constantFrom('x', 'y'), { nil: undefined });

type Step = (jobs: Container<Job>, model: Model) => Promise<void>;

const body = (model: Model, key: string | undefined): Job => {
  const n = ++model.written;
  return key === undefined ? { n } : { n, for: key };
};

/** Notes a write that went through. */
function wrote(model: Model, kind: 'create' | 'replace', document: Document<Job>): void {
  const { id } = document;
  const before = model.documents.get(id);
  if (before) model.stale.push(before);
  model.documents.set(id, document);
  model.history.push([kind, id, document.body.n]);
  if (document.body.for === undefined) leftQueue(model, id);
  else if (before?.body.for === undefined) model.dequeues.set(id, 0);
}

function deleted(model: Model, id: string): void {
  const before = model.documents.get(id);
  assert(before);
  model.stale.push(before);
  model.documents.delete(id);
  model.history.push(['delete', id, before.body.n]);
  leftQueue(model, id);
}

function leftQueue(model: Model, id: string): void {
  const lease = model.leased.get(id);
  if (lease) model.lost.push(lease);
  model.leased.delete(id);
  model.dequeues.delete(id);
}

const waiting = (model: Model): string[] =>
  [...model.documents.values()]
    .filter(({ id, body }) => body.for !== undefined && !model.leased.has(id))
    .map(({ id }) => id);

function claimed(model: Model, document: Document<Job>, lease: Lease): void {
  assert(waiting(model).includes(document.id), `${document.id} was to be had`);
  assert.deepEqual(document, model.documents.get(document.id));
  assert(lease.token > model.lastToken, 'tokens only grow');
  model.lastToken = lease.token;
  const dequeues = (model.dequeues.get(document.id) ?? 0) + 1;
  assert.equal(lease.dequeues, dequeues);
  model.dequeues.set(document.id, dequeues);
  model.leased.set(document.id, lease);
}

const create = fc.record({ id: ids, key: keys }).map(
  ({ id, key }): Step =>
    async (jobs, model) => {
      const given = body(model, key);
      if (model.documents.has(id)) await refused(jobs.create({ partition, id }, given), 'Exists');
      else wrote(model, 'create', await jobs.create({ partition, id }, given));
    },
);

const replace = fc.record({ id: ids, key: keys, fenced: fc.boolean() }).map(
  ({ id, key, fenced }): Step =>
    async (jobs, model) => {
      const version = model.documents.get(id);
      if (!version) return;
      const lease = model.leased.get(id);
      const options = fenced && lease ? { lease } : {};
      wrote(model, 'replace', await jobs.replace(version, body(model, key), options));
    },
);

const remove = fc.record({ id: ids }).map(
  ({ id }): Step =>
    async (jobs, model) => {
      const version = model.documents.get(id);
      if (!version) return;
      await jobs.delete(version);
      deleted(model, id);
    },
);

const staleWrite = fc.nat().map(
  (pick): Step =>
    async (jobs, model) => {
      const version = model.stale[pick % Math.max(1, model.stale.length)];
      if (!version) return;
      const code = model.documents.has(version.id) ? 'Changed' : 'NotFound';
      await refused(jobs.replace(version, body(model, 'x')), code);
      await refused(jobs.delete(version), code);
    },
);

const lostLease = fc.nat().map(
  (pick): Step =>
    async (jobs, model) => {
      const lease = model.lost[pick % Math.max(1, model.lost.length)];
      if (!lease) return;
      await refused(jobs.leases.renew(lease), 'LeaseLost');
      await jobs.leases.release(lease);
      await refused(jobs.create({ partition, id: 'never' }, { n: 0 }, { lease }), 'LeaseLost');
    },
);

const batch = fc
  .record({
    ids: fc.uniqueArray(ids, { minLength: 1, maxLength: 4 }),
    key: keys,
    kinds: fc.array(fc.nat(2), { minLength: 4, maxLength: 4 }),
    fails: fc.boolean(),
  })
  .map(
    ({ ids: some, key, kinds, fails }): Step =>
      async (jobs, model) => {
        const operations = some.map((id, at): Operation<Job> => {
          const version = model.documents.get(id);
          if (!version) return { kind: 'create', id, body: body(model, key) };
          if (kinds[at] === 0) return { kind: 'replace', version, body: body(model, key) };
          return { kind: kinds[at] === 1 ? 'delete' : 'check', version };
        });
        const stale = model.stale.find(({ id }) => !some.includes(id));
        if (fails && stale) {
          const error = await refused(
            jobs.batch(partition, [...operations, { kind: 'check', version: stale }]),
            'Changed',
            'NotFound',
          );
          assert.equal(error.operation, operations.length);
          return;
        }
        const answers = await jobs.batch(partition, operations);
        for (const [at, operation] of operations.entries()) {
          const document = answers[at];
          if (operation.kind === 'delete') deleted(model, operation.version.id);
          if (operation.kind === 'create' || operation.kind === 'replace') {
            assert(document);
            wrote(model, operation.kind, document);
          }
        }
      },
  );

const claim = fc
  .record({
    max: fc.integer({ min: 1, max: 4 }),
    ownerLimit: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    owner: fc.constantFrom('o1', 'o2'),
  })
  .map(
    ({ max, ownerLimit, owner }): Step =>
      async (jobs, model) => {
        const held = [...model.leased.values()].filter((lease) => lease.owner === owner).length;
        const allowed = Math.max(0, (ownerLimit ?? 1000) - held);
        const expected = Math.min(max, allowed, waiting(model).length);
        const claims = await jobs.leases.claim({
          owner,
          leaseSeconds: 3600,
          max,
          ...(ownerLimit === undefined ? {} : { ownerLimit }),
        });
        assert.equal(claims.length, expected);
        for (const { document, lease } of claims) claimed(model, document, lease);
      },
  );

const claimOne = ids.map(
  (id): Step =>
    async (jobs, model) => {
      const isWaiting = waiting(model).includes(id);
      const one = await jobs.leases.claimOne({ partition, id }, { owner: 'o3', leaseSeconds: 3600 });
      assert.equal(one !== undefined, isWaiting);
      if (one) claimed(model, one.document, one.lease);
    },
);

const renew = ids.map(
  (id): Step =>
    async (jobs, model) => {
      const lease = model.leased.get(id);
      if (lease) assert.equal((await jobs.leases.renew(lease)).token, lease.token);
    },
);

const release = ids.map(
  (id): Step =>
    async (jobs, model) => {
      const lease = model.leased.get(id);
      if (!lease) return;
      await jobs.leases.release(lease);
      model.leased.delete(id);
      model.lost.push(lease);
    },
);

async function compare(jobs: Container<Job>, model: Model): Promise<void> {
  const { documents } = await jobs.query({ partition });
  assert.deepEqual(
    documents,
    [...model.documents.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1)),
  );
  assert.equal(await jobs.leases.waiting(), waiting(model).length);
  const renewed = await jobs.leases.renewAll([...model.leased.values(), ...model.lost]);
  assert.deepEqual(renewed.map(({ id }) => id).toSorted(), [...model.leased.keys()].toSorted());
}

export function modelled(world: World): void {
  describe('random sequences of writes and claims', () => {
    it('leave the store as a simple model of it, and the feed shows each of them', async () => {
      const steps = fc.oneof(
        create,
        create,
        replace,
        replace,
        remove,
        staleWrite,
        lostLease,
        batch,
        claim,
        claimOne,
        renew,
        release,
      );
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), async (sequence) => {
          const jobs = await world.container<Job>({ queue: (job) => job.for });
          const feed = jobs.changes({ from: 'now', signal: AbortSignal.timeout(30_000) })[Symbol.asyncIterator]();
          await feed.next();
          const model: Model = {
            documents: new Map(),
            leased: new Map(),
            dequeues: new Map(),
            stale: [],
            lost: [],
            history: [],
            lastToken: 0,
            written: 0,
          };
          for (const step of sequence) await step(jobs, model);
          await compare(jobs, model);
          const shown: Model['history'] = [];
          while (shown.length < model.history.length) {
            const { value, done } = await feed.next();
            assert(!done, `the feed showed ${shown.length} of ${model.history.length}`);
            for (const { kind, document } of value.changes) shown.push([kind, document.id, document.body.n]);
          }
          assert.deepEqual(shown, model.history);
          await feed.return?.();
        }),
        { numRuns: 40 },
      );
    });
  });
}
