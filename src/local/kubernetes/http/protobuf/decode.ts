// Bodies in protobuf, as kubectl's typed commands send them: read into the JSON they stand for. Answers are JSON, which every such
// client accepts. scripts/kubernetes-protobuf.ts writes the data.
import { readFileSync } from 'node:fs';
import type { JsonObject, JsonValue } from '../../object.ts';
import { setMember } from '../../patch/json-tree.ts';

/** The bytes are not what they should be. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtobufError';
  }
}

/** `name:type`, see the script. */
type Messages = Readonly<Record<string, Readonly<Record<string, string>>>>;

let loaded: Messages | undefined;
function messages(): Messages {
  loaded ??= JSON.parse(readFileSync(new URL('./messages.json', import.meta.url), 'utf8')) as Messages;
  return loaded;
}

interface Field {
  readonly name: string;
  readonly shape: 'one' | 'list' | 'map' | 'inline';
  /** A scalar, or the name of a message. */
  readonly type: string;
}

const parsed = new Map<string, ReadonlyMap<number, Field>>();

function fieldsOf(message: string): ReadonlyMap<number, Field> {
  let known = parsed.get(message);
  if (!known) {
    const data = messages()[message];
    if (!data) throw new ProtobufError(`no message is known by the name ${message}`);
    known = new Map(Object.entries(data).map(([number, text]) => [Number(number), readField(text)]));
    parsed.set(message, known);
  }
  return known;
}

const shapes: readonly (readonly [mark: string, shape: Field['shape']])[] = [
  ['[]', 'list'],
  ['{}', 'map'],
  ['...', 'inline'],
];

function readField(text: string): Field {
  const colon = text.indexOf(':');
  const name = text.slice(0, colon);
  const type = text.slice(colon + 1);
  for (const [mark, shape] of shapes) if (type.startsWith(mark)) return { name, shape, type: type.slice(mark.length) };
  return { name, shape: 'one', type };
}

/** Deeper than any real object, schemas within schemas included. */
const deepest = 200;

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get more(): boolean {
    return this.#at < this.#bytes.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new ProtobufError('unexpected EOF');
      this.#at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new ProtobufError('proto: integer overflow');
  }

  bytes(): Buffer {
    return this.#take(Number(this.varint()));
  }

  double(): number {
    return this.#take(8).readDoubleLE();
  }

  skip(wire: number): void {
    if (wire === 0) this.varint();
    else if (wire === 1) this.#take(8);
    else if (wire === 2) this.bytes();
    else if (wire === 5) this.#take(4);
    else throw new ProtobufError(`proto: illegal wireType ${wire}`);
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (!(length >= 0) || end > this.#bytes.length) throw new ProtobufError('unexpected EOF');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

const wireOf: Readonly<Record<string, number>> = { int: 0, bool: 0, double: 1 };

function scalar(reader: Reader, type: string): JsonValue {
  if (type === 'int') return Number(BigInt.asIntN(64, reader.varint()));
  if (type === 'bool') return reader.varint() !== 0n;
  if (type === 'double') return reader.double();
  const bytes = reader.bytes();
  return type === 'string' ? bytes.toString() : bytes.toString('base64');
}

const isScalar = (type: string): boolean => !type.includes('.');

function value(reader: Reader, type: string, depth: number): JsonValue {
  return isScalar(type) ? scalar(reader, type) : message(reader.bytes(), type, depth);
}

function message(bytes: Buffer, name: string, depth: number): JsonValue {
  const object = members(bytes, name, depth);
  const convert = special[name];
  return convert ? convert(object) : object;
}

function members(bytes: Buffer, name: string, depth: number): JsonObject {
  if (depth > deepest) throw new ProtobufError('proto: too deep');
  const fields = fieldsOf(name);
  const object: JsonObject = {};
  const reader = new Reader(bytes);
  while (reader.more) {
    const tag = Number(reader.varint());
    const wire = tag & 7;
    const field = fields.get(tag >>> 3);
    if (!field) {
      reader.skip(wire);
      continue;
    }
    const expected = field.shape === 'map' ? 2 : (wireOf[field.type] ?? 2);
    if (wire !== expected) {
      throw new ProtobufError(`proto: wrong wireType = ${wire} for field ${field.name}`);
    }
    if (field.shape === 'inline') Object.assign(object, members(reader.bytes(), field.type, depth + 1));
    else if (field.shape === 'map') addEntry(object, field, reader.bytes(), depth + 1);
    else {
      const read = value(reader, field.type, depth + 1);
      if (field.shape === 'one') object[field.name] = read;
      else {
        const list = object[field.name];
        if (Array.isArray(list)) list.push(read);
        else object[field.name] = [read];
      }
    }
  }
  return object;
}

function addEntry(object: JsonObject, { name, type }: Field, bytes: Buffer, depth: number): void {
  const reader = new Reader(bytes);
  let key = '';
  let content: JsonValue = isScalar(type) ? (type === 'string' || type === 'bytes' ? '' : 0) : {};
  while (reader.more) {
    const tag = Number(reader.varint());
    if (tag === 0x0a) key = reader.bytes().toString();
    else if (tag >>> 3 === 2) content = value(reader, type, depth);
    else reader.skip(tag & 7);
  }
  const known = object[name];
  const map: JsonObject = typeof known === 'object' && known !== null && !Array.isArray(known) ? known : {};
  setMember(map, key, content);
  object[name] = map;
}

const meta = 'k8s.io.apimachinery.pkg.apis.meta.v1';
const extensions = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1';

function time({ seconds = 0, nanos = 0 }: JsonObject, digits: 0 | 6): JsonValue {
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) throw new ProtobufError('proto: a time is out of range');
  // The server's way to write no time at all.
  if (seconds === 0 && nanos === 0) return null;
  const fraction = digits === 0 ? '' : `.${String(Math.floor(Number(nanos) / 1000)).padStart(6, '0')}`;
  return `${date.toISOString().slice(0, 19)}${fraction}Z`;
}

function json({ raw, Raw }: JsonObject): JsonValue {
  const text = Buffer.from(String(raw ?? Raw ?? ''), 'base64').toString();
  if (text === '') return null;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new ProtobufError('the JSON in a message cannot be read');
  }
}

/** Messages that are something else than an object in JSON. */
const special: Readonly<Record<string, (object: JsonObject) => JsonValue>> = {
  [`${meta}.Time`]: (object) => time(object, 0),
  [`${meta}.MicroTime`]: (object) => time(object, 6),
  [`${meta}.FieldsV1`]: json,
  [`${meta}.Verbs`]: ({ items }) => items ?? [],
  [`${meta}.Duration`]: ({ duration }) => `${Number(duration ?? 0) / 1e9}s`,
  'k8s.io.apimachinery.pkg.runtime.RawExtension': json,
  'k8s.io.apimachinery.pkg.api.resource.Quantity': ({ string }) => string ?? '0',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': ({ type, intVal, strVal }) =>
    type === 1 ? (strVal ?? '') : (intVal ?? 0),
  'k8s.io.api.authentication.v1.ExtraValue': ({ items }) => items ?? [],
  'k8s.io.api.authorization.v1.ExtraValue': ({ items }) => items ?? [],
  'k8s.io.api.certificates.v1.ExtraValue': ({ items }) => items ?? [],
  [`${extensions}.JSON`]: json,
  [`${extensions}.JSONSchemaPropsOrBool`]: ({ allows, schema }) => schema ?? allows ?? false,
  [`${extensions}.JSONSchemaPropsOrArray`]: ({ schema, jSONSchemas }) => schema ?? jSONSchemas ?? [],
  [`${extensions}.JSONSchemaPropsOrStringArray`]: ({ schema, property }) => schema ?? property ?? [],
};

const magic = Buffer.from('k8s\0');

/** The message of a kind: built-ins are of packages named for their group, options of meta/v1 are the same everywhere. */
function messageOf(apiVersion: string, kind: string): string {
  const slash = apiVersion.indexOf('/');
  const group = apiVersion.slice(0, Math.max(slash, 0));
  const version = apiVersion.slice(slash + 1);
  const short = group === '' ? 'core' : group === 'rbac.authorization.k8s.io' ? 'rbac' : (group.split('.', 1)[0] ?? '');
  const candidates = [
    `k8s.io.api.${short}.${version}.${kind}`,
    `k8s.io.apiextensions_apiserver.pkg.apis.${short}.${version}.${kind}`,
    `k8s.io.kube_aggregator.pkg.apis.${short}.${version}.${kind}`,
    `${meta}.${kind}`,
  ];
  const found = candidates.find((name) => Object.hasOwn(messages(), name));
  if (!found) throw new ProtobufError(`no kind "${kind}" is registered for version "${apiVersion}"`);
  return found;
}

/** Reads a body: the envelope that names a kind, and the object in it. Throws ProtobufError. */
export function decodeProtobuf(bytes: Buffer): JsonObject {
  if (!bytes.subarray(0, magic.length).equals(magic)) {
    throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  const envelope = members(bytes.subarray(magic.length), 'k8s.io.apimachinery.pkg.runtime.Unknown', 0);
  const { typeMeta, raw } = envelope;
  const { apiVersion = '', kind = '' } = (typeMeta ?? {}) as { apiVersion?: string; kind?: string };
  if (kind === '') throw new ProtobufError("Object 'Kind' is missing");
  const object = members(Buffer.from(String(raw ?? ''), 'base64'), messageOf(apiVersion, kind), 0);
  return { ...object, apiVersion, kind };
}
