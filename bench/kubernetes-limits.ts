// The embedded Kubernetes at its limits, over HTTP/2: many objects in one cluster, and very many watches that come and go.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { progress, report } from './harness.ts';
import { type Client, clientOf, concurrently, maps, objectOf } from './kubernetes/client.ts';
import { startSubject } from './kubernetes/server.ts';

const bench = 'kubernetes-limits';
const mebibyte = 1 << 20;
const fullCount = 150_000;
const mostFullMiB = 1536;
const watchSteps = [10_000, 50_000, 100_000] as const;
/** Watches per connection before another one is used. */
const perConnection = 1000;
/** What the heap may differ by, for whatever reason, between the first step and the last. */
const mostLeakMiB = 4;

await main();

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-kubernetes-limits-'));
  try {
    await manyWatches(join(directory, 'watches'));
    await manyObjects(join(directory, 'full'));
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function manyObjects(dataDirectory: string): Promise<void> {
  progress('150,000 objects');
  const subject = await startSubject({ dataDirectory, synchronous: 'NORMAL', controllers: true });
  const client = await clientOf(subject.access);
  await concurrently(fullCount, (at) => client.call('POST', maps, objectOf(`object-${at}`)));
  const { rss } = await subject.memory();
  report({
    bench,
    case: 'RSS of the server with 150,000 objects of 2 KiB in one cluster',
    value: rss / mebibyte,
    unit: 'MiB',
    bound: { atMost: mostFullMiB },
  });
  client.close();
  await subject.stop();
}

/** A watch that begins and is ended by its client, as controllers do when they lose interest. */
async function watchOnce(client: Client): Promise<void> {
  const stream = await client.watch(`${maps}?watch=1&allowWatchBookmarks=true`, () => {});
  const closed = once(stream, 'close');
  stream.close(constants.NGHTTP2_CANCEL);
  await closed;
}

async function manyWatches(dataDirectory: string): Promise<void> {
  progress('100,000 watches');
  const subject = await startSubject({ dataDirectory, synchronous: 'NORMAL', controllers: true });
  const heaps: number[] = [];
  let done = 0;
  for (const step of watchSteps) {
    while (done < step) {
      const client = await clientOf(subject.access);
      await concurrently(perConnection, () => watchOnce(client));
      client.close();
      done += perConnection;
    }
    const { heap, rss } = await subject.memory();
    heaps.push(heap / mebibyte);
    report({ bench, case: `heap after ${step} watches came and went`, value: heap / mebibyte, unit: 'MiB' });
    report({ bench, case: `RSS after ${step} watches came and went`, value: rss / mebibyte, unit: 'MiB' });
  }
  const leak = (heaps.at(-1) ?? 0) - (heaps[0] ?? 0);
  const title = 'heap left behind by 90,000 watches';
  report({ bench, case: title, value: leak, unit: 'MiB', bound: { atMost: mostLeakMiB } });
  await subject.stop();
}
