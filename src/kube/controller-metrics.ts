import { atMost, type Metrics, oneOf } from '../kit/metrics.ts';

export type Outcome = 'success' | 'requeue_after' | 'error' | 'terminal_error' | 'timeout';

/** What a controller tells about itself, beside its queue. */
export interface ControllerMetrics {
  reconciled(outcome: Outcome, seconds: number): void;
  active(workers: number): void;
}

const outcomes: readonly Outcome[] = ['success', 'requeue_after', 'error', 'terminal_error', 'timeout'];
const known = new WeakMap<Metrics, (controller: string) => ControllerMetrics>();

/** The metrics of the controller of this name, among all that share `metrics`. */
export function controllerMetrics(metrics: Metrics, controller: string): ControllerMetrics {
  const made = known.get(metrics) ?? register(metrics);
  known.set(metrics, made);
  return made(controller);
}

function register(metrics: Metrics): (controller: string) => ControllerMetrics {
  const controller = atMost(200);
  const total = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles by how they ended.',
    labels: { controller, result: oneOf(outcomes) },
  });
  const errors = metrics.counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles that failed.',
    labels: { controller },
  });
  const time = metrics.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'How long reconciles took.',
    labels: { controller },
  });
  const active = metrics.gauge({
    name: 'controller_runtime_active_workers',
    help: 'Reconciles under way.',
    labels: { controller },
  });
  return (name) => ({
    reconciled(outcome, seconds) {
      total({ controller: name, result: outcome });
      if (outcome !== 'success' && outcome !== 'requeue_after') errors({ controller: name });
      time({ controller: name }, seconds);
    },
    active: (workers) => active({ controller: name }, workers),
  });
}
