// Writes src/local/kubernetes/http/protobuf/messages.json: the numbers and types of the fields of Kubernetes' messages, read
// from the descriptors that a kube-apiserver carries. Usage: node scripts/kubernetes-protobuf.ts <path of kube-apiserver>
import { readFileSync, writeFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import { definition } from '../src/local/kubernetes/schema/definitions.ts';
import type { Schema } from '../src/local/kubernetes/schema/schema.ts';

interface Field {
  readonly number: number;
  readonly wire: number;
  readonly value: bigint;
  readonly bytes: Buffer;
}

function* fields(bytes: Buffer): Generator<Field> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    if (wire === 0) yield { number: tag >> 3, wire, value: varint(), bytes: Buffer.alloc(0) };
    else if (wire === 2) {
      const length = Number(varint());
      yield { number: tag >> 3, wire, value: 0n, bytes: bytes.subarray(at, at + length) };
      at += length;
    } else throw new Error(`wire type ${wire} in a descriptor`);
  }
}

interface FieldDescriptor {
  name: string;
  number: number;
  repeated: boolean;
  type: number;
  typeName: string;
}

interface MessageDescriptor {
  readonly name: string;
  readonly fields: FieldDescriptor[];
  isMap: boolean;
}

const messages = new Map<string, MessageDescriptor>();

function readMessage(bytes: Buffer, scope: string): void {
  let name = '';
  const own: FieldDescriptor[] = [];
  const nested: Buffer[] = [];
  let isMap = false;
  for (const field of fields(bytes)) {
    if (field.number === 1) name = field.bytes.toString();
    else if (field.number === 2) {
      const made: FieldDescriptor = { name: '', number: 0, repeated: false, type: 0, typeName: '' };
      for (const part of fields(field.bytes)) {
        if (part.number === 1) made.name = part.bytes.toString();
        else if (part.number === 3) made.number = Number(part.value);
        else if (part.number === 4) made.repeated = part.value === 3n;
        else if (part.number === 5) made.type = Number(part.value);
        else if (part.number === 6) made.typeName = part.bytes.toString().replace(/^\./, '');
      }
      own.push(made);
    } else if (field.number === 3) nested.push(field.bytes);
    else if (field.number === 7)
      for (const part of fields(field.bytes)) if (part.number === 7) isMap = part.value === 1n;
  }
  const full = `${scope}.${name}`;
  messages.set(full, { name: full, fields: own, isMap });
  for (const inner of nested) readMessage(inner, full);
}

/** The groups this server has, and what they are made of. */
const wanted =
  /^k8s\.io\/(apimachinery\/pkg\/(apis\/meta\/v1|runtime|api\/resource|util\/intstr)|api\/(core|apps|batch|policy|rbac|coordination|discovery|certificates|authentication|authorization|networking|scheduling|storage|events|admissionregistration)\/v1|api\/autoscaling\/v[12]|apiextensions-apiserver\/pkg\/apis\/apiextensions\/v1|kube-aggregator\/pkg\/apis\/apiregistration\/v1)\/generated\.proto$/;

function readFile(bytes: Buffer): void {
  let scope = '';
  const found: Buffer[] = [];
  for (const field of fields(bytes)) {
    if (field.number === 1 && !wanted.test(field.bytes.toString())) return;
    if (field.number === 2) scope = field.bytes.toString();
    if (field.number === 4) found.push(field.bytes);
  }
  for (const message of found) readMessage(message, scope);
}

const [binary] = process.argv.slice(2);
if (!binary) throw new Error('name the kube-apiserver to read');
const program = readFileSync(binary);
const magic = Buffer.from([0x1f, 0x8b, 8]);
for (let at = program.indexOf(magic); at >= 0; at = program.indexOf(magic, at + 1)) {
  let text: Buffer;
  try {
    // Most finds are no gzip at all. A real one has a header of ten bytes, and ends where its stream does: the next may follow.
    text = inflateRawSync(program.subarray(at + 10, at + (1 << 20)), { maxOutputLength: 1 << 22 });
  } catch {
    continue;
  }
  if (text[0] === 0x0a && text.subarray(2, 10).toString() === 'k8s.io/a') readFile(text);
  else if (text.subarray(2, 25).toString().startsWith('k8s.io/kube-aggregator')) readFile(text);
}

/** The schema that OpenAPI has for a message. */
function schemaOf(message: string): Schema | undefined {
  const name = message
    .replace(/^k8s\.io\.apiextensions_apiserver\./, 'io.k8s.apiextensions-apiserver.')
    .replace(/^k8s\.io\.kube_aggregator\./, 'io.k8s.kube-aggregator.')
    .replace(/^k8s\.io\./, 'io.k8s.');
  try {
    return definition(name);
  } catch {
    return undefined;
  }
}

const scalar: Readonly<Record<number, string>> = {
  1: 'double',
  3: 'int',
  4: 'int',
  5: 'int',
  8: 'bool',
  9: 'string',
  12: 'bytes',
  13: 'int',
};

/** The name of a field in JSON, which differs from that in protobuf in case and in what protobuf's names cannot have. */
function jsonName(name: string, schema: Schema | undefined): string {
  const names = Object.keys(schema?.properties ?? {});
  if (names.includes(name)) return name;
  const plain = (text: string): string => text.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase();
  return names.find((candidate) => plain(candidate) === plain(name)) ?? name;
}

/**
 * A field as data: its name and its type – a scalar, or the name of a message – with `[]` before it for lists, `{}` for maps, and
 * `...` for messages whose members stand among those around them in JSON.
 */
function described(given: FieldDescriptor, schema: Schema | undefined): string {
  const field = { ...given, name: jsonName(given.name, schema) };
  const target = messages.get(field.typeName);
  if (target?.isMap) {
    const value = target.fields.find(({ number }) => number === 2);
    if (!value) throw new Error(`${target.name} is a map without values`);
    return `${field.name}:{}${value.type === 11 ? value.typeName : scalar[value.type]}`;
  }
  const type = field.type === 11 ? field.typeName : scalar[field.type];
  if (!type) throw new Error(`field ${field.name} has type ${field.type}`);
  const inline =
    field.type === 11 && !field.repeated && schema?.properties && !Object.hasOwn(schema.properties, field.name);
  return `${field.name}:${inline ? '...' : field.repeated ? '[]' : ''}${type}`;
}

const lines = [...messages.values()]
  .filter(({ isMap, name }) => !isMap && !name.endsWith('List'))
  .sort((one, other) => (one.name < other.name ? -1 : 1))
  .map(({ name, fields: own }) => {
    const schema = schemaOf(name);
    const members = Object.fromEntries(own.map((field) => [String(field.number), described(field, schema)]));
    return `  ${JSON.stringify(name)}: ${JSON.stringify(members)}`;
  });
const target = new URL('../src/local/kubernetes/http/protobuf/messages.json', import.meta.url);
writeFileSync(target, `{\n${lines.join(',\n')}\n}\n`);
console.log(`${lines.length} messages`);
