// The types of CEL expressions, as Kubernetes declares them.

export type Scalar = 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'timestamp' | 'duration' | 'null';

export type CelType =
  | { readonly kind: Scalar | 'dyn' }
  | { readonly kind: 'list'; readonly of: CelType }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType }
  | {
      readonly kind: 'object';
      readonly name: string;
      /** The type of a field by its escaped name. */
      readonly field: (name: string) => CelType | undefined;
    }
  | { readonly kind: 'optional'; readonly of: CelType }
  | { readonly kind: 'type'; readonly of: CelType }
  /** Types that functions make and take, such as `net.IP`. */
  | { readonly kind: 'opaque'; readonly name: string }
  /** Stands for any type within one signature. */
  | { readonly kind: 'parameter'; readonly name: string };

export const dyn: CelType = { kind: 'dyn' };
export const bool: CelType = { kind: 'bool' };
export const int: CelType = { kind: 'int' };
export const text: CelType = { kind: 'string' };
export const nullType: CelType = { kind: 'null' };
export const opaque = (name: keyof typeof opaqueNames): CelType => ({ kind: 'opaque', name: opaqueNames[name] });
/** An object with these fields and no others. */
export const objectOf = (name: string, fields: Readonly<Record<string, CelType>>): CelType => ({
  kind: 'object',
  name,
  field: (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined),
});
export const listOf = (of: CelType): CelType => ({ kind: 'list', of });
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: 'map', key, value });
export const optionalOf = (of: CelType): CelType => ({ kind: 'optional', of });

/** Names of the opaque types in signatures, and in messages. */
export const opaqueNames = {
  ip: 'net.IP',
  cidr: 'net.CIDR',
  url: 'kubernetes.URL',
  quantity: 'kubernetes.Quantity',
  semver: 'kubernetes.Semver',
  format: 'kubernetes.NamedFormat',
  authorizer: 'kubernetes.authorization.Authorizer',
  pathCheck: 'kubernetes.authorization.PathCheck',
  groupCheck: 'kubernetes.authorization.GroupCheck',
  resourceCheck: 'kubernetes.authorization.ResourceCheck',
  decision: 'kubernetes.authorization.Decision',
} as const;

const scalarNames: Readonly<Record<string, string>> = {
  null: 'null',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
};

/** A type as the server's messages write it. */
export function typeText(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${typeText(type.of)})`;
    case 'map':
      return `map(${typeText(type.key)}, ${typeText(type.value)})`;
    case 'optional':
      return `optional_type(${typeText(type.of)})`;
    case 'type':
      return `type(${typeText(type.of)})`;
    case 'object':
    case 'opaque':
    case 'parameter':
      return type.name;
    default:
      return scalarNames[type.kind] ?? type.kind;
  }
}

export type Bindings = Map<string, CelType>;

/** Whether a value of one type may stand where another is wanted. Binds what signatures leave open. */
export function assignable(wanted: CelType, given: CelType, bindings: Bindings): boolean {
  if (wanted.kind === 'parameter') {
    const bound = bindings.get(wanted.name);
    if (!bound || bound.kind === 'dyn') {
      if (!bound || given.kind !== 'dyn') bindings.set(wanted.name, given);
      return true;
    }
    if (assignable(bound, given, bindings)) return true;
    if (!assignable(given, bound, bindings)) return false;
    bindings.set(wanted.name, given);
    return true;
  }
  if (wanted.kind === 'dyn' || given.kind === 'dyn') return true;
  if (given.kind === 'null') return wanted.kind === 'null' || takesNull(wanted);
  if (wanted.kind === 'null') return takesNull(given);
  switch (wanted.kind) {
    case 'list':
      return given.kind === 'list' && assignable(wanted.of, given.of, bindings);
    case 'optional':
      return given.kind === 'optional' && assignable(wanted.of, given.of, bindings);
    case 'type':
      return given.kind === 'type';
    case 'map':
      return (
        given.kind === 'map' &&
        assignable(wanted.key, given.key, bindings) &&
        assignable(wanted.value, given.value, bindings)
      );
    case 'object':
    case 'opaque':
      return given.kind === wanted.kind && given.name === wanted.name;
    default:
      return given.kind === wanted.kind;
  }
}

const takesNull = ({ kind }: CelType): boolean =>
  kind === 'object' || kind === 'opaque' || kind === 'timestamp' || kind === 'duration';

/** A type with what was bound put in; what was not is anything. */
export function bound(type: CelType, bindings: Bindings): CelType {
  switch (type.kind) {
    case 'parameter':
      return bindings.get(type.name) ?? dyn;
    case 'list':
      return listOf(bound(type.of, bindings));
    case 'optional':
      return optionalOf(bound(type.of, bindings));
    case 'map':
      return mapOf(bound(type.key, bindings), bound(type.value, bindings));
    default:
      return type;
  }
}

/** Reads a type as signatures write it: `list<T>`, `map<string, int>`, `optional<T>`, `ip`. */
export function parseType(source: string): CelType {
  const found = /^(\w+)(?:<(.*)>)?$/.exec(source.trim());
  const [, name = '', inner] = found ?? [];
  if (inner !== undefined) {
    if (name === 'map') {
      const comma = inner.indexOf(',');
      return mapOf(parseType(inner.slice(0, comma)), parseType(inner.slice(comma + 1)));
    }
    return name === 'list' ? listOf(parseType(inner)) : optionalOf(parseType(inner));
  }
  if (/^[A-Z]$/.test(name)) return { kind: 'parameter', name };
  if (name === 'type') return { kind: 'type', of: dyn };
  if (Object.hasOwn(opaqueNames, name)) return { kind: 'opaque', name: opaqueNames[name as keyof typeof opaqueNames] };
  return { kind: name as Scalar | 'dyn' };
}
