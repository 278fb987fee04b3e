import { atMost, type Metrics, oneOf } from '../kit/metrics.ts';

/** What an informer tells about itself. */
export interface InformerMetrics {
  changed(how: 'add' | 'update' | 'delete'): void;
  listed(objects: number): void;
  size(objects: number): void;
  failed(): void;
}

const known = new WeakMap<Metrics, (resource: string) => InformerMetrics>();

/** The metrics of the informers of one resource, among all that share `metrics`. */
export function informerMetrics(metrics: Metrics, resource: string): InformerMetrics {
  const made = known.get(metrics) ?? register(metrics);
  known.set(metrics, made);
  return made(resource);
}

function register(metrics: Metrics): (resource: string) => InformerMetrics {
  const resource = atMost(300);
  const changes = metrics.counter({
    name: 'kube_informer_changes_total',
    help: 'Changes of objects that informers have seen.',
    labels: { resource, change: oneOf(['add', 'update', 'delete']) },
  });
  const lists = metrics.counter({
    name: 'kube_informer_lists_total',
    help: 'Whole lists that informers have fetched.',
    labels: { resource },
  });
  const failures = metrics.counter({
    name: 'kube_informer_failures_total',
    help: 'Lists and watches that failed.',
    labels: { resource },
  });
  const objects = metrics.gauge({
    name: 'kube_informer_objects',
    help: 'Objects that informers keep.',
    labels: { resource },
  });
  return (name) => ({
    changed: (change) => changes({ resource: name, change }),
    listed(size) {
      lists({ resource: name });
      objects({ resource: name }, size);
    },
    size: (size) => objects({ resource: name }, size),
    failed: () => failures({ resource: name }),
  });
}
