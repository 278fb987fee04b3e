import { Secret } from '../kit/secret.ts';
import { StoreError } from './errors.ts';
import { typeName } from './keys.ts';

/** Fewer than any engine's JSON functions take. */
const maxDepth = 500;

/**
 * The JSON text of a body, checked for what one engine or the other could not hold. `what` names the document in errors.
 * The checks look at the text, and go through the body only when the text gives cause: this is on the path of every write.
 */
export function serialise(what: () => string, body: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(body);
  } catch {
    throw new StoreError(
      'Invalid',
      `${what()}: the body has a cycle, a bigint or too many levels, which JSON cannot hold`,
    );
  }
  if (json?.charCodeAt(0) !== 0x7b)
    throw new StoreError('Invalid', `${what()}: the body must be a JSON object, not ${typeName(body)}`);
  if (json.includes('\\u') && unstorableEscape.test(json))
    throw new StoreError('Invalid', `${what()}: the body has a NUL character or a broken surrogate pair in a text`);
  if (deeperThan(maxDepth, json))
    throw new StoreError('Invalid', `${what()}: the body is nested deeper than ${maxDepth} levels`);
  if (json.includes('"[redacted]"')) {
    const place = secretIn(body);
    if (place !== undefined)
      throw new StoreError(
        'Invalid',
        `${what()}: there is a Secret at ${place}, which is not a sealed path of the container: it would be lost`,
      );
  }
  if (json.includes('null')) {
    const place = lostIn(body);
    if (place !== undefined)
      throw new StoreError(
        'Invalid',
        `${what()}: the value at ${place} is none that JSON can hold: it would become null`,
      );
  }
  return json;
}

/** JSON.stringify writes NUL and half surrogates as escapes; an even run of backslashes before the `u` is plain text. */
const unstorableEscape = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** UTF-8 bytes of a text, or an upper bound of them when that is within the limit: counting is only needed near it. */
export function bytesWithin(text: string, limit: number): number {
  return text.length * 3 <= limit ? text.length * 3 : Buffer.byteLength(text);
}

function deeperThan(levels: number, json: string): boolean {
  if (json.length < levels * 2) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case 0x22:
        at = closingQuote(json, at);
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > levels) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
    }
  }
  return false;
}

function closingQuote(json: string, opening: number): number {
  let at = opening;
  for (;;) {
    at = json.indexOf('"', at + 1);
    let backslashes = 0;
    while (json.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
}

function secretIn(value: unknown, place = 'the body'): string | undefined {
  if (value instanceof Secret) return place;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = secretIn(member, `${place}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Where a number that is not finite, or a hole in an array, would be stored as null. */
function lostIn(value: unknown, place = 'the body'): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : place;
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined;
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [name, member] of members) {
    const inside = `${place}.${name}`;
    const found = member === undefined && Array.isArray(value) ? inside : lostIn(member, inside);
    if (found !== undefined) return found;
  }
  return undefined;
}
