// The writer of feed.test.ts: one chapter after the other in every book, from where the cover says it stopped, until killed.
import { setTimeout } from 'node:timers/promises';
import { isStoreError } from '../../src/store/errors.ts';
import type { Container, Operation } from '../../src/store/store.ts';
import { openAt, taskOf } from './address.ts';
import { bookName, books, chapters, type Leaf, leafId, pages, type Task } from './chapters.ts';

const { address } = taskOf<Task>();
process.once('disconnect', () => process.exit(0));
const store = await openAt(address);
const container = await store.container(chapters);
process.send?.('ready');
await Promise.all(Array.from({ length: books }, (_, book) => writeBook(container, bookName(book))));

async function writeBook(leaves: Container<Leaf>, partition: string): Promise<never> {
  for (;;) {
    try {
      await leaves.batch(partition, await nextChapter(leaves, partition));
    } catch (error) {
      // A batch refused as Busy was not written, so the same chapter is written again.
      if (!isStoreError(error, 'Busy')) throw error;
      await setTimeout(20);
    }
  }
}

async function nextChapter(leaves: Container<Leaf>, partition: string): Promise<Operation<Leaf>[]> {
  const there = new Map((await leaves.query({ partition, limit: 1000 })).documents.map((leaf) => [leaf.id, leaf]));
  const chapter = (there.get(leafId(0))?.body.chapter ?? 0) + 1;
  return Array.from({ length: pages + 1 }, (_, page) => {
    const body: Leaf = { page, chapter };
    const version = there.get(leafId(page));
    // Every third chapter takes the last page out, and the next one puts it in again.
    if (version && page === pages && chapter % 3 === 0) return { kind: 'delete', version };
    return version ? { kind: 'replace', version, body } : { kind: 'create', id: leafId(page), body };
  });
}
