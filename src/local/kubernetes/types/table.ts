// The types that one cluster serves. Built-ins are one shared index; a cluster adds only its own custom resources.
import { createHash } from 'node:crypto';
import type { Schema } from '../schema/schema.ts';
import { builtinTypes } from './builtin.ts';
import type { ResourceType, TypeTable } from './resource-type.ts';

/** A table whose custom resources may change; `setCustom` replaces them all. */
export interface ChangingTypeTable extends TypeTable {
  setCustom(types: Iterable<ResourceType>): void;
  custom(): readonly ResourceType[];
}

interface Index {
  readonly byPlural: ReadonlyMap<string, ResourceType>;
  readonly byKind: ReadonlyMap<string, ResourceType>;
}

const key = (group: string, version: string, name: string): string => `${group}/${version}/${name}`;

function indexOf(types: Iterable<ResourceType>): Index {
  const byPlural = new Map<string, ResourceType>();
  const byKind = new Map<string, ResourceType>();
  for (const type of types) {
    byPlural.set(key(type.group, type.version, type.plural), type);
    byKind.set(key(type.group, type.version, type.kind), type);
  }
  return { byPlural, byKind };
}

const nothing: Index = { byPlural: new Map(), byKind: new Map() };
let shared: Index | undefined;
const builtinIndex = (): Index => {
  shared ??= indexOf(builtinTypes());
  return shared;
};

const hashes = new WeakMap<Schema, string>();
function schemaHash(schema: Schema): string {
  let hash = hashes.get(schema);
  if (hash === undefined) {
    hash = createHash('sha256').update(JSON.stringify(schema)).digest('base64url');
    hashes.set(schema, hash);
  }
  return hash;
}

/** Depends on content alone, so clusters with the same custom resources share what is cached by it. */
function etagOf(custom: readonly ResourceType[]): string {
  if (custom.length === 0) return 'builtin';
  const hash = createHash('sha256');
  for (const type of custom) {
    const { group, version, kind, listKind, plural, singular, shortNames, categories, namespaced, verbs } = type;
    hash.update(
      JSON.stringify([group, version, kind, listKind, plural, singular, shortNames, categories, namespaced, verbs]),
    );
    hash.update(JSON.stringify([type.subresources, type.columns, type.custom ?? {}, schemaHash(type.schema)]));
  }
  return hash.digest('hex').slice(0, 32);
}

/** A type table of one cluster: all built-ins, and custom resources in the order given. */
export function createTypeTable(custom: Iterable<ResourceType> = []): ChangingTypeTable {
  let own: readonly ResourceType[] = [...custom];
  let index = own.length > 0 ? indexOf(own) : nothing;
  let etag: string | undefined;
  return {
    find(group, version, plural) {
      const wanted = key(group, version, plural);
      return builtinIndex().byPlural.get(wanted) ?? index.byPlural.get(wanted);
    },
    findKind(group, version, kind) {
      const wanted = key(group, version, kind);
      return builtinIndex().byKind.get(wanted) ?? index.byKind.get(wanted);
    },
    *all() {
      yield* builtinTypes();
      yield* own;
    },
    get etag() {
      etag ??= etagOf(own);
      return etag;
    },
    setCustom(types) {
      own = [...types];
      index = own.length > 0 ? indexOf(own) : nothing;
      etag = undefined;
    },
    custom: () => own,
  };
}
