// Events in protobuf, as `io.cloudevents.v1.CloudEvent`. Not the standard mapping: attributes carry the prefix `ce-`, but the
// content type of the data is `contenttype`.
//
//   message CloudEvent {
//     string id = 1;  string source = 2;  string spec_version = 3;  string type = 4;
//     map<string, CloudEventAttributeValue> attributes = 5;
//     oneof data { bytes binary_data = 6;  string text_data = 7;  google.protobuf.Any proto_data = 8; }
//   }
//   message CloudEventAttributeValue {
//     oneof attr {
//       bool ce_boolean = 1;  int32 ce_integer = 2;  string ce_string = 3;  bytes ce_bytes = 4;
//       string ce_uri = 5;  string ce_uri_ref = 6;  google.protobuf.Timestamp ce_timestamp = 7;
//     }
//   }
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { type CloudEvent, type ExtensionValue, specVersion } from './cloud-event.ts';
import { buildEvent, isStructured } from './event-builder.ts';
import { decodeJsonEvent } from './json-codec.ts';
import { maxAttributes, maxEventBytes } from './limits.ts';
import { type Decoded, ProtocolError, refused } from './refusal.ts';
import { dateTimestamp, formatTimestamp, parseTimestamp, type Timestamp } from './timestamp.ts';

const prefix = 'ce-';
const contentTypeKey = 'contenttype';
/** Attribute names that are fields of the message. */
const fields: readonly string[] = ['id', 'source', 'specversion', 'type'];

/** Throws ProtocolError where the event is larger than a peer would take. */
export function encodeProtobufEvent(event: CloudEvent, maxBytes: number = maxEventBytes): Uint8Array {
  const writer = new BinaryWriter();
  [event.id, event.source, specVersion, event.type].forEach((text, index) => {
    if (text !== '') writer.tag(index + 1, WireType.LengthDelimited).string(text);
  });
  // In order, so that one event has one form.
  for (const [key, write] of attributeWriters(event).sort(([a], [b]) => (a < b ? -1 : 1))) {
    writer.tag(5, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(key);
    writer.tag(2, WireType.LengthDelimited).fork();
    write(writer);
    writer.join().join();
  }
  if (event.data !== undefined) writer.tag(6, WireType.LengthDelimited).bytes(event.data);
  const bytes = writer.finish();
  if (bytes.byteLength <= maxBytes) return bytes;
  const message = `the event is ${bytes.byteLength} bytes; ${maxBytes} are allowed`;
  throw new ProtocolError({ code: 'too-large', message });
}

type WriteValue = (writer: BinaryWriter) => void;

function attributeWriters(event: CloudEvent): [string, WriteValue][] {
  const { dataContentType, dataSchema, subject, time } = event;
  const timestamp = time === undefined ? undefined : parseTimestamp(time);
  const writers: [string, WriteValue][] = Object.entries(event.extensions).map(([name, value]) => [
    `${prefix}${name}`,
    valueWriter(value),
  ]);
  if (timestamp !== undefined) writers.push([`${prefix}time`, timestampWriter(timestamp)]);
  if (subject !== undefined) writers.push([`${prefix}subject`, valueWriter(subject)]);
  if (dataSchema !== undefined) {
    writers.push([`${prefix}dataschema`, (writer) => writer.tag(5, WireType.LengthDelimited).string(dataSchema)]);
  }
  if (dataContentType !== undefined) writers.push([contentTypeKey, valueWriter(dataContentType)]);
  return writers;
}

function valueWriter(value: ExtensionValue): WriteValue {
  if (typeof value === 'string') return (writer) => writer.tag(3, WireType.LengthDelimited).string(value);
  if (typeof value === 'number') return (writer) => writer.tag(2, WireType.Varint).int32(value);
  if (typeof value === 'boolean') return (writer) => writer.tag(1, WireType.Varint).bool(value);
  if (value instanceof Date) return timestampWriter(dateTimestamp(value));
  return (writer) => writer.tag(4, WireType.LengthDelimited).bytes(value);
}

function timestampWriter({ seconds, nanos }: Timestamp): WriteValue {
  return (writer) => {
    writer.tag(7, WireType.LengthDelimited).fork();
    if (seconds !== 0) writer.tag(1, WireType.Varint).int64(seconds);
    if (nanos !== 0) writer.tag(2, WireType.Varint).int32(nanos);
    writer.join();
  };
}

/** Total: what the reader throws on broken bytes becomes a refusal. */
export function decodeProtobufEvent(bytes: Uint8Array, maxBytes: number = maxEventBytes): Decoded<CloudEvent> {
  if (bytes.byteLength > maxBytes) return refused('too-large', `the event is larger than ${maxBytes} bytes`);
  try {
    return readEvent(new BinaryReader(bytes));
  } catch {
    return refused('malformed', 'the bytes are not a protobuf CloudEvent');
  }
}

function readEvent(reader: BinaryReader): Decoded<CloudEvent> {
  const attributes = new Map<string, ExtensionValue>();
  let data: Uint8Array | undefined;
  let entries = 0;
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    const name = fields[field - 1];
    if (wire !== WireType.LengthDelimited) reader.skip(wire, field);
    else if (name !== undefined) attributes.set(name, reader.string(true));
    else if (field === 5) {
      if (++entries > maxAttributes) return refused('too-large', 'the event has too many attributes');
      readAttribute(reader.bytes(), attributes);
    } else if (field === 6) data = reader.bytes();
    else if (field === 7) data = Buffer.from(reader.string(true));
    else if (field === 8) data = anyValue(reader.bytes());
    else reader.skip(wire, field);
  }
  const contentType = attributes.get('datacontenttype');
  if (typeof contentType === 'string' && isStructured(contentType)) {
    return data === undefined ? refused('malformed', 'the event has no data') : decodeJsonEvent(data);
  }
  return buildEvent(attributes, data);
}

/** One entry of the map. Names without the prefix are not the event's; a name that is there twice has its last value. */
function readAttribute(bytes: Uint8Array, attributes: Map<string, ExtensionValue>): void {
  let key = '';
  let value: ExtensionValue | undefined;
  for (const { field, wire, reader } of readFields(bytes)) {
    if (field === 1 && wire === WireType.LengthDelimited) key = reader.string(true);
    else if (field === 2 && wire === WireType.LengthDelimited) value = readValue(reader.bytes());
    else reader.skip(wire, field);
  }
  const name = key.startsWith(prefix) ? key.slice(prefix.length) : key === contentTypeKey ? 'datacontenttype' : '';
  // The fields of the message cannot be given a second time as attributes.
  if (name !== '' && value !== undefined && !fields.includes(name)) attributes.set(name, value);
}

function readValue(bytes: Uint8Array): ExtensionValue | undefined {
  let value: ExtensionValue | undefined;
  for (const { field, wire, reader } of readFields(bytes)) {
    const isText = wire === WireType.LengthDelimited;
    if (wire === WireType.Varint && field === 1) value = reader.bool();
    else if (wire === WireType.Varint && field === 2) value = reader.int32();
    else if (isText && (field === 3 || field === 5 || field === 6)) value = reader.string(true);
    else if (isText && field === 4) value = reader.bytes();
    else if (isText && field === 7) value = readTimestamp(reader.bytes());
    else reader.skip(wire, field);
  }
  return value;
}

/** As text, so that no nanosecond is lost; a time no text can say breaks the event. */
function readTimestamp(bytes: Uint8Array): string {
  let [seconds, nanos] = [0, 0];
  for (const { field, wire, reader } of readFields(bytes)) {
    if (wire === WireType.Varint && field === 1) seconds = Number(reader.int64());
    else if (wire === WireType.Varint && field === 2) nanos = reader.int32();
    else reader.skip(wire, field);
  }
  const text = formatTimestamp({ seconds, nanos });
  if (text === undefined) throw new RangeError('a timestamp out of range');
  return text;
}

function anyValue(bytes: Uint8Array): Uint8Array {
  let value: Uint8Array = new Uint8Array();
  for (const { field, wire, reader } of readFields(bytes)) {
    if (field === 2 && wire === WireType.LengthDelimited) value = reader.bytes();
    else reader.skip(wire, field);
  }
  return value;
}

function* readFields(bytes: Uint8Array): Iterable<{ field: number; wire: WireType; reader: BinaryReader }> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    yield { field, wire, reader };
  }
}
