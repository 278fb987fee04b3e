import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fastify } from 'fastify';
import { type HealthOptions, health, listenHealth } from './health.ts';
import { createMetrics } from './metrics.ts';
import { createReadiness } from './readiness.ts';

test('is alive whatever is not ready', async (t) => {
  const { get, readiness } = await setup(t);
  readiness.addReadiness('database', () => {
    throw new Error('connection refused');
  });
  assert.equal((await get('/healthz')).status, 200);
  assert.equal((await get('/readyz')).status, 503);
});

test('names what is not ready, why, and since when', async (t) => {
  const { get, readiness, clock } = await setup(t);
  assert.deepEqual(await get('/readyz'), { status: 200, body: { status: 'ready' } });

  let broken = true;
  readiness.addReadiness('database', () => {
    if (broken) throw new Error('connection refused');
  });
  readiness.addReadiness('broker', async () => undefined);
  clock.now = new Date('2030-01-01T00:01:00Z');
  const notReady = [{ name: 'database', reason: 'connection refused', since: '2030-01-01T00:01:00.000Z' }];
  assert.deepEqual(await get('/readyz'), { status: 503, body: { status: 'not ready', notReady } });
  clock.now = new Date('2030-01-01T00:02:00Z');
  assert.deepEqual(await get('/readyz'), { status: 503, body: { status: 'not ready', notReady } });

  broken = false;
  clock.now = new Date('2030-01-01T00:03:00Z');
  assert.equal((await get('/readyz')).status, 200);
  broken = true;
  clock.now = new Date('2030-01-01T00:04:00Z');
  const again = await get('/readyz');
  assert.equal(again.body.notReady?.[0]?.since, '2030-01-01T00:04:00.000Z');
});

test('many probes at once are one check, and its answer is kept briefly', async (t) => {
  const { get, readiness, clock } = await setup(t, { cacheSeconds: 5 });
  let count = 0;
  readiness.addReadiness('database', async () => {
    count++;
  });
  await Promise.all(Array.from({ length: 10 }, () => get('/readyz')));
  await get('/readyz');
  assert.equal(count, 1);
  clock.now = new Date('2030-01-01T00:00:06Z');
  await get('/readyz');
  assert.equal(count, 2);
  clock.now = new Date('2029-12-31T00:00:00Z');
  await get('/readyz');
  assert.equal(count, 3, 'a clock set back does not keep an old answer');
});

test('a check that does not answer in time is not ready', async (t) => {
  const readiness = createReadiness({ checkSeconds: 0.05 });
  const { get } = await setup(t, { readiness });
  readiness.addReadiness('database', () => new Promise(() => undefined));
  const answer = await get('/readyz');
  assert.equal(answer.status, 503);
  assert.match(answer.body.notReady?.[0]?.reason ?? '', /no answer within/);
});

test('metrics are served as Prometheus reads them', async (t) => {
  const { url, metrics } = await setup(t);
  metrics.counter({ name: 'things_total', help: 'Things.', labels: {} })({}, 3);
  const response = await fetch(`${url}/metrics`);
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  assert.match(await response.text(), /^things_total 3$/m);
});

test('nothing else is served, and nothing is kept by caches', async (t) => {
  const { url } = await setup(t);
  const found = await fetch(`${url}/healthz`);
  assert.equal(found.headers.get('cache-control'), 'no-store');
  assert.equal((await fetch(`${url}/`)).status, 404);
  assert.equal((await fetch(`${url}/healthz`, { method: 'POST' })).status, 404);
});

test('the routes can be added to any app', async () => {
  const app = fastify();
  app.register(health({ readiness: createReadiness(), metrics: createMetrics() }), { prefix: '/internal' });
  assert.equal((await app.inject('/internal/readyz')).statusCode, 200);
  await app.close();
});

interface Answer {
  readonly status: number;
  readonly body: { readonly notReady?: readonly { readonly reason: string; readonly since: string }[] };
}

async function setup(t: TestContext, options: Partial<HealthOptions> = {}) {
  const clock = { now: new Date('2030-01-01T00:00:00Z') };
  const readiness = createReadiness();
  const metrics = createMetrics();
  const listener = await listenHealth({
    host: '127.0.0.1',
    port: 0,
    readiness,
    metrics,
    cacheSeconds: 0,
    now: () => clock.now,
    ...options,
  });
  t.after(() => listener.stop());
  const get = async (path: string): Promise<Answer> => {
    const response = await fetch(`${listener.url}${path}`);
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  return { clock, readiness, metrics, url: listener.url, get };
}
