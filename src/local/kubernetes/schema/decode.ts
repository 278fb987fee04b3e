// Reading a built-in object as the server's decoder does: wrong types are refused in its words, unknown members are dropped and
// named, empty ones are left out or written as the type says. What comes out has the shape in which the server answers.
import type { JsonObject, JsonValue, KubeObject } from '../object.ts';
import { badRequest, StatusError } from '../status.ts';
import { schemaOfKind } from './definitions.ts';
import { canonicalQuantity, QuantityError } from './quantity.ts';
import { type Kind, type Member, shapeOf } from './shapes/shape.ts';
import { canonicalMicroTime, canonicalTime, TimeError } from './times.ts';

/** Where the decoder is, and what it has found. */
interface Reading {
  /** Member names, list indexes, and map keys (marked by `key`). */
  readonly path: (string | number | { readonly key: string })[];
  readonly structs: string[];
  /** Paths of unknown members, the first {@link mostUnknown}. */
  readonly unknown: Set<string>;
  /** The first wrong type; reading goes on, as a hard failure further on is told instead. */
  wrongType: string | undefined;
  /** The same in the words of the server's way from plain maps to objects, which strategic merge patches take. */
  unconvertible: string | undefined;
}

/** A value of a wrong type in an object. */
export class WrongTypeError extends StatusError {
  /** What is wrong in the words of the server's way from plain maps to objects. */
  readonly unconvertible: string;

  constructor(message: string, unconvertible: string) {
    super(400, 'BadRequest', message);
    this.unconvertible = unconvertible;
  }
}

/** What a value is to be, as Go sees it. */
type Base = 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'slice' | 'map' | 'struct' | 'own';

const restored: Partial<Readonly<Record<Base, string>>> = {
  struct: 'cannot restore struct from: ',
  slice: 'cannot restore slice from ',
  map: 'cannot restore map from ',
};

function goKind(value: JsonValue): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'object' ? 'map' : 'string';
}

function conversionProblem(value: JsonValue, goType: string, base: Base): string {
  const given = goKind(value);
  const restoring = restored[base];
  if (restoring !== undefined) return `${restoring}${given}`;
  if (base === 'own') return `json: cannot unmarshal ${jsonKind(value)} into Go value of type ${goType}`;
  const converts = given === 'int64' ? base !== 'bool' : given === 'float64' && base !== 'bool' && base !== 'string';
  return converts ? `cannot convert ${given} to ${goType}` : `unrecognized type: ${base}`;
}

/** Undefined stands for nothing: null, or a wrong type. */
type Decoder = (value: JsonValue, reading: Reading) => JsonValue | undefined;

/** So many unknown members are named; the server's decoder stops counting there too. */
const mostUnknown = 100;

/** Deeper than any built-in type goes but for schemas within schemas. */
const deepest = 1000;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const jsonKind = (value: JsonValue): string => {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
};

function wrongType(reading: Reading, value: JsonValue, goType: string, base: Base, literal = ''): undefined {
  if (reading.unconvertible !== undefined && reading.wrongType !== undefined) return undefined;
  reading.unconvertible ??= conversionProblem(value, goType, base);
  const fields = reading.path.filter((step) => typeof step === 'string').join('.');
  reading.wrongType ??= `json: cannot unmarshal ${jsonKind(value)}${literal} into Go struct field ${reading.structs.at(-1)}.${fields} of type ${goType}`;
  return undefined;
}

function pathText({ path }: Reading): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += `${text ? '.' : ''}${typeof step === 'string' ? step : step.key}`;
  }
  return text;
}

const integer =
  (goType: string, least: number, most: number, base: Base): Decoder =>
  (value, reading) => {
    if (typeof value !== 'number') return wrongType(reading, value, goType, base);
    return Number.isInteger(value) && value >= least && value <= most
      ? value
      : wrongType(reading, value, goType, base, ` ${value}`);
  };

function base64(value: JsonValue, reading: Reading): string | undefined {
  if (typeof value !== 'string') return wrongType(reading, value, '[]uint8', 'slice');
  const text = /[\r\n]/.test(value) ? value.replace(/[\r\n]/g, '') : value;
  const good = /^[A-Za-z0-9+/]*={0,2}/.exec(text)?.[0].length ?? 0;
  if (good < text.length || text.length % 4 !== 0) {
    reading.wrongType ??= `illegal base64 data at input byte ${good < text.length ? good : text.length - (text.length % 4)}`;
    return undefined;
  }
  return text;
}

const own: Readonly<Record<string, { decode: Decoder; zero: JsonValue }>> = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': {
    decode: (value, reading) =>
      typeof value === 'string' ? canonicalTime(value) : wrongType(reading, value, 'string', 'own'),
    zero: null,
  },
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': {
    decode: (value, reading) =>
      typeof value === 'string' ? canonicalMicroTime(value) : wrongType(reading, value, 'string', 'own'),
    zero: null,
  },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    decode: (value) =>
      canonicalQuantity(typeof value === 'string' ? value.trim() : typeof value === 'number' ? `${value}` : '?'),
    zero: '0',
  },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': {
    decode: (value, reading) =>
      typeof value === 'string' ? value : integer('int32', -2147483648, 2147483647, 'own')(value, reading),
    zero: 0,
  },
  'io.k8s.apimachinery.pkg.runtime.RawExtension': { decode: (value) => value, zero: null },
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': { decode: (value) => value, zero: null },
};

const schemaProps = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';
/** Schemas in places where something else may stand. They read themselves, so what they drop is not named. */
const nestedSchema: Decoder = (value, reading) => {
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? (nestedSchema(item, reading) ?? {}) : item));
  if (!isObject(value)) return value;
  const inner: Reading = { ...reading, unknown: new Set(), wrongType: undefined, unconvertible: undefined };
  const result = structDecoder(schemaProps)(value, inner);
  reading.wrongType ??= inner.wrongType;
  reading.unconvertible ??= inner.unconvertible;
  return result;
};

function ownKind(name: string): { decode: Decoder; zero: JsonValue } {
  if (name.startsWith(`${schemaProps}Or`)) return { decode: nestedSchema, zero: null };
  return own[name] ?? { decode: (value) => value, zero: null };
}

function zeroOf(kind: Kind): JsonValue {
  switch (kind.is) {
    case 'string':
      return '';
    case 'bytes':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'float64':
      return 0;
    case 'struct':
      return emptyOf(kind.name);
    case 'own':
      return ownKind(kind.name).zero;
    default:
      return null;
  }
}

/** What the server writes for a member that has no value; undefined when it leaves the member out. */
function written(member: Member): JsonValue | undefined {
  const { kind, pointer, omitEmpty, omitZero } = member;
  if (omitZero) return undefined;
  if (pointer) return omitEmpty ? undefined : null;
  if (kind.is === 'struct' || kind.is === 'own') return zeroOf(kind);
  if (omitEmpty) return undefined;
  return kind.is === 'bytes' ? null : zeroOf(kind);
}

/** An object of this type in which nothing was said: its members that are always written. */
export function emptyOf(name: string): JsonObject {
  const result: JsonObject = {};
  for (const member of shapeOf(name)) {
    const value = written(member);
    if (value !== undefined) result[member.name] = value;
  }
  return result;
}

/** Whether a value is the empty one that its type leaves out. */
function isEmpty({ kind, pointer, omitEmpty }: Member, value: JsonValue): boolean {
  if (pointer) return false;
  // A list or map without entries is kept as none, and read back so.
  if (kind.is === 'list') return (value as JsonValue[]).length === 0;
  if (kind.is === 'map') return Object.keys(value as JsonObject).length === 0;
  if (!omitEmpty) return false;
  return kind.is !== 'struct' && kind.is !== 'own' && (value === '' || value === 0 || value === false);
}

/** Sets a member of any name, `__proto__` included. */
function put(object: JsonObject, member: string, value: JsonValue): void {
  if (member === '__proto__') {
    Object.defineProperty(object, member, { value, enumerable: true, writable: true, configurable: true });
  } else object[member] = value;
}

function decoderOf(kind: Kind): Decoder {
  switch (kind.is) {
    case 'string':
      return (value, reading) => (typeof value === 'string' ? value : wrongType(reading, value, kind.goType, 'string'));
    case 'bool':
      return (value, reading) => (typeof value === 'boolean' ? value : wrongType(reading, value, kind.goType, 'bool'));
    case 'int32':
      return integer(kind.goType, -2147483648, 2147483647, 'int32');
    case 'int64':
      return integer(kind.goType, -(2 ** 63), 2 ** 63, 'int64');
    case 'float64':
      return (value, reading) =>
        typeof value === 'number' ? value : wrongType(reading, value, kind.goType, 'float64');
    case 'bytes':
      return base64;
    case 'own':
      return ownKind(kind.name).decode;
    case 'struct':
      return structDecoder(kind.name);
    case 'list': {
      const item = decoderOf(kind.of);
      return (value, reading) => {
        if (!Array.isArray(value)) return wrongType(reading, value, kind.goType, 'slice');
        return value.map((entry, index) => {
          reading.path.push(index);
          const result = entry === null ? undefined : item(entry, reading);
          reading.path.pop();
          return result ?? zeroOf(kind.of);
        });
      };
    }
    case 'map': {
      const item = decoderOf(kind.of);
      return (value, reading) => {
        if (!isObject(value)) return wrongType(reading, value, kind.goType, 'map');
        const result: JsonObject = {};
        for (const [key, entry] of Object.entries(value)) {
          reading.path.push({ key });
          const read = entry === null ? undefined : item(entry, reading);
          reading.path.pop();
          put(result, key, read ?? (zeroOf(kind.of) || ''));
        }
        return result;
      };
    }
  }
}

const decoders = new Map<string, Decoder>();

/** The decoder of a type, made when first used: types refer to themselves and most are never met. */
function structDecoder(name: string): Decoder {
  let known = decoders.get(name);
  if (!known) {
    let made: Decoder | undefined;
    known = (value, reading) => {
      made ??= makeStructDecoder(name);
      return made(value, reading);
    };
    decoders.set(name, known);
  }
  return known;
}

function makeStructDecoder(name: string): Decoder {
  const shape = shapeOf(name);
  const goType = name.split('.').slice(-2).join('.');
  const struct = name.split('.').at(-1) ?? '';
  const members = new Map(shape.map((member) => [member.name, { member, decode: decoderOf(member.kind) }]));
  const always = shape.filter((member) => written(member) !== undefined);
  return (value, reading) => {
    if (!isObject(value)) return wrongType(reading, value, goType, 'struct');
    if (reading.path.length > deepest) throw badRequest('json: exceeded max depth');
    const result: JsonObject = {};
    reading.structs.push(struct);
    for (const [key, entry] of Object.entries(value)) {
      const known = members.get(key);
      reading.path.push(key);
      if (!known) {
        if (reading.unknown.size < mostUnknown) reading.unknown.add(pathText(reading));
      } else if (entry !== null) {
        const read = known.decode(entry, reading);
        if (read !== undefined && !isEmpty(known.member, read)) result[key] = read;
      }
      reading.path.pop();
    }
    reading.structs.pop();
    for (const member of always) {
      if (!Object.hasOwn(result, member.name)) result[member.name] = written(member) as JsonValue;
    }
    return result;
  };
}

export interface Decoded {
  readonly object: KubeObject;
  /** Paths of members that the type does not have, in the order met. */
  readonly unknown: readonly string[];
}

const internalPackages: Readonly<Record<string, string>> = { '': 'core', 'rbac.authorization.k8s.io': 'rbac' };
/** What the server calls the package of a group's types. */
export const internalPackage = (group: string): string => internalPackages[group] ?? group.split('.')[0] ?? group;

/** The full name of the definition of a built-in kind. */
export function definitionName(group: string, version: string, kind: string): string {
  if (group === 'apiextensions.k8s.io') {
    return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}.${kind}`;
  }
  if (group === 'apiregistration.k8s.io') return `io.k8s.kube-aggregator.pkg.apis.apiregistration.${version}.${kind}`;
  return `io.k8s.api.${group === '' ? 'core' : internalPackage(group)}.${version}.${kind}`;
}

/** Reads a value as the definition of that name; throws WrongTypeError with `title`, if any, before the reason. */
export function decodeAs(name: string, body: JsonObject, title: string): { value: JsonObject; unknown: string[] } {
  const reading: Reading = {
    path: [],
    structs: [],
    unknown: new Set(),
    wrongType: undefined,
    unconvertible: undefined,
  };
  const said = (why: string): string => (title ? `${title}: ${why}` : why);
  let value: JsonValue | undefined;
  try {
    value = structDecoder(name)(body, reading);
  } catch (error) {
    if (error instanceof QuantityError || error instanceof TimeError) {
      throw new WrongTypeError(said(error.message), error.message);
    }
    throw error;
  }
  if (reading.wrongType !== undefined) {
    throw new WrongTypeError(said(reading.wrongType), reading.unconvertible ?? reading.wrongType);
  }
  return { value: value as JsonObject, unknown: [...reading.unknown] };
}

/** Reads a body as a built-in kind. Its own apiVersion and kind may be missing; if they name another kind, it is refused. */
export function decodeBuiltin(group: string, version: string, kind: string, body: JsonObject): Decoded {
  const apiVersion = group ? `${group}/${version}` : version;
  const saidKind = typeof body.kind === 'string' && body.kind !== '' ? body.kind : kind;
  const saidVersion = typeof body.apiVersion === 'string' && body.apiVersion !== '' ? body.apiVersion : apiVersion;
  const title = `${saidKind} in version "${saidVersion.split('/').at(-1)}" cannot be handled as a ${kind}`;
  if (saidKind !== kind || saidVersion !== apiVersion) {
    const [said = '', saidGroup = ''] = saidVersion.split('/').reverse();
    throw badRequest(
      schemaOfKind(saidGroup, said, saidKind)
        ? `${title}: converting (${said}.${saidKind}) to (${internalPackage(group)}.${kind}): unknown conversion`
        : `${title}: no kind "${saidKind}" is registered for version "${saidVersion}" in scheme "pkg/runtime/scheme.go:110"`,
    );
  }
  const { value, unknown } = decodeAs(definitionName(group, version, kind), body, title);
  return { object: { apiVersion, kind, ...value } as KubeObject, unknown };
}
