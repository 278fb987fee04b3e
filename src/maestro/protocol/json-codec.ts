// Events as JSON documents: structured mode, and the form in which events are kept.
import { parseJson } from '../../arm/json-text.ts';
import { isRecord } from '../../arm/record.ts';
import { type CloudEvent, type ExtensionValue, specVersion } from './cloud-event.ts';
import { buildEvent } from './event-builder.ts';
import { maxAttributes, maxDeliveredBytes, maxJsonDepth } from './limits.ts';
import { type Decoded, refused } from './refusal.ts';
import { dateTimestamp, formatTimestamp } from './timestamp.ts';

export type JsonEvent = Readonly<Record<string, unknown>>;

/** The event as a JSON value. Data are a JSON value where their content type says so and they are; else base64. */
export function eventToJson(event: CloudEvent): JsonEvent {
  const extensions = Object.entries(event.extensions).map(([name, value]) => [name, jsonValue(value)]);
  return {
    specversion: specVersion,
    id: event.id,
    source: event.source,
    type: event.type,
    ...(event.subject === undefined ? {} : { subject: event.subject }),
    ...(event.dataContentType === undefined ? {} : { datacontenttype: event.dataContentType }),
    ...(event.dataSchema === undefined ? {} : { dataschema: event.dataSchema }),
    ...(event.time === undefined ? {} : { time: event.time }),
    ...Object.fromEntries(extensions),
    ...(event.data === undefined ? {} : dataMember(event.data, event.dataContentType)),
  };
}

/** The event of a JSON value. Total. */
export function eventFromJson(value: unknown): Decoded<CloudEvent> {
  if (!isRecord(value)) return refused('malformed', 'the event is not a JSON object');
  const attributes = new Map<string, ExtensionValue>();
  let data: Uint8Array | undefined;
  let members = 0;
  for (const [name, member] of Object.entries(value)) {
    if (++members > maxAttributes + 1) return refused('too-large', 'the event has too many attributes');
    if (name === 'data') data = Buffer.from(JSON.stringify(member));
    else if (member === null) continue;
    else if (name === 'data_base64') {
      if (typeof member !== 'string') return refused('malformed', 'data_base64 is not a text');
      data = Buffer.from(member, 'base64');
    } else if (typeof member === 'string' || typeof member === 'boolean') attributes.set(name, member);
    else if (typeof member === 'number' && Number.isInteger(member)) attributes.set(name, member);
    else return refused('invalid-attribute', 'an attribute is neither a text, a whole number nor a truth value');
  }
  return buildEvent(attributes, data);
}

/** The event of JSON text. Total. */
export function decodeJsonEvent(bytes: Uint8Array): Decoded<CloudEvent> {
  if (bytes.byteLength > maxDeliveredBytes) return refused('too-large', 'the event is too large');
  const parsed = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), maxJsonDepth);
  return parsed.ok ? eventFromJson(parsed.value) : refused('malformed', `the event cannot be read: ${parsed.message}`);
}

export function encodeJsonEvent(event: CloudEvent): Buffer {
  return Buffer.from(JSON.stringify(eventToJson(event)));
}

function jsonValue(value: ExtensionValue): string | number | boolean {
  if (value instanceof Date) return formatTimestamp(dateTimestamp(value)) ?? '';
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

const jsonData = /^(?:application|text)\/(?:[a-z0-9.-]+\+)?json(?:;|$)/i;

function dataMember(data: Uint8Array, contentType: string | undefined): JsonEvent {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (contentType === undefined || jsonData.test(contentType)) {
    const parsed = parseJson(bytes, maxJsonDepth);
    if (parsed.ok) return { data: parsed.value };
  }
  return { data_base64: bytes.toString('base64') };
}
