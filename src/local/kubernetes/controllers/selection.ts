// Which objects belong to a controller by selector and owner reference: it adopts what matches and nobody controls, and lets go of
// what no longer matches.
import type { KubeObject } from '../object.ts';
import type { Entry } from '../objects/objects.ts';
import type { LabelSelector } from '../types/pod/pod-spec.ts';
import { isEmptySelector, selects } from '../types/selectors.ts';
import type { Key, Trigger } from './controller.ts';
import { controllerOf, controllerReference, copyOf, type Hands, isConflict, isNotFound } from './hands.ts';
import type { Kind } from './kinds.ts';

/** The dependents of `owner` that its selector matches. Adopts and releases on the way. */
export async function claim<T extends KubeObject>(
  hands: Hands,
  kind: Kind<T>,
  owner: KubeObject,
  selector: LabelSelector,
): Promise<T[]> {
  const { uid = '', namespace = '', deletionTimestamp } = owner.metadata;
  const found: T[] = [];
  for (const object of hands.dependents(kind, uid)) {
    if (controllerOf(object)?.uid !== uid) continue;
    if (selects(selector, object.metadata.labels)) found.push(object);
    else if (!deletionTimestamp) await release(hands, kind, object, uid);
  }
  if (deletionTimestamp || isEmptySelector(selector)) return found;
  for (const entry of hands.entries(kind, namespace)) {
    if (!selects(selector, entry.labels)) continue;
    const object = hands.read(kind, entry);
    if (controllerOf(object) || object.metadata.deletionTimestamp) continue;
    const adopted = copyOf(object);
    adopted.metadata.ownerReferences = [...(object.metadata.ownerReferences ?? []), controllerReference(owner)];
    const stored = await tolerant(hands.update(kind, adopted));
    if (stored) found.push(stored);
  }
  return found;
}

async function release<T extends KubeObject>(hands: Hands, kind: Kind<T>, object: T, uid: string): Promise<void> {
  const released = copyOf(object);
  const rest = (object.metadata.ownerReferences ?? []).filter((reference) => reference.uid !== uid);
  if (rest.length > 0) released.metadata.ownerReferences = rest;
  else delete released.metadata.ownerReferences;
  await tolerant(hands.update(kind, released));
}

/** Undefined when the object went or changed meanwhile: its change leads back here. */
async function tolerant<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return undefined;
    throw error;
  }
}

/** The controllers of a kind that a change of a dependent is for: its own, and those that might adopt it. */
export function ownersOf<T extends KubeObject & { spec: { selector?: LabelSelector | undefined } }>(
  kind: Kind<T>,
): Trigger {
  const wanted = kind.type;
  const ownerKey = (entry: Entry, object: KubeObject): Key | undefined => {
    const owner = controllerOf(object);
    return owner && owner.kind === wanted.kind && owner.apiVersion.startsWith(`${wanted.group}/`)
      ? { namespace: entry.namespace, name: owner.name }
      : undefined;
  };
  return ({ entry, before }, reader) => {
    const keys: Key[] = [];
    const own = entry.owners ? ownerKey(entry, reader.read(kind as Kind<KubeObject>, entry)) : undefined;
    if (own) keys.push(own);
    if (before?.owners && !sameOwners(before.owners, entry.owners)) {
      const former = ownerKey(before, reader.read(kind as Kind<KubeObject>, before));
      if (former) keys.push(former);
    }
    if (!own && entry.labels) {
      for (const possible of reader.list(kind, entry.namespace)) {
        const { selector } = possible.spec;
        if (selector && selects(selector, entry.labels)) keys.push(keyOf(possible));
      }
    }
    return keys;
  };
}

const sameOwners = (one: readonly string[], other: readonly string[] | undefined): boolean =>
  one.length === other?.length && one.every((uid, index) => uid === other[index]);

const keyOf = ({ metadata }: KubeObject): Key => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' });
