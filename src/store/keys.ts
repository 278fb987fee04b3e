import { StoreError } from './errors.ts';
import type { Key } from './store.ts';

const maxKeyBytes = 1023;
/** No control characters, no half of a surrogate pair. */
const clean = /^[^\p{Cc}\p{Cs}]+$/u;

/** Refuses what is not 1 to 1,023 bytes of well-formed UTF-8 without control characters; `what` names it in the error. */
export function checkKeyPart(what: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') throw new StoreError('Invalid', `${what} must be a string, not ${typeName(value)}`);
  if (value.length === 0) throw new StoreError('Invalid', `${what} must not be empty`);
  if (value.length * 3 > maxKeyBytes && Buffer.byteLength(value) > maxKeyBytes)
    throw new StoreError('Invalid', `${what} is longer than ${maxKeyBytes} bytes of UTF-8`);
  if (!clean.test(value))
    throw new StoreError('Invalid', `${what} has a control character or a broken surrogate pair in it`);
}

export function checkKey(key: Key): void {
  if (typeof key !== 'object' || key === null)
    throw new StoreError('Invalid', `a key of partition and id is needed, not ${typeName(key)}`);
  checkKeyPart('partition', key.partition);
  checkKeyPart('id', key.id);
}

/** What a value is, for an error message that must not show the value itself. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return value === undefined ? 'undefined' : `a value of type ${typeof value}`;
}
