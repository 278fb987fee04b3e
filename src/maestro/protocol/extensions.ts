// Maestro's extension attributes, and reading them whatever the encoding made of them: over MQTT an integer or a time comes as
// text, over gRPC as what it is.
import type { CloudEvent } from './cloud-event.ts';
import { type Decoded, decoded, refused } from './refusal.ts';
import { timestampDate } from './timestamp.ts';

/** Names on the wire. */
export const extension = {
  /** The id of the bundle: the row at the server, the uid of the ManifestWork. */
  resourceId: 'resourceid',
  /** The version of the bundle's spec. From a source: the one its update is based on; 0 is whatever is latest. */
  resourceVersion: 'resourceversion',
  /** The consumer. Empty in a resync that a source asks of everyone. */
  clusterName: 'clustername',
  /** The source that a bundle came from, as agents know it: the server's id. Sent even when empty. */
  originalSource: 'originalsource',
  /** Orders the status events of one agent; sequence-id.ts. */
  sequenceId: 'sequenceid',
  /** status-hash.ts */
  statusHash: 'statushash',
  /** Its presence says that the bundle is to be deleted. */
  deletionTimestamp: 'deletiontimestamp',
  /** object-meta.ts */
  metadata: 'metadata',
  /** Passed through. */
  logTracing: 'logtracing',
} as const;

export type ExtensionName = (typeof extension)[keyof typeof extension];

/** A text that must be there; it may be empty. */
export function requiredText(event: CloudEvent, name: ExtensionName): Decoded<string> {
  const value = event.extensions[name];
  if (value === undefined) return missing(name);
  return typeof value === 'string' ? decoded(value) : invalid(name, 'a text');
}

/** A text, empty where it is absent. */
export function optionalText(event: CloudEvent, name: ExtensionName): Decoded<string> {
  return event.extensions[name] === undefined ? decoded('') : requiredText(event, name);
}

const integerForm = /^[0-9]{1,10}$/;
const maxInteger = 2 ** 31 - 1;

/** A whole number from 0 to 2³¹−1, also where it comes as text. */
export function requiredInteger(event: CloudEvent, name: ExtensionName): Decoded<number> {
  const value = event.extensions[name];
  if (value === undefined) return missing(name);
  const number = typeof value === 'string' && integerForm.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= maxInteger
    ? decoded(number)
    : invalid(name, 'a whole number from 0 to 2147483647');
}

/** A time, also where it comes as text; undefined where it is absent. */
export function optionalTime(event: CloudEvent, name: ExtensionName): Decoded<Date | undefined> {
  const value = event.extensions[name];
  if (value === undefined || value instanceof Date) return decoded(value);
  const time = typeof value === 'string' ? timestampDate(value) : undefined;
  return time === undefined ? invalid(name, 'a time of RFC 3339') : decoded(time);
}

function missing(name: string): Decoded<never> {
  return refused('missing-attribute', `the event has no ${name}`);
}

function invalid(name: string, expected: string): Decoded<never> {
  return refused('invalid-attribute', `the event's ${name} is not ${expected}`);
}
