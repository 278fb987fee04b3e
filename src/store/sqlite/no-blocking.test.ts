import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineContainer } from '../engine.ts';
import { creation, layoutOf, nextLine, openEngine, startPeer, temporaryFile } from './testing/engines.ts';

const longestMs = 20;
/** The processor is taken away from a test now and then; a stretch that waits for a lock or a disk is longer than this. */
const longestWaitMs = 400;

/** An engine whose stretches of synchronous work are measured. */
async function watched(t: TestContext) {
  const file = await temporaryFile(t);
  const stretches: { readonly wallMs: number; readonly processorMs: number }[] = [];
  const engine = await openEngine(t, {
    file,
    observe: (wallMs, processorMs) => stretches.push({ wallMs, processorMs }),
  });
  const things = await engine.open(layoutOf());
  return {
    file,
    engine,
    things,
    /** No stretch of `work` computes longer than the bound, nor waits for something that others hold. */
    async staysShort(what: string, work: () => Promise<unknown>): Promise<void> {
      stretches.length = 0;
      await work();
      const computed = Math.max(...stretches.map(({ processorMs }) => processorMs), 0);
      const waited = Math.max(...stretches.map(({ wallMs }) => wallMs), 0);
      assert.ok(computed <= longestMs, `${what} kept the event loop busy for ${computed} ms`);
      assert.ok(waited <= longestWaitMs, `${what} held up the event loop for ${waited} ms`);
    },
  };
}

async function fill(things: EngineContainer, documents: number): Promise<void> {
  for (let from = 0; from < documents; from += 100) {
    const ids = Array.from({ length: 100 }, (_, index) => from + index);
    await things.write(
      `p${from % 7}`,
      ids.map((id) => creation(`${id}`, { id, state: `s${id % 10}`, rank: (id * 7919) % 100_003, text: 'some text' })),
    );
  }
}

describe('the event loop is not held up', () => {
  it('by queries that look at a hundred thousand documents', async (t) => {
    const { things, staysShort } = await watched(t);
    await fill(things, 100_000);
    const filter = { op: 'ilike', field: ['state'], pattern: '%S3%' } as const;
    await staysShort('counting', async () => assert.equal(await things.count(undefined, filter), 10_000));
    await staysShort('sorting', async () => {
      const orderBy = [{ field: ['rank'], type: 'number', direction: 'descending' }] as const;
      const page = await things.query({ filter, orderBy, limit: 500, offset: 5_000 });
      assert.deepEqual([page.rows.length, page.more], [500, true]);
    });
    await staysShort('a page in key order', () => things.query({ orderBy: [], limit: 1000, offset: 0 }));
    await staysShort('reading the feed', () => things.changesAfter('0', 1000));
  });

  it('by a long write-ahead log, which is kept short all the same', async (t) => {
    const { file, things, staysShort } = await watched(t);
    let written = 0;
    let longestLog = 0;
    await staysShort('writing', async () => {
      const end = written + 1_000;
      for (; written < end; written++) {
        await things.write('p', [creation(`${written}`, { text: 'x'.repeat(20_000) })]);
        if (written % 20 === 0) longestLog = Math.max(longestLog, statSync(`${file}-wal`).size);
        if (written % 100 === 0) await sleep(1);
      }
    });
    assert.ok(longestLog > 8 << 20 && longestLog < 200 << 20, `the log grew to ${longestLog} bytes`);
    const deadline = performance.now() + 20_000;
    while (statSync(`${file}-wal`).size > 8 << 20) {
      assert.ok(performance.now() < deadline, 'an idle store shortens its log');
      await sleep(50);
    }
  });

  it('by the largest documents', async (t) => {
    const { engine, things, staysShort } = await watched(t);
    let count = 0;
    const text = 'x'.repeat(engine.limits.documentBytes - 1000);
    await staysShort('writing, reading and deleting', async () => {
      const id = `${count++}`;
      const [revision = 0] = await things.write('p', [creation(id, { text })]);
      assert.equal((await things.read('p', id))?.revision, revision);
      await things.write('p', [{ kind: 'delete', id, revision }]);
    });
  });

  it('by another process that holds the lock', async (t) => {
    const { file, things, staysShort } = await watched(t);
    await staysShort('waiting for the lock', async () => {
      const peer = await startPeer(t, file, 'lock');
      assert.equal(await nextLine(peer), 'locked');
      const written = [1, 2, 3].map((n) => things.write('p', [creation(`${n}`, {})]));
      await sleep(2 * longestWaitMs);
      assert.equal(await things.read('p', '1'), undefined, 'reads go on');
      peer.stdin?.write('\n');
      await Promise.all(written);
    });
  });

  it('by a loop of calls that each succeed at once', async (t) => {
    const { things } = await watched(t);
    await things.write('p', [creation('a', {})]);
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    const end = performance.now() + 200;
    while (performance.now() < end) await things.read('p', 'a');
    clearInterval(ticking);
    assert.ok(turns >= 4, `timers ran ${turns} times`);
  });
});
