// Watches that come and go leave nothing behind. The benchmark of limits does the same a hundred thousand times.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startServer } from './http/testing/server.ts';
import { kubeconfigOf } from './kubeconfig.ts';

const perRound = 400;
const atOnce = 50;
/** A leaked watch would hold its exchange, its stream and its sink: several KiB each. */
const mostBytesPerWatch = 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

async function heapBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

async function watchOnce(session: ClientHttp2Session, query: string): Promise<void> {
  const stream = session.request({ ':path': `/api/v1/namespaces/default/configmaps?watch=1${query}` });
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  assert.equal(headers[':status'], 200);
  const closed = once(stream, 'close');
  stream.close(constants.NGHTTP2_CANCEL);
  await closed;
}

const kinds = ['', '&allowWatchBookmarks=true', '&labelSelector=a=b&timeoutSeconds=600', '&resourceVersion=1'];

test('watches that came and went are forgotten, with their connections', async (t) => {
  const running = await startServer(t, { controllers: {} });
  const cluster = running.clusters.find('one') ?? assert.fail();
  const { ca, certificate, key } = await kubeconfigOf(cluster);
  const round = async (): Promise<number> => {
    const session = connect(cluster.address, {
      servername: cluster.hostName,
      ca,
      cert: certificate,
      key: key.reveal(),
    });
    for (let done = 0; done < perRound; done += atOnce) {
      await Promise.all(Array.from({ length: atOnce }, (_, at) => watchOnce(session, kinds[at % kinds.length] ?? '')));
    }
    const closed = once(session, 'close');
    session.close();
    await closed;
    while (cluster.connections.size > 0) await sleep(1);
    return heapBytes();
  };
  // What is made once is there after the first rounds.
  await round();
  await round();
  const before = await round();
  const after = [await round(), await round()];
  const perWatch = (Math.min(...after) - before) / perRound;
  assert.ok(perWatch < mostBytesPerWatch, `${perWatch} bytes per watch are left`);
});
