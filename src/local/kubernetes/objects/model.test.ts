import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import type { Change, Objects, Transaction } from './objects.ts';
import { openObjects } from './open.ts';
import { parsed, pod, temporaryFile } from './testing/hosts.ts';

/** One write: put an object with a value, or delete it if it is there. */
interface Step {
  readonly type: string;
  readonly namespace: string;
  readonly name: string;
  readonly owner: string;
  readonly value: number | 'delete';
}

/** Commits asked for at the same time; one that fails does so after its steps. */
type Moment = readonly { readonly cluster: string; readonly steps: readonly Step[]; readonly fails: boolean }[];

const step: fc.Arbitrary<Step> = fc.record({
  type: fc.constantFrom('/pods', 'apps/deployments'),
  namespace: fc.constantFrom('', 'a', 'a-b', 'b'),
  name: fc.constantFrom('x', 'x-1', 'y', 'z'),
  owner: fc.constantFrom('', 'o1', 'o2'),
  value: fc.oneof(fc.nat(100), fc.constant<'delete'>('delete')),
});
const moment: fc.Arbitrary<Moment> = fc.array(
  fc.record({
    cluster: fc.constantFrom('one', 'two'),
    steps: fc.array(step, { maxLength: 6 }),
    fails: fc.boolean(),
  }),
  { minLength: 1, maxLength: 4 },
);
/** `restart` closes the host and opens the file again. */
const history = fc.array(fc.oneof({ weight: 6, arbitrary: moment }, fc.constant<'restart'>('restart')), {
  maxLength: 25,
});

/** What a cluster should be: its objects by type and key, in the plainest form. */
interface Model {
  revision: number;
  objects: Map<string, { value: number; owner: string; revision: number }>;
  changes: string[];
}

const place = ({ type, namespace, name }: Omit<Step, 'owner' | 'value'>) => `${type} ${namespace}/${name}`;

function applyModel(model: Model, steps: readonly Step[]): void {
  for (const one of steps) {
    const { owner, value } = one;
    const key = place(one);
    if (value === 'delete') {
      if (!model.objects.delete(key)) continue;
      model.changes.push(`DELETED ${key} ${++model.revision}`);
    } else {
      model.changes.push(`${model.objects.has(key) ? 'MODIFIED' : 'ADDED'} ${key} ${++model.revision}`);
      model.objects.set(key, { value, owner, revision: model.revision });
    }
  }
}

function applyReal(transaction: Transaction, steps: readonly Step[]): void {
  for (const { type, namespace, name, owner, value } of steps) {
    const found = transaction.get(type, namespace, name);
    if (value === 'delete') {
      if (found) transaction.delete(found);
      continue;
    }
    const ownerReferences = owner ? [{ apiVersion: 'v1', kind: 'Job', name: owner, uid: owner }] : [];
    transaction.put(type, pod(name, { namespace, ownerReferences }, { value }));
  }
}

const tell = ({ kind, entry }: Change) => `${kind} ${place(entry)} ${entry.revision}`;

function check(objects: Objects, model: Model): void {
  assert.equal(objects.revision, model.revision);
  for (const type of ['/pods', 'apps/deployments']) {
    const expected = [...model.objects]
      .filter(([key]) => key.startsWith(`${type} `))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const listed = objects.list(type);
    assert.deepEqual(
      listed.map((entry) => [
        place(entry),
        {
          value: (parsed(entry).spec as { value: number }).value,
          owner: entry.owners?.[0] ?? '',
          revision: entry.revision,
        },
      ]),
      expected,
    );
    for (const entry of listed) {
      assert.equal(objects.get(type, entry.namespace, entry.name), entry);
      assert.equal(parsed(entry).metadata.resourceVersion, String(entry.revision));
    }
    assert.equal(objects.count(type), expected.length);
    assert.equal(objects.count(type, 'a'), objects.list(type, { namespace: 'a' }).length);
    const paged = [];
    for (let page = objects.list(type, { limit: 2 }); page.length > 0; ) {
      paged.push(...page);
      const last = page.at(-1);
      page = last ? objects.list(type, { limit: 2, after: [last.namespace, last.name] }) : [];
    }
    assert.deepEqual(paged, listed);
  }
  for (const owner of ['o1', 'o2']) {
    assert.deepEqual(
      [...objects.byOwner(owner)].map(place).sort(),
      [...model.objects].flatMap(([key, value]) => (value.owner === owner ? [key] : [])).sort(),
    );
  }
}

async function follow(t: TestContext, moments: readonly (Moment | 'restart')[], inFile: boolean): Promise<void> {
  const file = inFile ? await temporaryFile(t) : undefined;
  const open = () => openObjects(file === undefined ? {} : { file });
  const models = new Map<string, Model>();
  for (const name of ['one', 'two']) models.set(name, { revision: 0, objects: new Map(), changes: [] });
  let host = await open();
  let heard = listen();

  /** All changes of a cluster from now on, by one watcher of all types and one for each type. */
  function listen() {
    return [...models].map(([name, model]) => {
      const objects = host.open(name);
      const all: string[] = [];
      const byType: string[] = [];
      objects.watchAll((change) => all.push(tell(change)));
      for (const type of ['/pods', 'apps/deployments']) {
        objects.watch(type, objects.revision, (change) => byType.push(tell(change)));
      }
      return { objects, model, all, byType, from: model.revision, known: model.changes.length };
    });
  }

  try {
    for (const now of moments) {
      if (now === 'restart') {
        if (!inFile) continue;
        await host.close();
        host = await open();
        heard = listen();
      } else {
        const asked = now.map(async ({ cluster, steps, fails }) => {
          const outcome = host.open(cluster).commit((transaction) => {
            applyReal(transaction, steps);
            if (fails) throw new Error('refused');
          });
          await (fails ? assert.rejects(outcome, /refused/) : outcome);
        });
        for (const { cluster, steps, fails } of now) {
          const model = models.get(cluster);
          if (model && !fails) applyModel(model, steps);
        }
        await Promise.all(asked);
      }
      for (const { objects, model } of heard) check(objects, model);
    }
    const revisionOf = (line: string) => Number(line.split(' ').at(-1));
    for (const { objects, model, all, byType, from, known } of heard) {
      const expected = model.changes.slice(known);
      assert.deepEqual(all, expected);
      assert.deepEqual(
        byType.toSorted((a, b) => revisionOf(a) - revisionOf(b)),
        expected,
      );
      const middle = Math.floor((from + model.revision) / 2);
      const replayed: string[] = [];
      objects.watch('/pods', middle, (change) => replayed.push(tell(change)));
      assert.deepEqual(
        replayed,
        expected.filter((line) => revisionOf(line) > middle && line.includes(' /pods ')),
      );
    }
  } finally {
    await host.close();
  }
}

describe('objects behave as a plain model of them does', () => {
  it('in memory', async (t) => {
    await fc.assert(
      fc.asyncProperty(history, (moments) => follow(t, moments, false)),
      { numRuns: 60 },
    );
  });

  it('in a file, over restarts', async (t) => {
    await fc.assert(
      fc.asyncProperty(history, (moments) => follow(t, moments, true)),
      { numRuns: 15 },
    );
  });
});
