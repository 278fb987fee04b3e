// OpenAPI v2 in protobuf, the one form in which kubectl asks for v2: to validate lists, and kinds it does not find in v3. It looks at
// definitions alone, so paths are left out.

/** The numbers of a message's fields, by the words of the JSON form. */
const texts: Readonly<Record<string, number>> = { format: 2, title: 3, description: 4, pattern: 13 };
const doubles: Readonly<Record<string, number>> = { multipleOf: 6, maximum: 7, minimum: 9 };
const flags: Readonly<Record<string, number>> = { exclusiveMaximum: 8, exclusiveMinimum: 10, uniqueItems: 16 };
const integers: Readonly<Record<string, number>> = {
  maxLength: 11,
  minLength: 12,
  maxItems: 14,
  minItems: 15,
  maxProperties: 17,
  minProperties: 18,
};

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

const message = (number: number, ...parts: readonly Buffer[]): Buffer => {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([varint(number * 8 + 2), varint(length), ...parts]);
};
const text = (number: number, value: string): Buffer => message(number, Buffer.from(value));
const integer = (number: number, value: number): Buffer => Buffer.concat([varint(number * 8), varint(value)]);
const double = (number: number, value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([varint(number * 8 + 1), bytes]);
};
/** Any value, as YAML, of which JSON is a part. */
const any = (number: number, value: unknown): Buffer => message(number, text(2, `${JSON.stringify(value)}\n`));
const named = (number: number, name: string, value: Buffer): Buffer => message(number, text(1, name), value);

type Words = Readonly<Record<string, unknown>>;

/** The fields of a schema message. Words that it has no field for are left out. */
function schema(words: Words): Buffer {
  const parts: Buffer[] = [];
  for (const [word, value] of Object.entries(words)) {
    if (word.startsWith('x-')) parts.push(named(31, word, any(2, value)));
    else if (word === '$ref') parts.push(text(1, String(value)));
    else if (word === 'type') parts.push(message(22, text(1, String(value))));
    else if (word === 'items') parts.push(message(23, message(1, schema(value as Words))));
    else if (word === 'properties') parts.push(message(25, ...schemas(1, value as Words)));
    else if (word === 'additionalProperties') {
      parts.push(
        message(21, typeof value === 'object' ? message(1, schema(value as Words)) : integer(2, Number(value))),
      );
    } else if (word === 'required') for (const name of value as string[]) parts.push(text(19, name));
    else if (word === 'enum') for (const one of value as unknown[]) parts.push(any(20, one));
    else if (texts[word] !== undefined) parts.push(text(texts[word], String(value)));
    else if (doubles[word] !== undefined) parts.push(double(doubles[word], Number(value)));
    else if (integers[word] !== undefined) parts.push(integer(integers[word], Number(value)));
    else if (flags[word] !== undefined) parts.push(integer(flags[word], Number(value)));
  }
  return Buffer.concat(parts);
}

const schemas = (number: number, of: Words): Buffer[] =>
  Object.entries(of).map(([name, words]) => named(number, name, message(2, schema(words as Words))));

/** The document that {@link openapiV2Document} gives, in protobuf. */
export function openapiV2Bytes(document: {
  readonly info: { readonly title: string; readonly version: string };
  readonly definitions: object;
}): Buffer {
  const { info, definitions } = document;
  return Buffer.concat([
    text(1, '2.0'),
    message(2, text(1, info.title), text(2, info.version)),
    message(8),
    message(9, ...schemas(1, definitions as Words)),
  ]);
}
