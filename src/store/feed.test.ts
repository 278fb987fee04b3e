// What the conformance suite cannot provoke: a database that fails under a running feed, and what a feed leaves behind. The
// engine is SQLite's, with faults put in its way.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { documentStore } from './document-store.ts';
import type { Engine, EngineContainer } from './engine.ts';
import { StoreError, type StoreErrorCode } from './errors.ts';
import { feedOf } from './feed.ts';
import { openSqliteEngine } from './sqlite/engine.ts';
import type { Changes, Container, Store } from './store.ts';

type Faulty = 'changesAfter' | 'feedEnd' | 'query';
interface Body {
  readonly n: number;
}

let directory: string;
let store: Store;
let things: Container<Body>;
let engine: EngineContainer;
/** Errors that the next calls end with. */
let faults: { [method in Faulty]: StoreErrorCode[] };
let listeners: number;

function faulty(real: EngineContainer): EngineContainer {
  const failing = (method: Faulty) => {
    const code = faults[method].shift();
    if (code !== undefined) throw new StoreError(code, 'put in the way by the test');
  };
  return {
    ...real,
    async changesAfter(...given) {
      failing('changesAfter');
      return real.changesAfter(...given);
    },
    async feedEnd() {
      failing('feedEnd');
      return real.feedEnd();
    },
    async query(...given) {
      failing('query');
      return real.query(...given);
    },
    onCommit(wake) {
      listeners++;
      const end = real.onCommit(wake);
      return () => {
        listeners--;
        end();
      };
    },
  };
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'aro-feed-'));
  faults = { changesAfter: [], feedEnd: [], query: [] };
  listeners = 0;
  const real = await openSqliteEngine({ file: join(directory, 'store.db') });
  const between: Engine = {
    ...real,
    async open(layout) {
      engine = faulty(await real.open(layout));
      return engine;
    },
    secret: (name) => real.secret(name),
    now: () => real.now(),
    close: () => real.close(),
  };
  store = documentStore(between);
  things = await store.container<Body>({ name: 'things' });
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

async function next(feed: AsyncIterator<Changes<Body>>): Promise<Changes<Body>> {
  const { value, done } = await feed.next();
  assert(!done, 'the feed ended');
  return value;
}

const numbers = ({ changes }: Changes<Body>) => changes.map(({ document }) => document.body.n);

describe('a feed over a database that fails', () => {
  it('goes on once the database is back, and has missed nothing', async () => {
    faults.feedEnd = ['Unavailable', 'Busy'];
    const feed = things.changes({ from: 'now' })[Symbol.asyncIterator]();
    await next(feed);
    faults.changesAfter = ['Unavailable', 'Unavailable', 'Busy'];
    await things.create({ partition: 'p', id: 'a' }, { n: 1 });
    assert.deepEqual(numbers(await next(feed)), [1]);
    await feed.return?.();
  });

  it('goes on in the middle of what existed', async () => {
    for (let n = 0; n < 100; n++) await things.create({ partition: 'p', id: `d${n}` }, { n });
    faults.query = ['Unavailable'];
    const seen: number[] = [];
    for await (const delivery of things.changes({ from: 'beginning' })) {
      seen.push(...numbers(delivery));
      if (delivery.caughtUp) break;
      faults.query = ['Busy'];
    }
    assert.equal(new Set(seen).size, 100);
    assert.equal(seen.length, 100);
  });

  it('delivers what it has when the look ahead fails, and says later that it has caught up', async () => {
    const feed = things.changes({ from: 'now' })[Symbol.asyncIterator]();
    await next(feed);
    await things.create({ partition: 'p', id: 'a' }, { n: 1 });
    // The first call finds the change, the second is the look ahead.
    const { changesAfter } = engine;
    let calls = 0;
    engine.changesAfter = async (...given) => {
      if (++calls === 2) faults.changesAfter = ['Unavailable'];
      return changesAfter.apply(engine, given);
    };
    const first = await next(feed);
    assert.deepEqual([numbers(first), first.caughtUp], [[1], false]);
    const second = await next(feed);
    assert.deepEqual([numbers(second), second.caughtUp], [[], true]);
    await feed.return?.();
  });

  for (const code of ['ContinuationExpired', 'InvalidContinuation', 'Corrupt', 'Closed'] as const)
    it(`ends with ${code}, which waiting does not mend`, async () => {
      const feed = things.changes({ from: 'now' })[Symbol.asyncIterator]();
      await next(feed);
      faults.changesAfter = [code];
      await assert.rejects(feed.next(), (error) => error instanceof StoreError && error.code === code);
      assert.equal((await feed.next()).done, true);
      assert.equal(listeners, 0);
    });

  it('ends at once when it is aborted while the database does not answer', async () => {
    const controller = new AbortController();
    const feed = things.changes({ from: 'now', signal: controller.signal })[Symbol.asyncIterator]();
    await next(feed);
    engine.changesAfter = () => new Promise(() => {});
    await things.create({ partition: 'p', id: 'a' }, { n: 1 });
    const waiting = feed.next();
    await setTimeout(20);
    controller.abort();
    assert.equal((await waiting).done, true);
    assert.equal(listeners, 0);
  });
});

describe('a feed that ended', () => {
  it('leaves no listener behind, however it ended', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    for await (const _ of things.changes({ from: 'beginning', signal })) break;
    const left = things.changes({ from: 'now', signal })[Symbol.asyncIterator]();
    await left.next();
    const waiting = left.next();
    assert.equal(listeners, 1);
    await left.return?.();
    await waiting;
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    const aborted = things.changes({ from: 'now', signal })[Symbol.asyncIterator]();
    await aborted.next();
    const last = aborted.next();
    controller.abort();
    await last;
    assert.equal(listeners, 0);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});

describe('a feed of a quiet partition', () => {
  it('tells now and then how far the container has come, so that its continuation stays young', async () => {
    const places: unknown[] = [];
    const source = {
      name: 'things',
      engine,
      alive: () => {},
      onClose: () => () => {},
      decode: () => assert.fail('nothing to show'),
      checkpointMs: 1,
      continuations: {
        make: async (_: string, place: unknown) => {
          places.push(place);
          return '';
        },
        read: () => assert.fail('not asked'),
      },
    };
    const feed = feedOf<Body>(source, { from: 'now', partition: 'quiet' })[Symbol.asyncIterator]();
    await next(feed);
    await things.create({ partition: 'loud', id: 'a' }, { n: 1 });
    const delivery = await next(feed);
    assert.deepEqual([delivery.changes, delivery.caughtUp], [[], true]);
    assert.deepEqual(places.at(-1), ['changes', await engine.feedEnd()]);
    assert.notDeepEqual(places[0], places[1]);
    await feed.return?.();
  });
});
