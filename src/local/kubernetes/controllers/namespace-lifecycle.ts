// Empties namespaces that are being deleted, then lets them go.
import type { KubeObject } from '../object.ts';
import type { Entry } from '../objects/objects.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { setConditions } from './conditions.ts';
import type { Controller, Key } from './controller.ts';
import { copyOf, type Hands, isNotFound } from './hands.ts';
import { namespaces, pods } from './kinds.ts';
import { parsed } from './parsed.ts';
import type { Condition } from './shapes.ts';

/** What remains is looked at again, in case nobody tells. */
const pollMs = 5000;

const isEnding = (entry: Entry | undefined): boolean => entry?.fields?.['status.phase'] === 'Terminating';

/** Every namespaced type of the cluster, once for all its versions. */
function contentTypes({ cluster }: Hands): ResourceType[] {
  const seen = new Set<string>();
  const found: ResourceType[] = [];
  for (const type of cluster.types.all()) {
    if (!type.namespaced || !type.verbs.includes('delete') || seen.has(type.storage)) continue;
    seen.add(type.storage);
    found.push(type);
  }
  return found;
}

interface Remains {
  readonly type: ResourceType;
  readonly entries: readonly Entry[];
}

/** Deletes all objects of a type and tells what is left of them. */
async function clear(hands: Hands, type: ResourceType, namespace: string): Promise<Remains> {
  const { cluster, context } = hands;
  const remaining = (): Entry[] => cluster.objects.list(type.storage, { namespace });
  for (const { name } of remaining()) {
    try {
      await cluster.registry.delete(context, type, { namespace, name }, { propagationPolicy: 'Background' });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return { type, entries: remaining() };
}

function conditionsOf(remains: readonly Remains[]): Condition[] {
  const counts = remains.map(({ type, entries }) => {
    const resource = type.group ? `${type.plural}.${type.group}` : `${type.plural}.`;
    return `${resource} has ${entries.length} resource instances`;
  });
  const finalizers = new Map<string, number>();
  for (const { entries } of remains) {
    for (const entry of entries) {
      for (const finalizer of parsed(entry).metadata.finalizers ?? []) {
        finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
      }
    }
  }
  const held = [...finalizers].sort().map(([name, count]) => `${name} in ${count} resource instances`);
  const condition = (type: string, status: boolean, reason: string, message: string): Condition => ({
    type,
    status: status ? 'True' : 'False',
    reason,
    message,
  });
  return [
    condition(
      'NamespaceDeletionDiscoveryFailure',
      false,
      'ResourcesDiscovered',
      'All resources successfully discovered',
    ),
    condition(
      'NamespaceDeletionGroupVersionParsingFailure',
      false,
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    condition(
      'NamespaceDeletionContentFailure',
      false,
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ),
    counts.length > 0
      ? condition(
          'NamespaceContentRemaining',
          true,
          'SomeResourcesRemain',
          `Some resources are remaining: ${counts.join(', ')}`,
        )
      : condition('NamespaceContentRemaining', false, 'ContentRemoved', 'All content successfully removed'),
    held.length > 0
      ? condition(
          'NamespaceFinalizersRemaining',
          true,
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${held.join(', ')}`,
        )
      : condition(
          'NamespaceFinalizersRemaining',
          false,
          'ContentHasNoFinalizers',
          'All content-preserving finalizers finished',
        ),
  ];
}

async function reconcile(hands: Hands, { name }: Key): Promise<{ afterMs: number } | undefined> {
  const namespace = hands.get(namespaces, '', name);
  if (!namespace?.metadata.deletionTimestamp || !namespace.spec?.finalizers?.includes('kubernetes')) return undefined;
  // Pods first: what they use outlives them.
  const first = await clear(hands, pods.type, name);
  const remains = first.entries.length > 0 ? [first] : [];
  for (const type of contentTypes(hands)) {
    if (type === pods.type) continue;
    if (hands.cluster.objects.count(type.storage, name) === 0) continue;
    if (first.entries.length > 0) continue;
    const left = await clear(hands, type, name);
    if (left.entries.length > 0) remains.push(left);
  }
  const current = hands.get(namespaces, '', name);
  if (!current) return undefined;
  if (remains.length > 0) {
    const status = { ...current.status, phase: 'Terminating' };
    const conditions = setConditions(status.conditions, conditionsOf(remains), hands.timestamp());
    await hands.setStatus(namespaces, current, { ...status, conditions });
    return { afterMs: pollMs };
  }
  const emptied = copyOf(current);
  emptied.spec = {
    ...current.spec,
    finalizers: (current.spec?.finalizers ?? []).filter((each) => each !== 'kubernetes'),
  };
  await hands.update(namespaces, emptied as KubeObject, 'finalize');
  return undefined;
}

export const namespaceLifecycle: Controller = {
  name: 'namespace-controller',
  triggers: {
    [namespaces.type.storage]: ({ kind, entry }) => (kind !== 'DELETED' && isEnding(entry) ? [entry] : []),
  },
  everything: ({ kind, entry }, { cluster }) =>
    kind === 'DELETED' && entry.namespace && isEnding(cluster.objects.get(namespaces.type.storage, '', entry.namespace))
      ? [{ namespace: '', name: entry.namespace }]
      : [],
  reconcile,
};
