// Between what is stored and what is served: one version of the type to another, with as little parsing as possible.
import type { KubeObject } from '../object.ts';
import type { Entry } from '../objects/objects.ts';
import type { ResourceType } from '../types/resource-type.ts';

export const apiVersionOf = ({ group, version }: { group: string; version: string }): string =>
  group ? `${group}/${version}` : version;

interface Form {
  /** Stored objects begin with this, up to `"metadata"`. */
  readonly stored: Buffer;
  /** The same in the version served; undefined where the stored bytes are served as they are. */
  readonly served: Buffer | undefined;
  readonly storedApiVersion: string;
}

const forms = new WeakMap<ResourceType, Form>();

function formOf(type: ResourceType): Form {
  let form = forms.get(type);
  if (form) return form;
  const group = type.storage.slice(0, type.storage.lastIndexOf('/'));
  const storedApiVersion = apiVersionOf({ group, version: type.storageVersion });
  const head = (apiVersion: string): Buffer =>
    Buffer.from(`{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(type.kind)},`);
  const served = apiVersionOf(type);
  form = {
    stored: head(storedApiVersion),
    served: served === storedApiVersion ? undefined : head(served),
    storedApiVersion,
  };
  forms.set(type, form);
  return form;
}

const comma = 0x2c;
const openBrace = 0x7b;

const parse = (bytes: Buffer): KubeObject => JSON.parse(bytes.toString()) as KubeObject;

/** The object of an entry, in the version of `type`; a new one each time. */
export function readObject(type: ResourceType, entry: Entry): KubeObject {
  const object = parse(entry.bytes);
  if (type.convert) return type.convert.toServed(object, entry);
  object.apiVersion = apiVersionOf(type);
  return object;
}

/** An object in the version it is stored in. The argument is not to be used afterwards. */
export function storedObject(type: ResourceType, object: KubeObject): KubeObject {
  if (type.convert) return type.convert.toStored(object);
  object.apiVersion = formOf(type).storedApiVersion;
  object.kind = type.kind;
  return object;
}

/** JSON of an entry in the version of `type`: the stored bytes where that is the version stored. */
export function servedBytes(type: ResourceType, entry: Entry): Buffer {
  if (type.convert) return Buffer.from(JSON.stringify(readObject(type, entry)));
  const { served, stored } = formOf(type);
  return served ? Buffer.concat([served, entry.bytes.subarray(stored.length)]) : entry.bytes;
}

/**
 * JSON of many entries as the inside of a list's `items`. Items of built-in types carry no apiVersion and kind, those of custom
 * resources do, as from a real server.
 */
export function itemBytes(type: ResourceType, entries: readonly Entry[]): Buffer {
  if (type.custom || type.convert) {
    const parts: Buffer[] = [];
    const separator = Buffer.from(',');
    for (const entry of entries) {
      if (parts.length > 0) parts.push(separator);
      parts.push(servedBytes(type, entry));
    }
    return Buffer.concat(parts);
  }
  const cut = formOf(type).stored.length;
  let length = 0;
  for (const { bytes } of entries) length += bytes.length - cut + 2;
  const made = Buffer.allocUnsafe(Math.max(0, length - 1));
  let at = 0;
  for (const { bytes } of entries) {
    if (at > 0) made[at++] = comma;
    made[at++] = openBrace;
    at += bytes.copy(made, at, cut);
  }
  return made;
}

/** The same object under another revision: what a watcher gets when an object leaves its selection. */
export function atRevision(entry: Entry, revision: number): Entry {
  const old = `"resourceVersion":"${entry.revision}"`;
  const at = entry.bytes.indexOf(old);
  if (at < 0) return { ...entry, revision };
  const bytes = Buffer.concat([
    entry.bytes.subarray(0, at),
    Buffer.from(`"resourceVersion":"${revision}"`),
    entry.bytes.subarray(at + old.length),
  ]);
  return { ...entry, revision, bytes };
}
