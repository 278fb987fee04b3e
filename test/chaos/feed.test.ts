// A writer that is killed at random instants and a reader that stops and resumes from its stored continuation, on both
// engines: the reader sees every chapter of every book, whole, once and in order.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Change, Container } from '../../src/store/store.ts';
import { openAt } from './address.ts';
import { bookName, books, chapters, type Leaf, leafId, pages, type Task } from './chapters.ts';
import { gone, places, startProcess, stopwatch } from './engines.ts';

const lives = 30;
const timeoutMinutes = 5;

for (const [engine, place] of Object.entries(places)) {
  suite(`the feed on ${engine}, its writer killed ${lives} times`, () => {
    test('loses, repeats and reorders nothing, and shows no half batch', {
      timeout: timeoutMinutes * 60_000,
    }, async () => {
      const say = stopwatch(engine);
      const { address, remove } = await place();
      const store = await openAt(address);
      try {
        const container = await store.container(chapters);
        const reader = readerOf(container);
        await reader.readToEnd();
        for (let life = 1; life <= lives; life++) {
          const writer = startProcess('chapter-writer.ts', { address } satisfies Task);
          const ended = gone(writer);
          await Promise.race([ended, new Promise((settle) => writer.once('message', settle))]);
          const killing = setTimeout(randomInt(20, 250)).then(() => writer.kill('SIGKILL'));
          await reader.readSome(randomInt(1, 6), ended);
          await Promise.all([killing, ended]);
          assert.equal(writer.signalCode, 'SIGKILL');
          if (life % 10 === 0) say(`${life} writers killed, ${reader.changes()} changes read`);
        }
        await reader.readToEnd();
        for (let book = 0; book < books; book++) {
          const cover = await container.read({ partition: bookName(book), id: leafId(0) });
          assert.equal(reader.lastChapter(bookName(book)), cover?.body.chapter);
          assert.ok(cover, 'nothing was written');
        }
      } finally {
        await store.close();
        await remove();
      }
    });
  });
}

/** Reads a stretch at a time, each from the continuation that the one before stored, and checks every change it sees. */
function readerOf(container: Container<Leaf>) {
  let stored: string | undefined;
  let count = 0;
  /** For every book: the chapter being read and the page of it that must come next. */
  const places = new Map<string, { chapter: number; page: number }>();

  function check({ kind, document }: Change<Leaf>): void {
    const { chapter, page } = places.get(document.partition) ?? { chapter: 1, page: 0 };
    const removed = page === pages && chapter % 3 === 0;
    const where = `${document.partition}: chapter ${chapter}, page ${page} was to come`;
    assert.deepEqual(document.id, leafId(page), where);
    assert.equal(kind === 'delete', removed, where);
    // A delete shows the last body: the page as the chapter before wrote it.
    assert.deepEqual(document.body, { page, chapter: removed ? chapter - 1 : chapter }, where);
    places.set(document.partition, page === pages ? { chapter: chapter + 1, page: 0 } : { chapter, page: page + 1 });
    count++;
  }

  async function read(
    enough: (stretch: number, caughtUp: boolean) => boolean,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<void> {
    const from = stored === undefined ? 'beginning' : { continuation: stored };
    let stretch = 0;
    for await (const { changes, continuation, caughtUp } of container.changes({ from, signal })) {
      for (const change of changes) check(change);
      stored = continuation;
      if (enough(++stretch, caughtUp)) return;
    }
  }

  return {
    /** So many stretches, or fewer when the writer has ended. */
    readSome(stretches: number, writerEnded: Promise<void>): Promise<void> {
      const stop = new AbortController();
      writerEnded.then(() => stop.abort());
      return read((stretch) => stretch >= stretches, stop.signal);
    },
    readToEnd: () => read((_, caughtUp) => caughtUp),
    changes: () => count,
    /** Undefined in the middle of a chapter. */
    lastChapter(book: string): number | undefined {
      const at = places.get(book);
      return at?.page === 0 ? at.chapter - 1 : undefined;
    },
  };
}
