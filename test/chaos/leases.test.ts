// Workers that are killed and frozen at random instants, on both engines: every document is worked on to the end, and never
// by two owners at once. The proof is in the data: every write under a lease carries its fencing token, and the change feed
// shows afterwards in which order they were committed.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Container } from '../../src/store/store.ts';
import { type Address, openAt } from './address.ts';
import { gone, places, startProcess, stopwatch } from './engines.ts';
import { nameOf, type Report, type Task, type Work, workContainer } from './work.ts';

const documents = 80_000;
const subscriptions = 40;
const workers = 8;
const kills = 104;
const freezes = 8;
const leaseSeconds = 2;
const timeoutMinutes = 10;

interface Tally {
  done: number;
  /** Given up because the lease was lost. */
  refused: number;
  /** Of these, by workers that came back after others had taken over. */
  late: number;
  kills: number;
  freezes: number;
  /** The largest token under which each document is known to have been claimed. */
  readonly claimed: Map<string, number>;
}

for (const [engine, place] of Object.entries(places)) {
  suite(`leases on ${engine}, ${workers} processes, ${documents} documents, ${kills} killed`, () => {
    test('every document is done once, by one owner at a time', {
      timeout: timeoutMinutes * 60_000,
    }, async () => {
      const { address, remove } = await place();
      const store = await openAt(address);
      const say = stopwatch(engine);
      try {
        const container = await store.container(workContainer);
        const start = await feedStart(container);
        await enqueue(container);
        say(`${documents} documents wait`);
        const tally = await workThroughChaos(address, container, say);
        say(`${tally.kills} killed, ${tally.freezes} frozen, ${tally.late} late writers refused`);
        assert.equal(tally.kills, kills);
        assert.ok(tally.late > 0, 'no worker came back late');
        await checkHistory(container, start, tally.claimed, say);
        assert.equal(await container.leases.waiting(), 0);
      } finally {
        await store.close();
        await remove();
      }
    });
  });
}

async function feedStart(container: Container<Work>): Promise<string> {
  for await (const { continuation } of container.changes({ from: 'beginning' })) return continuation;
  throw new Error('the feed ended');
}

async function enqueue(container: Container<Work>): Promise<void> {
  const perSubscription = documents / subscriptions;
  const batch = 100;
  for (let from = 0; from < perSubscription; from += batch) {
    await Promise.all(
      Array.from({ length: subscriptions }, (_, at) => {
        const subscription = `subscription-${at}`;
        const body: Work = { subscription, state: 'waiting' };
        return container.batch(
          subscription,
          Array.from({ length: batch }, (_, n) => ({ kind: 'create', id: `document-${from + n}`, body }) as const),
        );
      }),
    );
  }
}

interface Worker {
  readonly owner: string;
  readonly child: ChildProcess;
  /** Thawed: not heard of since. */
  state: 'running' | 'killed' | 'frozen' | 'thawed';
  /** What it has claimed and not yet reported on. */
  batch: readonly (readonly [document: string, token: number])[];
}

/** Runs the workers until every document is done, killing and freezing them as the work goes on. */
async function workThroughChaos(
  address: Address,
  container: Container<Work>,
  say: (text: string) => void,
): Promise<Tally> {
  const tally: Tally = { done: 0, refused: 0, late: 0, kills: 0, freezes: 0, claimed: new Map() };
  const all = new Set<Worker>();
  const failures: string[] = [];
  let progressAt = performance.now();
  let ending = false;

  const start = () => {
    const owner = `worker-${all.size + 1}`;
    const child = startProcess('lease-worker.ts', { address, owner, leaseSeconds, batch: 16 } satisfies Task);
    const worker: Worker = { owner, child, state: 'running', batch: [] };
    all.add(worker);
    child.on('message', (report: Report) => {
      if ('claimed' in report) {
        worker.batch = report.claimed;
        for (const [name, token] of report.claimed)
          tally.claimed.set(name, Math.max(token, tally.claimed.get(name) ?? 0));
        return;
      }
      tally.done += report.done;
      tally.refused += report.refused;
      worker.batch = [];
      if (report.done > 0) progressAt = performance.now();
      if (worker.state !== 'thawed') return;
      tally.late += report.refused;
      worker.state = 'running';
    });
    child.once('exit', (code, signal) => {
      if (!ending && worker.state !== 'killed') failures.push(`${owner} ended with ${signal ?? code}`);
      worker.state = 'killed';
    });
  };
  const inState = (state: Worker['state']) => [...all].filter((worker) => worker.state === state);
  const strike = (worker: Worker, state: 'killed' | 'frozen') => {
    worker.state = state;
    worker.child.kill(state === 'killed' ? 'SIGKILL' : 'SIGSTOP');
  };
  const thaw = (worker: Worker) => {
    worker.state = 'thawed';
    worker.child.kill('SIGCONT');
  };
  const isTakenOver = ({ batch }: Worker) => batch.some(([name, token]) => (tally.claimed.get(name) ?? 0) > token);

  try {
    for (let said = 0, looked = 0; ; ) {
      await setTimeout(randomInt(5, 30));
      assert.deepEqual(failures, []);
      for (let missing = workers - inState('running').length; missing > 0; missing--) start();

      // The strikes are spread over the work, not over time: so there are as many on a fast machine as on a slow one.
      const progress = tally.done / documents;
      const busy = inState('running').filter(({ batch }) => batch.length > 0);
      const victim = busy.length > 0 ? busy[randomInt(busy.length)] : undefined;
      if (victim && tally.freezes < freezes * progress) {
        tally.freezes++;
        strike(victim, 'frozen');
      } else if (victim && tally.kills < kills && tally.kills <= kills * 1.1 * progress) {
        tally.kills++;
        strike(victim, 'killed');
      }
      // A frozen worker wakes up when others have what it believes to be its own; or when it holds the database itself up.
      const stuck = performance.now() - progressAt > 2 * leaseSeconds * 1000;
      for (const worker of inState('frozen')) if (stuck || isTakenOver(worker)) thaw(worker);

      if (tally.done >= said) {
        say(`${tally.done} done, ${tally.refused} given up, ${tally.kills} killed, ${tally.freezes} frozen`);
        said += documents / 10;
      }
      // What a worker did just before it was killed is not in the tally, so the end is seen in the documents.
      if (tally.kills < kills || performance.now() - looked < 1000) continue;
      looked = performance.now();
      if ((await unfinished(container)) > 0) continue;
      inState('frozen').forEach(thaw);
      if (inState('thawed').length === 0) return tally;
    }
  } finally {
    ending = true;
    for (const { child } of all) child.kill('SIGKILL');
    await Promise.all([...all].map(({ child }) => gone(child)));
  }
}

function unfinished(container: Container<Work>): Promise<number> {
  return container.count({ filter: { op: 'in', field: ['state'], values: ['waiting', 'working'] } });
}

/** Follows every document through the feed: created, then worked on under tokens that only grow, then done, once. */
async function checkHistory(
  container: Container<Work>,
  start: string,
  claimed: Tally['claimed'],
  say: (text: string) => void,
): Promise<void> {
  const seen = new Map<string, { state: Work['state']; token: number; owner: string | undefined }>();
  let writes = 0;
  let reclaimed = 0;
  for await (const { changes, caughtUp } of container.changes({ from: { continuation: start } })) {
    for (const { kind, document } of changes) {
      const name = nameOf(document);
      const { state, token = 0, owner } = document.body;
      const before = seen.get(name);
      seen.set(name, { state, token, owner });
      writes++;
      const story = `${name}: ${before?.state} by ${before?.owner} (${before?.token}), then ${state} by ${owner} (${token})`;
      if (!before) {
        assert.deepEqual([kind, state], ['create', 'waiting'], story);
        continue;
      }
      assert.equal(kind, 'replace', story);
      assert.notEqual(before.state, 'done', story);
      if (state === 'done') {
        assert.deepEqual([before.state, before.token, before.owner], ['working', token, owner], story);
        // Somebody who claims a document fences off everybody before, also before its own first write.
        assert.ok(token >= (claimed.get(name) ?? 0), `${story}, though it was claimed under ${claimed.get(name)}`);
      } else {
        assert.equal(state, 'working', story);
        assert.ok(token > before.token, story);
        if (before.state === 'working') reclaimed++;
      }
    }
    if (caughtUp) break;
  }
  say(`${writes} writes followed; ${reclaimed} documents were begun again after their worker was gone`);
  assert.equal(seen.size, documents);
  assert.equal([...seen.values()].filter(({ state }) => state === 'done').length, documents);
  assert.ok(reclaimed > 0, 'no worker was killed while it worked');
}
