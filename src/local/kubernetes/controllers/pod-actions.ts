// Binding and eviction: what is asked of a pod by creating something under it.
import type { ActionHandler, ActionRequest } from '../http/routes.ts';
import { timestamp } from '../registry/timestamp.ts';
import { notSupported, required } from '../schema/field-errors.ts';
import { badRequest, forbidden, notFound, StatusError } from '../status.ts';
import { selects } from '../types/selectors.ts';
import { contextOf, copyOf } from './hands.ts';
import { disruptionBudgets, pods } from './kinds.ts';
import { parsed } from './parsed.ts';
import { isFinished, isReady } from './pods.ts';
import { bindPod } from './scheduler/bind.ts';
import type { DisruptionBudget, Pod } from './shapes.ts';

const success = {
  status: 201,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
} as const;

/** What is created under a pod must be about that pod. `name` is that of the URL, empty where it has none. */
function checkNamed(
  kind: string,
  metadata: { name?: string; namespace?: string },
  namespace: string,
  name: string,
): void {
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (name !== '' && metadata.name !== name) throw badRequest(`name in URL does not match name in ${kind} object`);
}

const bind: ActionHandler = async ({ cluster, context, namespace, name, object }) => {
  const { target, metadata } = object as unknown as {
    target?: { kind?: string; name?: string };
    metadata: { name?: string; namespace?: string; uid?: string; annotations?: Record<string, string> };
  };
  const pod = name || metadata.name || '';
  if (pod === '') throw badRequest('Name parameter required.');
  checkNamed('Binding', metadata, namespace, name);
  const problems = [
    ...(target?.kind && target.kind !== 'Node' ? [notSupported('target.kind', target.kind, ['Node', '<empty>'])] : []),
    ...(target?.name ? [] : [required('target.name')]),
  ].map(({ field, message }) => `${field}: ${message}`);
  if (problems.length > 0 || !target?.name) {
    throw badRequest(problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`);
  }
  if (!context.dryRun) {
    const { uid, annotations } = metadata;
    await bindPod(cluster, { namespace, name: pod, ...(uid ? { uid } : {}) }, target.name, annotations);
  }
  return success;
};

/** The budgets that a pod counts in. */
function budgetsOf({ cluster, namespace }: ActionRequest, { metadata }: Pod): DisruptionBudget[] {
  return cluster.objects
    .list(disruptionBudgets.type.storage, { namespace })
    .map((entry) => parsed<DisruptionBudget>(entry))
    .filter(({ spec }) => spec.selector && selects(spec.selector, metadata.labels));
}

const retryAfterSeconds = 10;

function tooMany(budget: DisruptionBudget): StatusError {
  const { name = '' } = budget.metadata;
  const { desiredHealthy = 0, currentHealthy = 0 } = budget.status ?? {};
  return new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [
      {
        reason: 'DisruptionBudget',
        message: `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
      },
    ],
    retryAfterSeconds,
  });
}

const evict: ActionHandler = async (request) => {
  const { cluster, context, namespace, name, object } = request;
  checkNamed('Eviction', object?.metadata ?? {}, namespace, name);
  const entry = cluster.objects.get(pods.type.storage, namespace, name);
  if (!entry) throw notFound({ group: '', resource: 'pods' }, name);
  const pod = parsed<Pod>(entry);
  const { deleteOptions = {} } = (object ?? {}) as { deleteOptions?: { gracePeriodSeconds?: number } };
  const free = isFinished(pod) || pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === 'Pending';
  const budgets = free ? [] : budgetsOf(request, pod);
  if (budgets.length > 1) {
    throw new StatusError(
      500,
      'InternalError',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const [budget] = budgets;
  if (budget) {
    const { status } = budget;
    const current = (status?.observedGeneration ?? 0) >= (budget.metadata.generation ?? 0);
    const unhealthy =
      !isReady(pod) &&
      (status?.currentHealthy ?? 0) >= (status?.desiredHealthy ?? 0) &&
      (status?.desiredHealthy ?? 0) > 0;
    const anyway = !isReady(pod) && budget.spec.unhealthyPodEvictionPolicy === 'AlwaysAllow';
    if (!unhealthy && !anyway) {
      if (!current || !status || status.disruptionsAllowed <= 0) throw tooMany(budget);
      if (!context.dryRun) {
        const changed = copyOf(budget);
        changed.status = {
          ...status,
          disruptionsAllowed: status.disruptionsAllowed - 1,
          disruptedPods: { ...status.disruptedPods, [name]: timestamp(cluster.now()) },
        };
        const server = contextOf(cluster, { name: 'eviction', manager: 'kube-apiserver', user: 'system:apiserver' });
        await cluster.registry.update(
          server,
          disruptionBudgets.type,
          { namespace, name: budget.metadata.name ?? '' },
          changed,
          'status',
        );
      }
    }
  }
  if (namespace === '') throw forbidden({ group: '', resource: 'pods' }, name, 'a pod is in a namespace');
  await cluster.registry.delete(
    context,
    pods.type,
    { namespace, name },
    {
      ...(deleteOptions.gracePeriodSeconds === undefined
        ? {}
        : { gracePeriodSeconds: deleteOptions.gracePeriodSeconds }),
      ...(pod.metadata.uid ? { preconditions: { uid: pod.metadata.uid } } : {}),
    },
  );
  return success;
};

/** By resource and subresource, for the server's table of actions. */
export const podActions: ReadonlyMap<string, ActionHandler> = new Map<string, ActionHandler>([
  ['/pods/binding', bind],
  ['/bindings', bind],
  ['/pods/eviction', evict],
]);
