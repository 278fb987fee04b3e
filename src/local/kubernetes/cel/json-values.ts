// JSON as values of expressions, read by the types that schemas give it. What is not asked for is not read.
import type { JsonObject, JsonValue } from '../object.ts';
import { isObject } from '../schema/decode.ts';
import { parseDuration, parseTimestamp } from './functions/times.ts';
import type { CelType } from './types.ts';
import { CelError, type CelValue, List, type Mapping, Timestamp } from './values.ts';

/** How an object's members are named and typed. */
export interface Shape {
  /** The type's name; undefined for maps. */
  readonly name: string | undefined;
  /** The JSON member of a field; undefined where there is no such field. */
  readonly member: (field: string) => string | undefined;
  readonly field: (member: string) => string;
  readonly reader: (member: string) => Reader;
}

export type Reader = (value: JsonValue) => CelValue;

class JsonMapping implements Mapping {
  readonly isMapping = true;
  readonly #object: JsonObject;
  readonly #shape: Shape;
  readonly #read = new Map<string, CelValue>();

  constructor(object: JsonObject, shape: Shape) {
    this.#object = object;
    this.#shape = shape;
  }

  get objectType(): string | undefined {
    return this.#shape.name;
  }

  get(key: CelValue): CelValue | undefined {
    const member = typeof key === 'string' ? this.#shape.member(key) : undefined;
    if (member === undefined || !Object.hasOwn(this.#object, member)) return undefined;
    let value = this.#read.get(member);
    if (value === undefined) {
      const json = this.#object[member] ?? null;
      // A field that is null is as good as absent.
      if (json === null && this.#shape.name !== undefined) return undefined;
      value = this.#shape.reader(member)(json);
      this.#read.set(member, value);
    }
    return value;
  }

  keys(): CelValue[] {
    return Object.keys(this.#object).map(this.#shape.field);
  }

  get size(): number {
    return Object.keys(this.#object).length;
  }
}

export const mappingOf = (object: JsonObject, shape: Shape): Mapping => new JsonMapping(object, shape);

const asIs = (name: string): string => name;
const untyped: Shape = { name: undefined, member: asIs, field: asIs, reader: () => readAny };

/** A map whose values are all of one type. */
export const mapShape = (reader: Reader): Shape => ({ ...untyped, reader: () => reader });

/** JSON of which nothing is known. */
export function readAny(value: JsonValue): CelValue {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return new List(value.map(readAny));
  return isObject(value) ? mappingOf(value, untyped) : (value as CelValue);
}

const wrong = (): CelError => new CelError('invalid data, expected another type');

/** The readers of scalars by type; each takes null for what it is. */
export function scalarReader(kind: CelType['kind'], format: string | undefined): Reader {
  const reader =
    (read: (value: JsonValue) => CelValue): Reader =>
    (value) =>
      value === null ? null : read(value);
  switch (kind) {
    case 'int':
      return reader((value) => {
        if (typeof value !== 'number' || !Number.isInteger(value)) throw wrong();
        return BigInt(value);
      });
    case 'double':
      return reader((value) => {
        if (typeof value !== 'number') throw wrong();
        return value;
      });
    case 'bool':
      return reader((value) => {
        if (typeof value !== 'boolean') throw wrong();
        return value;
      });
    case 'string':
      return reader((value) => {
        if (typeof value !== 'string') throw wrong();
        return value;
      });
    case 'bytes':
      return reader((value) => new Uint8Array(Buffer.from(String(value), 'base64')));
    case 'duration':
      return reader((value) => parseDuration(String(value)));
    case 'timestamp':
      return reader((value) =>
        format === 'date'
          ? new Timestamp(BigInt(Date.parse(`${String(value)}T00:00:00Z`)) * 1_000_000n)
          : parseTimestamp(String(value)),
      );
    default:
      return readAny;
  }
}
