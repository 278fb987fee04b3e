// How fields of a type are tracked, read off its schema: which maps and lists are one field (atomic), which are tracked member
// by member or item by item, and by which keys items are known. Nodes are made when first walked and kept with their schema, so
// built-in types have one set of nodes for all clusters.
import type { JsonObject, JsonValue } from '../object.ts';
import { resolve } from '../schema/resolve.ts';
import type { Schema } from '../schema/schema.ts';

export type ScalarType = 'string' | 'numeric' | 'boolean' | 'untyped';

/** A type may be several of these when only the value can tell (untyped members of custom resources). */
export interface TypeNode {
  readonly map?: MapType;
  readonly list?: ListType;
  readonly scalar?: ScalarType;
}

export interface MapType {
  readonly atomic: boolean;
  /** The type of a member that the schema names. */
  named(member: string): TypeNode | undefined;
  /** The type of other members; undefined when there may be none. */
  readonly element: TypeNode | undefined;
  /** Whether the schema names any member. */
  readonly struct: boolean;
  /**
   * Built-in types only: members the server always has, and what they are when nothing was said. It decodes objects to
   * structures in which such members cannot be absent, and tracks what it decoded.
   */
  readonly zero: ReadonlyMap<string, JsonValue> | undefined;
  /** Built-in types: null and empty lists and maps are as good as absent. */
  readonly builtIn: boolean;
}

export interface ListType {
  readonly atomic: boolean;
  /** Empty for a set. In order of name. */
  readonly keys: readonly string[];
  readonly keyDefaults: Readonly<JsonObject>;
  readonly element: TypeNode;
}

export const typeOf = (map: MapType, member: string): TypeNode | undefined => map.named(member) ?? map.element;

const untypedAtomic: TypeNode = {
  scalar: 'untyped',
  get list() {
    return { atomic: true, keys: [], keyDefaults: {}, element: untypedAtomic };
  },
  get map() {
    return freeForm(true, untypedAtomic);
  },
};

/** A value nobody has described: maps member by member, lists whole. */
const deduced: TypeNode = (() => {
  const list: ListType = { atomic: true, keys: [], keyDefaults: {}, element: untypedAtomic };
  let map: MapType | undefined;
  return {
    scalar: 'untyped',
    list,
    get map() {
      map ??= freeForm(false, this as TypeNode);
      return map;
    },
  };
})();

function freeForm(atomic: boolean, element: TypeNode): MapType {
  return { atomic, named: () => undefined, element, struct: false, zero: undefined, builtIn: false };
}

const metadata: Schema = { $ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };
const text: Schema = { type: 'string' };

const roots = new WeakMap<Schema, TypeNode>();

/** The node of a whole object's schema. `custom` says that the schema is a custom resource's. */
export function rootNode(schema: Schema, custom: boolean): TypeNode {
  let node = roots.get(schema);
  if (!node) {
    node = custom ? compile(asResource(schema), false) : nodeOf(schema, true);
    roots.set(schema, node);
  }
  return node;
}

/** Every object has these members, whatever a custom resource's schema says of them. */
function asResource(schema: Schema): Schema {
  return {
    ...schema,
    type: 'object',
    properties: { ...schema.properties, apiVersion: text, kind: text, metadata },
  };
}

const nodes = new WeakMap<Schema, TypeNode>();

function nodeOf(schema: Schema, builtIn: boolean): TypeNode {
  const target = resolve(schema);
  const overridden = target !== schema && schema['x-kubernetes-map-type'] !== undefined;
  const key = overridden ? schema : target;
  let node = nodes.get(key);
  if (!node) {
    const full = overridden ? { ...target, 'x-kubernetes-map-type': schema['x-kubernetes-map-type'] } : target;
    node = compile(full as Schema, builtIn || target !== schema);
    nodes.set(key, node);
  }
  return node;
}

function compile(schema: Schema, builtIn: boolean): TypeNode {
  if (schema['x-kubernetes-int-or-string']) return { scalar: 'untyped' };
  if (schema['x-kubernetes-embedded-resource'] && schema.properties?.metadata !== metadata) {
    return compile(asResource(schema), builtIn);
  }
  switch (schema.type) {
    case 'object':
      return { map: mapType(schema, builtIn) };
    case 'array':
      return { list: listType(schema, builtIn) };
    case 'integer':
    case 'number':
      return { scalar: 'numeric' };
    case 'boolean':
      return { scalar: 'boolean' };
    case 'string':
      return { scalar: schema.format === undefined || schema.format === 'byte' ? 'string' : 'untyped' };
    default:
      return schema.oneOf || schema.anyOf ? { scalar: 'untyped' } : deduced;
  }
}

function mapType(schema: Schema, builtIn: boolean): MapType {
  const { properties, additionalProperties } = schema;
  const struct = properties !== undefined && Object.keys(properties).length > 0;
  const known = new Map<string, TypeNode>();
  const element =
    typeof additionalProperties === 'object'
      ? nodeOf(additionalProperties, builtIn)
      : additionalProperties === true ||
          schema['x-kubernetes-preserve-unknown-fields'] ||
          (!struct && additionalProperties !== false)
        ? deduced
        : undefined;
  return {
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
    struct,
    named(member) {
      const node = known.get(member);
      if (node || !properties || !Object.hasOwn(properties, member)) return node;
      const child = nodeOf(properties[member] as Schema, builtIn);
      known.set(member, child);
      return child;
    },
    element,
    zero: builtIn && struct ? zeroMembers(schema) : undefined,
    builtIn,
  };
}

/** Times that a structure may lack; all others are there, null when not given. */
const optionalTimes = new Set([
  'acquireTime',
  'completionTime',
  'creationTimestamp',
  'deletionTimestamp',
  'lastPhaseTransitionTime',
  'lastScheduleTime',
  'lastSuccessfulTime',
  'renewTime',
  'startTime',
  'timeAdded',
]);

const isTime = (schema: Schema): boolean => /\.meta\.v1\.(Micro)?Time$/.test(schema.$ref ?? '');

/**
 * What a decoded structure has when nothing was said: members that are structures themselves are there and empty, members
 * that must be given are there with nothing in them.
 */
function zeroMembers(schema: Schema): ReadonlyMap<string, JsonValue> | undefined {
  const zero = new Map<string, JsonValue>();
  for (const [member, child] of Object.entries(schema.properties ?? {})) {
    const required = schema.required?.includes(member) ?? false;
    if (isZero(child.default)) zero.set(member, child.default as JsonValue);
    else if (isTime(child) ? !optionalTimes.has(member) : required && child.default === undefined)
      zero.set(member, null);
  }
  return zero.size > 0 ? zero : undefined;
}

const isZero = (value: JsonValue | undefined): boolean =>
  value === '' ||
  value === 0 ||
  value === false ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

function listType(schema: Schema, builtIn: boolean): ListType {
  const items = schema.items ?? {};
  const type = schema['x-kubernetes-list-type'];
  const merges = type === undefined && (schema['x-kubernetes-patch-strategy'] ?? '').split(',').includes('merge');
  const mergeKey = schema['x-kubernetes-patch-merge-key'];
  const keys =
    type === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : merges && mergeKey !== undefined ? [mergeKey] : [];
  const keyDefaults: JsonObject = {};
  const itemProperties = resolve(items).properties;
  for (const key of keys) {
    const value = itemProperties?.[key]?.default;
    if (value !== undefined) keyDefaults[key] = value;
  }
  let element: TypeNode | undefined;
  return {
    atomic: type === 'atomic' || (type === undefined && !merges),
    keys: [...keys].sort(),
    keyDefaults,
    get element() {
      element ??= nodeOf(items, builtIn);
      return element;
    },
  };
}
