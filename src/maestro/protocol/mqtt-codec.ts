// Events on MQTT 5 in binary mode: the payload is the data, the Content Type property its type, and every other attribute a
// user property with the prefix `ce-`, which the CloudEvents binding does not have but every Maestro party uses.
import { type CloudEvent, type ExtensionValue, specVersion, structuredContentType } from './cloud-event.ts';
import { buildEvent, isStructured } from './event-builder.ts';
import { decodeJsonEvent, encodeJsonEvent } from './json-codec.ts';
import { maxAttributes, maxEventBytes, maxPropertyBytes } from './limits.ts';
import { type Decoded, ProtocolError, refused } from './refusal.ts';
import { dateTimestamp, formatTimestamp } from './timestamp.ts';

/** What the CloudEvent is of an MQTT PUBLISH, in the terms of the `mqtt` package. */
export interface MqttMessage {
  readonly payload: Uint8Array;
  readonly properties?: {
    readonly contentType?: string;
    readonly userProperties?: Readonly<Record<string, string | readonly string[]>>;
  };
}

export interface EncodedMqttMessage {
  readonly payload: Buffer;
  readonly properties: { readonly contentType?: string; readonly userProperties: Record<string, string> };
}

const prefix = 'ce-';

/**
 * In binary mode; in structured mode where a property cannot hold an attribute (more than 65535 bytes, as metadata with many
 * annotations can have), which receivers read too. Throws ProtocolError where the event is too large for any.
 */
export function encodeMqtt(event: CloudEvent): EncodedMqttMessage {
  const userProperties: Record<string, string> = {};
  for (const [name, value] of textAttributes(event)) {
    if (!fitsProperty(value)) return structured(event);
    userProperties[`${prefix}${name}`] = value;
  }
  const payload = event.data === undefined ? Buffer.alloc(0) : bufferOf(event.data);
  return {
    payload: bounded(payload),
    properties: {
      ...(event.dataContentType === undefined ? {} : { contentType: event.dataContentType }),
      userProperties,
    },
  };
}

/** Total. User properties without the prefix are not the event's; a name that is there twice is refused. */
export function decodeMqtt(message: MqttMessage): Decoded<CloudEvent> {
  const { contentType, userProperties = {} } = message.properties ?? {};
  if (message.payload.byteLength > maxEventBytes) return refused('too-large', 'the event is too large');
  if (isStructured(contentType)) return decodeJsonEvent(message.payload);
  const attributes = new Map<string, ExtensionValue>();
  for (const [key, value] of Object.entries(userProperties)) {
    if (!key.startsWith(prefix)) continue;
    if (typeof value !== 'string') return refused('invalid-attribute', 'an attribute is there more than once');
    if (attributes.size >= maxAttributes) return refused('too-large', 'the event has too many attributes');
    attributes.set(key.slice(prefix.length), value);
  }
  if (!attributes.has('specversion')) return refused('unknown-encoding', 'the message is not a CloudEvent');
  if (contentType !== undefined) attributes.set('datacontenttype', contentType);
  return buildEvent(attributes, message.payload.byteLength === 0 ? undefined : message.payload);
}

function* textAttributes(event: CloudEvent): Iterable<readonly [string, string]> {
  yield ['specversion', specVersion];
  yield ['id', event.id];
  yield ['source', event.source];
  yield ['type', event.type];
  if (event.time !== undefined) yield ['time', event.time];
  if (event.subject !== undefined) yield ['subject', event.subject];
  if (event.dataSchema !== undefined) yield ['dataschema', event.dataSchema];
  for (const [name, value] of Object.entries(event.extensions)) yield [name, textOf(value)];
}

function textOf(value: ExtensionValue): string {
  if (value instanceof Date) return formatTimestamp(dateTimestamp(value)) ?? '';
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : String(value);
}

/** MQTT's texts are UTF-8 without U+0000. */
function fitsProperty(text: string): boolean {
  return Buffer.byteLength(text) <= maxPropertyBytes && !text.includes('\0') && text.isWellFormed();
}

function structured(event: CloudEvent): EncodedMqttMessage {
  const payload = encodeJsonEvent(event);
  return { payload: bounded(payload), properties: { contentType: structuredContentType, userProperties: {} } };
}

function bounded(payload: Buffer): Buffer {
  if (payload.byteLength <= maxEventBytes) return payload;
  const message = `the event is ${payload.byteLength} bytes; ${maxEventBytes} are allowed`;
  throw new ProtocolError({ code: 'too-large', message });
}

function bufferOf(data: Uint8Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
