// Deletes what has lost its owners, holds owners back that wait for their dependents, and sets dependents free.
import type { KubeObject, OwnerReference } from '../object.ts';
import type { Change, Entry, StorageType } from '../objects/objects.ts';
import type { ResourceType, TypeTable } from '../types/resource-type.ts';
import type { Controller, Key } from './controller.ts';
import { copyOf, type Hands, isConflict, isNotFound, type Reader } from './hands.ts';
import { parsed } from './parsed.ts';

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

/** Keys name a type as well. */
const separator = ' ';
const keyOf = ({ type, namespace, name }: Pick<Entry, 'type' | 'namespace' | 'name'>): Key => ({
  namespace,
  name: `${type}${separator}${name}`,
});

function typeOfStorage(types: TypeTable, storage: StorageType): ResourceType | undefined {
  let found: ResourceType | undefined;
  for (const type of types.all()) {
    if (type.storage !== storage) continue;
    if (type.version === type.storageVersion) return type;
    found ??= type;
  }
  return found;
}

function typeOfReference(types: TypeTable, { apiVersion, kind }: OwnerReference): ResourceType | undefined {
  const slash = apiVersion.indexOf('/');
  return types.findKind(apiVersion.slice(0, Math.max(slash, 0)), apiVersion.slice(slash + 1), kind);
}

const mark = Buffer.from('"deletionTimestamp":"');
const isEnding = (entry: Entry): boolean =>
  entry.bytes.includes(mark) && parsed(entry).metadata.deletionTimestamp !== undefined;
const finalizersOf = (entry: Entry): readonly string[] => parsed(entry).metadata.finalizers ?? [];
const waitsForDependents = (entry: Entry): boolean => isEnding(entry) && finalizersOf(entry).includes(foreground);

function* concerned({ kind, entry, before }: Change, { cluster }: Reader): Iterable<Key> {
  if (kind === 'DELETED') {
    for (const dependent of cluster.objects.byOwner(entry.uid)) yield keyOf(dependent);
    if (entry.owners) yield* ownersOf(entry, cluster.types);
    return;
  }
  const owned = entry.owners !== undefined;
  if (isEnding(entry)) {
    yield keyOf(entry);
    if (finalizersOf(entry).includes(foreground)) {
      for (const dependent of cluster.objects.byOwner(entry.uid)) yield keyOf(dependent);
    }
  } else if (owned && (!before || !sameOwners(before, entry))) yield keyOf(entry);
  // A dependent that no longer names an owner may be what that owner waits for.
  if (before?.owners && !sameOwners(before, entry)) yield* ownersOf(before, cluster.types);
}

const sameOwners = ({ owners = [] }: Entry, { owners: others = [] }: Entry): boolean =>
  owners.length === others.length && owners.every((uid, index) => uid === others[index]);

function* ownersOf(entry: Entry, types: TypeTable): Iterable<Key> {
  for (const reference of parsed(entry).metadata.ownerReferences ?? []) {
    const type = typeOfReference(types, reference);
    if (type) {
      yield keyOf({
        type: type.storage,
        namespace: type.namespaced ? entry.namespace : '',
        name: reference.name,
      });
    }
  }
}

type Standing =
  /** It is there. */
  | 'solid'
  /** It is gone. */
  | 'dangling'
  /** It waits for its dependents to go first. */
  | 'waiting'
  /** It cannot be told: nothing is done. */
  | 'unknown';

interface Judged {
  readonly reference: OwnerReference;
  readonly standing: Standing;
}

async function judge(hands: Hands, entry: Entry, object: KubeObject, reference: OwnerReference): Promise<Judged> {
  const { cluster } = hands;
  const type = typeOfReference(cluster.types, reference);
  if (!type) return { reference, standing: 'unknown' };
  if (type.namespaced && !entry.namespace) {
    await refuse(hands, object, reference, ` does not exist in namespace ""`);
    return { reference, standing: 'unknown' };
  }
  const owner = cluster.objects.get(type.storage, type.namespaced ? entry.namespace : '', reference.name);
  if (owner?.uid === reference.uid) return { reference, standing: waitsForDependents(owner) ? 'waiting' : 'solid' };
  if (type.namespaced && cluster.objects.list(type.storage).some(({ uid }) => uid === reference.uid)) {
    await refuse(hands, object, reference, ` does not exist in namespace "${entry.namespace}"`);
  }
  return { reference, standing: 'dangling' };
}

function refuse(
  hands: Hands,
  object: KubeObject,
  { apiVersion, kind, name, uid }: OwnerReference,
  why: string,
): Promise<void> {
  const namespace = object.metadata.namespace ?? '';
  const owner = `ownerRef [${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
  return hands.event(object, 'Warning', 'OwnerRefInvalidNamespace', `${owner}${why}`);
}

const names = (object: KubeObject, uid: string): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((reference) => reference.uid === uid);

/** Writes a changed copy; a conflict means that the change leads back here. */
async function write(hands: Hands, type: ResourceType, object: KubeObject): Promise<void> {
  try {
    await hands.update({ type }, object);
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

async function changeReferences(
  hands: Hands,
  entry: Entry,
  change: (references: readonly OwnerReference[]) => OwnerReference[],
): Promise<void> {
  const type = typeOfStorage(hands.cluster.types, entry.type);
  if (!type) return;
  const object = copyOf(parsed(entry));
  const references = change(object.metadata.ownerReferences ?? []);
  if (references.length > 0) object.metadata.ownerReferences = references;
  else delete object.metadata.ownerReferences;
  await write(hands, type, object);
}

async function removeFinalizer(hands: Hands, type: ResourceType, entry: Entry, finalizer: string): Promise<void> {
  const object = copyOf(parsed(entry));
  const rest = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  if (rest.length > 0) object.metadata.finalizers = rest;
  else delete object.metadata.finalizers;
  await write(hands, type, object);
}

/** An object that is being deleted: its dependents are set free, or have to go first. */
async function finish(hands: Hands, type: ResourceType, entry: Entry): Promise<void> {
  const finalizers = finalizersOf(entry);
  const dependents = [...hands.cluster.objects.byOwner(entry.uid)];
  if (finalizers.includes(orphan)) {
    for (const dependent of dependents) {
      await changeReferences(hands, dependent, (references) => references.filter(({ uid }) => uid !== entry.uid));
    }
    await removeFinalizer(hands, type, entry, orphan);
  } else if (finalizers.includes(foreground)) {
    const blocking = dependents.some((dependent) => names(parsed(dependent), entry.uid)?.blockOwnerDeletion === true);
    if (!blocking) await removeFinalizer(hands, type, entry, foreground);
  }
}

async function collect(hands: Hands, type: ResourceType, entry: Entry): Promise<void> {
  const object = parsed(entry);
  const judged: Judged[] = [];
  for (const reference of object.metadata.ownerReferences ?? []) {
    judged.push(await judge(hands, entry, object, reference));
  }
  const having = (standing: Standing): boolean => judged.some((each) => each.standing === standing);
  if (having('unknown') || judged.length === 0) return;
  if (having('solid')) {
    if (!having('dangling') && !having('waiting')) return;
    const solid = judged.filter(({ standing }) => standing === 'solid').map(({ reference }) => reference);
    await changeReferences(hands, entry, () => solid);
    return;
  }
  const dependents = [...hands.cluster.objects.byOwner(entry.uid)];
  if (having('waiting') && dependents.length > 0) {
    // Owners in a circle would wait for each other for ever.
    const circular = dependents.some(
      (dependent) => waitsForDependents(dependent) && names(parsed(dependent), entry.uid)?.blockOwnerDeletion === true,
    );
    if (circular) {
      await changeReferences(hands, entry, (references) =>
        references.map((reference) => ({ ...reference, blockOwnerDeletion: false })),
      );
    }
    await hands.remove({ type }, object, { propagationPolicy: 'Foreground' });
    return;
  }
  const finalizers = finalizersOf(entry);
  const propagationPolicy = finalizers.includes(orphan)
    ? 'Orphan'
    : finalizers.includes(foreground)
      ? 'Foreground'
      : 'Background';
  await hands.remove({ type }, object, { propagationPolicy });
}

export const garbageCollector: Controller = {
  name: 'generic-garbage-collector',
  triggers: {},
  everything: concerned,
  async reconcile(hands, { namespace, name: typed }) {
    const at = typed.indexOf(separator);
    const [storage, name] = [typed.slice(0, at), typed.slice(at + 1)];
    const entry = hands.cluster.objects.get(storage, namespace, name);
    const type = entry && typeOfStorage(hands.cluster.types, storage);
    if (!entry || !type) return undefined;
    if (isEnding(entry)) await finish(hands, type, entry);
    else await collect(hands, type, entry);
    return undefined;
  },
};
