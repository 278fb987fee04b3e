// The speed of the embedded Kubernetes over HTTP/2, server and client each in a process of its own, against a real
// kube-apiserver and etcd in the same run where KUBEBUILDER_ASSETS names them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Contestant, compare, median, progress, report } from './harness.ts';
import { type Access, clientOf, concurrently, maps, namespaces, newToken, objectOf } from './kubernetes/client.ts';
import { startPeer } from './kubernetes/peer.ts';
import { type Server, startSubject } from './kubernetes/server.ts';

const bench = 'kubernetes';
const watchers = 100;

await main();

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-kubernetes-'));
  const assets = process.env.KUBEBUILDER_ASSETS;
  try {
    const peer = assets ? await startPeer(assets, join(directory, 'peer')) : undefined;
    try {
      await speeds(join(directory, 'FULL'), 'FULL', peer);
    } finally {
      await peer?.stop();
    }
    await speeds(join(directory, 'NORMAL'), 'NORMAL', undefined);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function speeds(directory: string, synchronous: 'FULL' | 'NORMAL', peer: Server | undefined): Promise<void> {
  const subject = await startSubject({ dataDirectory: directory, synchronous, controllers: false });
  const ours = await workOf(subject.access);
  const theirs = peer && (await workOf(peer.access));
  try {
    for (const name of [
      'create',
      'get',
      'update',
      'server-side apply',
      'list of 5,000',
      'watch fan-out to 100',
    ] as const) {
      progress(`${name}, ${synchronous}`);
      const operations = name.startsWith('list') ? 4 : name.startsWith('watch') ? 50 : 400;
      const title = `${name}, ${synchronous}`;
      if (theirs) {
        await compare({
          bench,
          case: title,
          operations,
          rounds: 7,
          subject: ours.work[name],
          peer: theirs.work[name],
          bound: { ratioAtLeast: 1 },
        });
        continue;
      }
      const rates: number[] = [];
      for (let round = 0; round <= 7; round++) {
        const rate = operations / (await ours.work[name](operations, round));
        if (round > 0) rates.push(rate);
      }
      report({ bench, case: title, value: median(rates), unit: 'operations/s' });
    }
  } finally {
    ours.close();
    theirs?.close();
    await subject.stop();
  }
}

type Work = 'create' | 'get' | 'update' | 'server-side apply' | 'list of 5,000' | 'watch fan-out to 100';

/** The same work for whichever server. */
async function workOf(access: Access): Promise<{ readonly work: Readonly<Record<Work, Contestant>>; close(): void }> {
  const client = await clientOf(access);
  // Apart from the client that writes, and several: servers bound the streams of one connection, some at 100.
  const watching = await Promise.all(Array.from({ length: 4 }, () => clientOf(access)));
  const listed = `${namespaces}/listed/configmaps`;
  const watched = `${namespaces}/watched/configmaps`;
  for (const name of ['listed', 'watched']) {
    await client.call('POST', namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  await concurrently(5000, (at) => client.call('POST', listed, objectOf(`listed-${at}`)));
  for (let at = 0; at < 100; at++) await client.call('POST', maps, objectOf(`kept-${at}`));
  let made = 0;
  const timed =
    (operation: (at: number) => Promise<unknown>): Contestant =>
    async (operations) => {
      const from = performance.now();
      await concurrently(operations, () => operation(made++));
      return (performance.now() - from) / 1000;
    };
  const work: Record<Work, Contestant> = {
    create: timed((at) => client.call('POST', maps, objectOf(`made-${at}`))),
    get: timed((at) => client.call('GET', `${maps}/kept-${at % 100}`)),
    update: timed((at) =>
      client.call('PUT', `${maps}/kept-${at % 100}`, objectOf(`kept-${at % 100}`, String(at % 10))),
    ),
    'server-side apply': timed((at) =>
      client.call(
        'PATCH',
        `${maps}/applied-${at % 100}?fieldManager=bench&force=true`,
        objectOf(`applied-${at % 100}`, String(at % 10)),
        'application/apply-patch+yaml',
      ),
    ),
    'list of 5,000': async (operations) => {
      const from = performance.now();
      for (let done = 0; done < operations; done++) await client.call('GET', listed);
      return (performance.now() - from) / 1000;
    },
    /** An operation is one change, seen by all watchers. */
    'watch fan-out to 100': async (operations) => {
      const all = Promise.withResolvers<void>();
      let left = operations * watchers;
      const token = newToken();
      const path = `${watched}?watch=1&labelSelector=run=${token}`;
      const streams = await Promise.all(
        watching.flatMap((watcher) =>
          Array.from({ length: watchers / watching.length }, () =>
            watcher.watch(path, (events) => {
              left -= events;
              if (left <= 0) all.resolve();
            }),
          ),
        ),
      );
      const from = performance.now();
      await concurrently(operations, (at) => {
        const object = objectOf(`watched-${token}-${at}`) as { metadata: { labels: Record<string, string> } };
        object.metadata.labels = { run: token };
        return client.call('POST', watched, object);
      });
      await all.promise;
      const seconds = (performance.now() - from) / 1000;
      for (const stream of streams) stream.close();
      return seconds;
    },
  };
  return {
    work,
    close() {
      for (const each of [client, ...watching]) each.close();
    },
  };
}
