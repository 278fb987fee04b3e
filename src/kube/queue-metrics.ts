import { atMost, type Metrics } from '../kit/metrics.ts';

/** What a queue tells about itself. */
export interface QueueMetrics {
  added(): void;
  retried(): void;
  depth(items: number): void;
  /** How long an item waited for a worker. */
  waited(seconds: number): void;
  /** How long a worker had it. */
  worked(seconds: number): void;
}

const known = new WeakMap<Metrics, (queue: string) => QueueMetrics>();

/** The metrics of the queue of this name, among all queues that share `metrics`. */
export function queueMetrics(metrics: Metrics, queue: string): QueueMetrics {
  const made = known.get(metrics) ?? register(metrics);
  known.set(metrics, made);
  return made(queue);
}

function register(metrics: Metrics): (queue: string) => QueueMetrics {
  const labels = { name: atMost(200) };
  const added = metrics.counter({ name: 'workqueue_adds_total', help: 'Items added to the queue.', labels });
  const retried = metrics.counter({ name: 'workqueue_retries_total', help: 'Items added after a failure.', labels });
  const depth = metrics.gauge({ name: 'workqueue_depth', help: 'Items that wait for a worker.', labels });
  const waited = metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long items waited for a worker.',
    labels,
  });
  const worked = metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long workers had items.',
    labels,
  });
  return (name) => ({
    added: () => added({ name }),
    retried: () => retried({ name }),
    depth: (items) => depth({ name }, items),
    waited: (seconds) => waited({ name }, seconds),
    worked: (seconds) => worked({ name }, seconds),
  });
}
