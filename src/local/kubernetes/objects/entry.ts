// How an object becomes an entry: its JSON with the revision in a known place, its labels and owners beside it.
import type { KubeObject } from '../object.ts';
import type { Entry, StorageType } from './objects.ts';

/** An entry as this folder keeps it. */
export interface StoredEntry extends Entry {
  /** Namespace and name as one text; entries are in its order, which is that of the keys in a real server's etcd. */
  readonly key: string;
  /** Its row in the database. */
  readonly row: number;
}

export const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

/** Makes the entry of an object, and sets the object's metadata.resourceVersion. Takes over nothing else of the object. */
export function entryOf(
  type: StorageType,
  object: KubeObject,
  fields: Entry['fields'],
  place: { readonly revision: number; readonly row: number; readonly before: StoredEntry | undefined },
): StoredEntry {
  const { metadata } = object;
  const { revision, row, before } = place;
  const { name, namespace = '', uid = '' } = metadata;
  if (name === undefined) throw new Error(`an object of ${type} without a name cannot be stored`);
  metadata.resourceVersion = String(revision);
  return {
    type,
    namespace: before?.namespace ?? namespace,
    name: before?.name ?? name,
    uid: before?.uid === uid ? before.uid : uid,
    revision,
    bytes: exactBuffer(jsonOf(object)),
    labels: sameRecord(before?.labels, metadata.labels),
    fields: sameRecord(before?.fields, fields),
    owners: sameList(
      before?.owners,
      metadata.ownerReferences?.map((owner) => owner.uid),
    ),
    key: before?.key ?? keyOf(namespace, name),
    row,
  };
}

/** The entry with which an object ends: its last state, with the revision of its deletion. */
export function deletedEntry(last: StoredEntry, revision: number): StoredEntry {
  return { ...last, revision, bytes: withRevision(last.bytes, last.revision, revision) };
}

/**
 * JSON with apiVersion, kind and metadata first, and in metadata the name, namespace, uid and resourceVersion first: so they
 * are found in the bytes without parsing them.
 */
function jsonOf(object: KubeObject): string {
  const { apiVersion, kind, metadata, ...rest } = object;
  const { name, generateName, namespace, uid, resourceVersion, ...more } = metadata;
  const identity = JSON.stringify({ name, generateName, namespace, uid, resourceVersion });
  return joined(
    `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":${joined(identity, more)}}`,
    rest,
  );
}

/** The JSON text of an object with more members at its end. */
function joined(head: string, more: object): string {
  const tail = JSON.stringify(more);
  return tail === '{}' ? head : `${head.slice(0, -1)},${tail.slice(1)}`;
}

/** Members before it are texts, in which quotes are escaped: the first match is the one of the metadata. */
function withRevision(bytes: Buffer, from: number, to: number): Buffer {
  const old = `"resourceVersion":"${from}"`;
  const at = bytes.indexOf(old);
  if (at < 0) throw new Error(`revision ${from} is not in the JSON of its object`);
  const text = `"resourceVersion":"${to}"`;
  const made = Buffer.allocUnsafeSlow(bytes.length - old.length + text.length);
  bytes.copy(made, 0, 0, at);
  made.write(text, at, 'latin1');
  bytes.copy(made, at + text.length, at + old.length);
  return made;
}

/** A buffer with memory of its own: one from Node's pool would keep its neighbours' memory for as long as it lives. */
export function exactBuffer(text: string): Buffer {
  const buffer = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  buffer.write(text);
  return buffer;
}

/** Labels hardly ever change, so most entries of an object share them. */
function sameRecord(
  before: Readonly<Record<string, string>> | undefined,
  now: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  if (now === undefined) return undefined;
  const keys = Object.keys(now);
  if (keys.length === 0) return undefined;
  if (before === undefined || Object.keys(before).length !== keys.length) return { ...now };
  return keys.every((key) => Object.hasOwn(before, key) && before[key] === now[key]) ? before : { ...now };
}

function sameList(
  before: readonly string[] | undefined,
  now: readonly string[] | undefined,
): readonly string[] | undefined {
  if (now === undefined || now.length === 0) return undefined;
  return before?.length === now.length && now.every((uid, index) => uid === before[index]) ? before : now;
}
