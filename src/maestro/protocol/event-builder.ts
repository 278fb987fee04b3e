// An event put together from attributes as they come off a wire, with the rules that hold for every encoding.
import {
  attributeName,
  type CloudEvent,
  type ExtensionValue,
  specVersion,
  structuredContentType,
} from './cloud-event.ts';
import { heartbeatType } from './event-type.ts';
import { maxAttributes, maxAttributesBytes, maxDeliveredBytes } from './limits.ts';
import { type Decoded, decoded, type Refusal, refused } from './refusal.ts';
import { dateTimestamp, formatTimestamp, parseTimestamp } from './timestamp.ts';

/** Attributes by their names in CloudEvents, core ones (`id`, `time`, `datacontenttype` …) and extensions. */
export type Attributes = ReadonlyMap<string, ExtensionValue>;

const core: ReadonlySet<string> = new Set([
  'specversion',
  'id',
  'source',
  'type',
  'time',
  'subject',
  'dataschema',
  'datacontenttype',
]);

export function buildEvent(attributes: Attributes, data: Uint8Array | undefined): Decoded<CloudEvent> {
  const oversize = sizeProblem(attributes, data);
  if (oversize !== undefined) return { ok: false, refusal: oversize };
  const texts: Record<string, string> = {};
  const extensions: Record<string, ExtensionValue> = {};
  for (const [name, value] of attributes) {
    if (!attributeName.test(name)) return invalid('an attribute has a name that CloudEvents does not allow');
    if (!core.has(name)) extensions[name] = value;
    else if (typeof value === 'string') texts[name] = value;
    else if (name === 'time' && value instanceof Date) texts[name] = formatTimestamp(dateTimestamp(value)) ?? '';
    else return invalid(`the event's ${name} is not a text`);
  }
  if (texts.specversion !== specVersion) return refused('unknown-encoding', 'the event is not a CloudEvent 1.0');
  const { id = '', source = '', type = '', time, subject, dataschema, datacontenttype } = texts;
  if (id === '') return missing('id');
  if (type === '') return missing('type');
  if (source === '' && type !== heartbeatType) return missing('source');
  if (time !== undefined && parseTimestamp(time) === undefined) {
    return invalid("the event's time is not a time of RFC 3339");
  }
  return decoded({
    id,
    source,
    type,
    ...(time === undefined ? {} : { time }),
    ...(subject === undefined ? {} : { subject }),
    ...(dataschema === undefined ? {} : { dataSchema: dataschema }),
    ...(datacontenttype === undefined ? {} : { dataContentType: datacontenttype }),
    extensions,
    ...(data === undefined ? {} : { data }),
  });
}

/** Whether the bytes beside this content type are the whole event (structured mode). */
export function isStructured(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === structuredContentType;
}

function sizeProblem(attributes: Attributes, data: Uint8Array | undefined): Refusal | undefined {
  if (attributes.size > maxAttributes) return { code: 'too-large', message: 'the event has too many attributes' };
  let bytes = 0;
  for (const [name, value] of attributes) bytes += name.length + valueBytes(value);
  if (bytes > maxAttributesBytes) return { code: 'too-large', message: "the event's attributes are too large" };
  if (bytes + (data?.byteLength ?? 0) > maxDeliveredBytes) {
    return { code: 'too-large', message: `the event is larger than ${maxDeliveredBytes} bytes` };
  }
  return undefined;
}

function valueBytes(value: ExtensionValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return value instanceof Uint8Array ? value.byteLength : 8;
}

function missing(name: string): Decoded<CloudEvent> {
  return refused('missing-attribute', `the event has no ${name}`);
}

function invalid(message: string): Decoded<CloudEvent> {
  return refused('invalid-attribute', message);
}
