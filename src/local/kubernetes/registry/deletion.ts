// How objects go: at once, after their grace, or when the last finalizer has let go of them.
import type { KubeObject } from '../object.ts';
import type { Entry, Objects, Transaction } from '../objects/objects.ts';
import type { RequestContext } from '../request-context.ts';
import { conflict, notFound } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type AdmissionPlugin, type AdmissionRequest, admit, admitNow, concerned } from './admission.ts';
import { checkNamespaceDelete, namespaceStorage } from './namespace-lifecycle.ts';
import { converting } from './pending-conversion.ts';
import { previewEntry } from './preview-entry.ts';
import type { DeleteOptions, ObjectName } from './registry.ts';
import { readObject, storedObject } from './served.ts';
import { timestamp } from './timestamp.ts';
import { orphansByDefault } from './write-rules.ts';

export interface Deleted {
  readonly entry: Entry;
  readonly gone: boolean;
}

const podsPreserved =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

/** Whether something in the object itself keeps it: finalizers, and for namespaces those of the spec. */
function isHeld(type: ResourceType, object: KubeObject): boolean {
  if ((object.metadata.finalizers?.length ?? 0) > 0) return true;
  if (type.storage !== namespaceStorage) return false;
  const { finalizers } = (object.spec ?? {}) as { finalizers?: unknown[] };
  return (finalizers?.length ?? 0) > 0;
}

/** Whether an update of an object that is being deleted takes away the last thing that kept it. */
export function removesOnUpdate(type: ResourceType, object: KubeObject, live: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = live.metadata;
  if (deletionTimestamp === undefined || isHeld(type, object)) return false;
  return type.storage === namespaceStorage || (deletionGracePeriodSeconds ?? 0) === 0;
}

/** The finalizers as the delete options want them. */
function finalizersFor(type: ResourceType, current: readonly string[], options: DeleteOptions): string[] {
  const { propagationPolicy } = options;
  const orphans = propagationPolicy
    ? propagationPolicy === 'Orphan'
    : current.includes(orphan) || (!current.includes(foreground) && orphansByDefault(type));
  const waits = propagationPolicy ? propagationPolicy === 'Foreground' : current.includes(foreground) && !orphans;
  const kept = current.filter((name) => name !== orphan && name !== foreground);
  if (orphans) kept.push(orphan);
  if (waits) kept.push(foreground);
  return kept;
}

function checkPreconditions(type: ResourceType, entry: Entry, { preconditions }: DeleteOptions): void {
  if (!preconditions) return;
  const subject = { group: type.group, resource: type.kind };
  if (preconditions.uid !== undefined && preconditions.uid !== entry.uid) {
    throw conflict(
      subject,
      entry.name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${entry.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== String(entry.revision)) {
    throw conflict(
      subject,
      entry.name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${entry.revision}). The object might have been modified`,
    );
  }
}

type Grace =
  /** It is on its way already and nothing about that changes. */
  | 'pending'
  /** Seconds it is given; undefined when its type knows no grace. */
  | number
  | undefined;

function graceOf(type: ResourceType, object: KubeObject, options: DeleteOptions): Grace {
  const { grace } = type.strategy;
  if (!grace) return undefined;
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
  const asked = options.gracePeriodSeconds === undefined ? undefined : Math.max(options.gracePeriodSeconds, 0);
  if (deletionTimestamp === undefined) return grace(object, asked);
  if (deletionGracePeriodSeconds === undefined) return undefined;
  return asked === undefined || asked >= deletionGracePeriodSeconds ? 'pending' : asked;
}

/** Sets when the object is to go. */
function mark(object: KubeObject, seconds: number, now: number): void {
  const { metadata } = object;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
  if (deletionTimestamp === undefined) {
    metadata.deletionTimestamp = timestamp(now + seconds * 1000);
    if (metadata.generation) metadata.generation += 1;
  } else if (seconds !== deletionGracePeriodSeconds) {
    const asked = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
    metadata.deletionTimestamp = timestamp(asked + seconds * 1000);
  }
  metadata.deletionGracePeriodSeconds = seconds;
}

function remove(
  transaction: Transaction,
  context: RequestContext,
  type: ResourceType,
  entry: Entry,
  options: DeleteOptions,
): Deleted {
  checkPreconditions(type, entry, options);
  const object = readObject(type, entry);
  const grace = graceOf(type, object, options);
  if (grace === 'pending') return { entry, gone: false };
  const before = JSON.stringify(object.metadata);
  type.strategy.prepareDelete?.(object, context);
  const finalizers = finalizersFor(type, object.metadata.finalizers ?? [], options);
  if (type.storage === 'batch/jobs' && options.propagationPolicy === undefined) context.warn(podsPreserved);
  if (finalizers.length > 0) object.metadata.finalizers = finalizers;
  else delete object.metadata.finalizers;
  // A namespace has no grace of its own: it is always marked first, and goes when its controller has emptied it.
  const isNamespace = type.storage === namespaceStorage;
  const stays = isHeld(type, object) || (grace ?? 0) > 0 || (isNamespace && !object.metadata.deletionTimestamp);
  const now = context.cluster.now();
  if (stays) {
    if (isNamespace) {
      object.metadata.deletionTimestamp ??= timestamp(now);
      object.status = { ...(object.status as object | undefined), phase: 'Terminating' };
    } else if (!type.strategy.prepareDelete) mark(object, grace ?? 0, now);
    if (JSON.stringify(object.metadata) === before) return { entry, gone: false };
    if (context.dryRun) return { entry: previewEntry(type, object, entry), gone: false };
    const fields = type.strategy.fields?.(object);
    return { entry: transaction.put(type.storage, storedObject(type, object), { fields }), gone: false };
  }
  if (grace === undefined) return { entry: context.dryRun ? entry : transaction.delete(entry), gone: true };
  // Where there could have been grace, watchers see the object marked before it goes.
  mark(object, 0, now);
  if (context.dryRun) return { entry: previewEntry(type, object, entry), gone: true };
  const fields = type.strategy.fields?.(object);
  const marked = transaction.put(type.storage, storedObject(type, object), { fields });
  return { entry: transaction.delete(marked), gone: true };
}

export const deleteObject = (
  objects: Objects,
  plugins: readonly AdmissionPlugin[],
  context: RequestContext,
  type: ResourceType,
  name: ObjectName,
  options: DeleteOptions,
): Promise<Deleted> => converting(type, () => deleteOnce(objects, plugins, context, type, name, options));

async function deleteOnce(
  objects: Objects,
  plugins: readonly AdmissionPlugin[],
  context: RequestContext,
  type: ResourceType,
  name: ObjectName,
  options: DeleteOptions,
): Promise<Deleted> {
  const read = (reader: Pick<Objects, 'get'>): Entry => {
    const entry = reader.get(type.storage, name.namespace, name.name);
    if (!entry) throw notFound({ group: type.group, resource: type.plural }, name.name);
    return entry;
  };
  const target = { operation: 'DELETE' as const, type, subresource: '', namespace: name.namespace };
  const request = (entry: Entry): AdmissionRequest => ({
    ...target,
    context,
    name,
    object: undefined,
    old: readObject(type, entry),
    deleteOptions: options,
  });
  checkNamespaceDelete(type, name.name);
  const chosen = concerned(plugins, target, context);
  const waits = chosen.some((plugin) => plugin.waits);
  if (waits) {
    const asked = request(read(objects));
    await admit(chosen, 'mutate', asked);
    await admit(chosen, 'validate', asked);
  }
  return objects.commit((transaction) => {
    const entry = read(transaction);
    if (!waits && chosen.length > 0) {
      const asked = request(entry);
      admitNow(chosen, 'mutate', asked);
      admitNow(chosen, 'validate', asked);
    }
    return remove(transaction, context, type, entry, options);
  });
}
