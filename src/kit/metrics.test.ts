import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { atMost, createMetrics, httpRequestHistogram, oneOf, statusClass } from './metrics.ts';

/** The lines of a scrape that are samples of a metric, without the histogram's buckets. */
async function samples(metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> {
  const { body } = await metrics.scrape();
  return body.split('\n').filter((line) => line.startsWith(name) && !line.includes('_bucket'));
}

describe('labels', () => {
  it('outside an allow list are "other"', async () => {
    const metrics = createMetrics();
    const count = metrics.counter({ name: 'done_total', help: 'Done.', labels: { result: oneOf(['ok', 'failed']) } });
    count({ result: 'ok' });
    count({ result: 'ok' }, 2);
    count({ result: '"} evil{' });
    assert.deepEqual(await samples(metrics, 'done_total'), [
      'done_total{result="ok"} 3',
      'done_total{result="other"} 1',
    ]);
  });

  it('past the limit of distinct names share four values, each name always the same one', () => {
    const bound = atMost(3);
    const names = Array.from({ length: 10_000 }, (_, n) => `/route/${n}`);
    const first = names.map(bound);
    assert.deepEqual(first.slice(0, 3), ['/route/0', '/route/1', '/route/2']);
    assert.deepEqual(new Set(first.slice(3)), new Set(['other-0', 'other-1', 'other-2', 'other-3']));
    assert.deepEqual(names.map(bound), first);
  });

  it('never carry text that is not a name, and such text does not use up the limit', () => {
    const bound = atMost(1);
    for (const text of ['two words', 'line\nbreak', '', 'x'.repeat(129), 'é', 'a=b', '"'])
      assert.equal(bound(text), 'other');
    assert.equal(bound('/a/{b}'), '/a/{b}');
  });
});

describe('HTTP requests', () => {
  it('are counted and timed by method, route pattern and status', async () => {
    const metrics = createMetrics();
    const observe = httpRequestHistogram(metrics);
    observe({ method: 'GET', route: '/things/:name', status: 200, seconds: 0.25 });
    observe({ method: 'GET', route: '/things/:name', status: 200, seconds: 0.5 });
    observe({ method: 'BREW', route: undefined, status: 999, seconds: 1 });
    assert.deepEqual(await samples(metrics, 'http_request_duration_seconds'), [
      'http_request_duration_seconds_sum{method="GET",route="/things/:name",status="200"} 0.75',
      'http_request_duration_seconds_count{method="GET",route="/things/:name",status="200"} 2',
      'http_request_duration_seconds_sum{method="other",route="none",status="other"} 1',
      'http_request_duration_seconds_count{method="other",route="none",status="other"} 1',
    ]);
  });

  it('can be told apart by status class only', async () => {
    const metrics = createMetrics();
    const observe = httpRequestHistogram(metrics, { name: 'requests', status: statusClass });
    for (const status of [200, 201, 404]) observe({ method: 'GET', route: '/', status, seconds: 1 });
    assert.deepEqual(await samples(metrics, 'requests_count'), [
      'requests_count{method="GET",route="/",status="2xx"} 2',
      'requests_count{method="GET",route="/",status="4xx"} 1',
    ]);
  });
});

describe('a registry', () => {
  it('belongs to one service: two services may use the same names', async () => {
    const [a, b] = [createMetrics(), createMetrics()];
    const labels = { kind: oneOf(['x']) };
    a.gauge({ name: 'size', help: 'Size.', labels })({ kind: 'x' }, 1);
    b.gauge({ name: 'size', help: 'Size.', labels })({ kind: 'x' }, 2);
    assert.deepEqual(await samples(a, 'size'), ['size{kind="x"} 1']);
    assert.deepEqual(await samples(b, 'size'), ['size{kind="x"} 2']);
  });

  it('holds figures of the process only when asked to', async () => {
    assert.deepEqual(await samples(createMetrics(), 'process_'), []);
    assert.ok((await samples(createMetrics({ processMetrics: true }), 'process_')).length > 0);
  });

  it('is served as Prometheus text', async () => {
    assert.match((await createMetrics().scrape()).contentType, /^text\/plain; version=0\.0\.4/);
  });
});
