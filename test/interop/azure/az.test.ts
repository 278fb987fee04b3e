// What az said to a cloud when it was recorded, said again to a fresh one: it must be answered the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, ProxyAgent, request } from 'undici';
import { type Answered, type Exchange, isUnderWay, namedAnswer } from './exchange.ts';
import type { Naming } from './naming.ts';
import { namingOf, readRecordings, startCloud, stepOf } from './session.ts';

const { version, recordings } = readRecordings();
/** An operation of the `instant` profile is over as soon as its effects are there. */
const maxPolls = 200;
const pollMs = 10;

interface Replay {
  readonly naming: Naming;
  readonly agents: readonly [direct: Dispatcher, proxied: Dispatcher];
}

async function say({ naming, agents }: Replay, exchange: Exchange, bodies: boolean): Promise<Answered> {
  const [direct, proxied] = agents;
  const url = naming.actual(exchange.url);
  const headers = Object.fromEntries(
    Object.entries(exchange.headers).map(([name, value]) => [name, naming.actual(value)]),
  );
  const body =
    exchange.body === undefined
      ? undefined
      : naming.actual(typeof exchange.body === 'string' ? exchange.body : JSON.stringify(exchange.body));
  const answer = await request(url, {
    method: exchange.method as Dispatcher.HttpMethod,
    headers,
    dispatcher: new URL(url).hostname === 'localhost' ? direct : proxied,
    ...(body === undefined ? {} : { body }),
  });
  const received = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  ) as { [name: string]: string };
  return namedAnswer(
    { status: answer.statusCode, headers: received, body: Buffer.from(await answer.body.arrayBuffer()) },
    naming,
    bodies,
  );
}

/** Asks until an operation is over when it was over in the recording. */
async function answerTo(replay: Replay, exchange: Exchange, bodies: boolean): Promise<Answered> {
  for (let poll = 1; ; poll++) {
    const answer = await say(replay, exchange, bodies);
    const wait = exchange.method === 'GET' && isUnderWay(answer) && !isUnderWay(exchange.answer);
    if (!wait || poll === maxPolls) return answer;
    await sleep(pollMs);
  }
}

test(`what az ${version} asked of a cloud is answered as it was recorded`, async (t) => {
  const azure = await startCloud();
  const agents = [
    new Agent({ connect: { ca: azure.ca } }),
    new ProxyAgent({ uri: azure.cloud.proxy, requestTls: { ca: azure.ca } }),
  ] as const;
  t.after(async () => {
    await Promise.all(agents.map((agent) => agent.destroy()));
    await azure.stop();
  });
  const replay: Replay = { naming: namingOf(azure), agents };
  for (const recording of recordings) {
    const { step, exchanges } = recording;
    if (exchanges.length === 0) continue;
    await t.test(step, async () => {
      const bodies = stepOf(recording)?.statusOnly !== true;
      for (const exchange of exchanges) {
        const answer = await answerTo(replay, exchange, bodies);
        assert.deepEqual(answer, exchange.answer, `${exchange.method} ${exchange.url}`);
      }
    });
  }
});
