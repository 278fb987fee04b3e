// Values of CEL expressions. What comes from JSON is read when it is asked for.

/** An expression that cannot go on. */
export class CelError extends Error {}

/** An expression that has used up what it may. Nothing absorbs it. */
export class CostError extends CelError {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class Timestamp {
  /** Nanoseconds since 1970. */
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Optional {
  readonly content: CelValue | undefined;
  constructor(content?: CelValue) {
    this.content = content;
  }
}

export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A value that only functions can look into. `same` gives equal texts for equal values. */
export class Opaque {
  readonly type: string;
  readonly value: unknown;
  readonly same: string;
  constructor(type: string, value: unknown, same: string) {
    this.type = type;
    this.value = value;
    this.same = same;
  }
}

export class List {
  readonly items: readonly CelValue[];
  /** Where the order says nothing: what tells items apart. Undefined for plain lists. */
  readonly identity: ((item: CelValue) => string) | undefined;
  constructor(items: readonly CelValue[], identity?: (item: CelValue) => string) {
    this.items = items;
    this.identity = identity;
  }
}

/** A map, or an object with fields. */
export interface Mapping {
  readonly isMapping: true;
  /** Undefined where there is no such key. */
  get(key: CelValue): CelValue | undefined;
  keys(): readonly CelValue[];
  readonly size: number;
  /** The name of an object's type; undefined for maps. */
  readonly objectType: string | undefined;
}

export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | Optional
  | TypeValue
  | Opaque
  | List
  | Mapping;

export const isMapping = (value: CelValue): value is Mapping =>
  typeof value === 'object' && value !== null && 'isMapping' in value;

export class PlainMap implements Mapping {
  readonly isMapping = true;
  readonly objectType = undefined;
  readonly #entries = new Map<string, readonly [CelValue, CelValue]>();

  constructor(entries: Iterable<readonly [CelValue, CelValue]>) {
    for (const [key, value] of entries) {
      const name = keyText(key);
      if (this.#entries.has(name)) throw new CelError(`Failed with repeated key`);
      this.#entries.set(name, [key, value]);
    }
  }

  get(key: CelValue): CelValue | undefined {
    return this.#entries.get(keyText(key))?.[1];
  }

  keys(): CelValue[] {
    return [...this.#entries.values()].map(([key]) => key);
  }

  get size(): number {
    return this.#entries.size;
  }
}

/** Numbers that are equal are the same key. */
function keyText(key: CelValue): string {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'bigint') return `n${key}`;
  if (typeof key === 'number') return `n${key}`;
  if (key instanceof Uint) return `n${key.value}`;
  if (typeof key === 'boolean') return `b${key}`;
  throw new CelError(`unsupported key type: ${kindOf(key)}`);
}

/** The kind of a value, by the names that types have. */
export function kindOf(value: CelValue): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
  }
  if (value instanceof List) return 'list';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Timestamp) return 'timestamp';
  if (value instanceof Duration) return 'duration';
  if (value instanceof Optional) return 'optional';
  if (value instanceof TypeValue) return 'type';
  if (value instanceof Opaque) return value.type;
  if (value instanceof Uint8Array) return 'bytes';
  return (value as Mapping).objectType === undefined ? 'map' : 'object';
}

const longNames: Readonly<Record<string, string>> = {
  null: 'null_type',
  optional: 'optional_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
};

/** The name that `type(value)` has. */
export function typeNameOf(value: CelValue): string {
  const kind = kindOf(value);
  if (kind === 'object') return (value as Mapping).objectType ?? 'map';
  return longNames[kind] ?? kind;
}

const numeric = (value: CelValue): bigint | number | undefined => {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof Uint ? value.value : undefined;
};

export function equal(one: CelValue, other: CelValue): boolean {
  if (one === other) return true;
  const [a, b] = [numeric(one), numeric(other)];
  if (a !== undefined && b !== undefined) return a <= b && a >= b;
  if (one === null || other === null) return false;
  if (one instanceof List) return other instanceof List && equalLists(one, other);
  if (one instanceof Timestamp) return other instanceof Timestamp && one.nanos === other.nanos;
  if (one instanceof Duration) return other instanceof Duration && one.nanos === other.nanos;
  if (one instanceof TypeValue) return other instanceof TypeValue && one.name === other.name;
  if (one instanceof Opaque) return other instanceof Opaque && one.type === other.type && one.same === other.same;
  if (one instanceof Uint8Array) return other instanceof Uint8Array && Buffer.compare(one, other) === 0;
  if (one instanceof Optional) {
    if (!(other instanceof Optional)) return false;
    if (one.content === undefined || other.content === undefined) return one.content === other.content;
    return equal(one.content, other.content);
  }
  return isMapping(one) && isMapping(other) && equalMappings(one, other);
}

function equalLists(one: List, other: List): boolean {
  if (one.items.length !== other.items.length) return false;
  const identity = one.identity ?? other.identity;
  if (!identity) return one.items.every((item, index) => equal(item, other.items[index] ?? null));
  const known = new Map(other.items.map((item) => [identity(item), item]));
  return one.items.every((item) => {
    const found = known.get(identity(item));
    return found !== undefined && equal(item, found);
  });
}

function equalMappings(one: Mapping, other: Mapping): boolean {
  if (one.size !== other.size) return false;
  return one.keys().every((key) => {
    const [a, b] = [one.get(key), other.get(key)];
    return a !== undefined && b !== undefined && equal(a, b);
  });
}

/** Less than, equal, greater; undefined for values that have no order. */
export function compare(one: CelValue, other: CelValue): number | undefined {
  const [a, b] = [numeric(one), numeric(other)];
  if (a !== undefined && b !== undefined) return a < b ? -1 : a > b ? 1 : 0;
  if (typeof one === 'string' && typeof other === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other));
  if (typeof one === 'boolean' && typeof other === 'boolean') return Number(one) - Number(other);
  if (one instanceof Timestamp && other instanceof Timestamp) return order(one.nanos, other.nanos);
  if (one instanceof Duration && other instanceof Duration) return order(one.nanos, other.nanos);
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other);
  return undefined;
}

const order = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0);
