// Field errors in the server's wording. Paths are written out: `spec.containers[0].name`.
import type { FieldError } from '../status.ts';
import { goQuote } from './go-text.ts';

/** A value as an error quotes it: strings quoted, other scalars plain, the rest as JSON. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  return JSON.stringify(value ?? null);
}

const withDetail = (text: string, detail: string): string => (detail ? `${text}: ${detail}` : text);

export const required = (field: string, detail = ''): FieldError => ({
  type: 'FieldValueRequired',
  field,
  message: withDetail('Required value', detail),
});

export const invalidValue = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  message: withDetail(`Invalid value: ${shown(value)}`, detail),
});

/** A value of the wrong JSON type. Reads as an invalid value, under a reason of its own. */
export const invalidType = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'FieldValueTypeInvalid',
  field,
  message: withDetail(`Invalid value: ${shown(value)}`, detail),
});

export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'FieldValueNotSupported',
  field,
  message: withDetail(
    `Unsupported value: ${shown(value)}`,
    supported.length > 0 ? `supported values: ${supported.map(goQuote).join(', ')}` : '',
  ),
});

export const duplicate = (field: string, value: unknown): FieldError => ({
  type: 'FieldValueDuplicate',
  field,
  message: `Duplicate value: ${shown(value)}`,
});

export const forbiddenField = (field: string, detail: string): FieldError => ({
  type: 'FieldValueForbidden',
  field,
  message: withDetail('Forbidden', detail),
});

export const notFoundValue = (field: string, value: unknown): FieldError => ({
  type: 'FieldValueNotFound',
  field,
  message: `Not found: ${shown(value)}`,
});

/** `most` in bytes. */
export const tooLong = (field: string, most: number): FieldError => ({
  type: 'FieldValueTooLong',
  field,
  message: `Too long: may not be more than ${most} ${most === 1 ? 'byte' : 'bytes'}`,
});

export const tooMany = (field: string, actual: number, most: number): FieldError => ({
  type: 'FieldValueTooMany',
  field,
  message: `Too many: ${actual}: must have at most ${most} ${most === 1 ? 'item' : 'items'}`,
});

/** One error per message of a rule about names and the like. */
export const invalidBy = (field: string, value: unknown, messages: readonly string[]): FieldError[] =>
  messages.map((message) => invalidValue(field, value, message));

/** Those that say the same only once, as the server lists them. */
export function withoutRepeats(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>();
  return errors.filter(({ field, message }) => {
    const text = `${field}: ${message}`;
    return seen.has(text) ? false : seen.add(text);
  });
}

/** The path of a map's member, as the server writes it: `data[a.b]`. */
export const keyed = (field: string, key: string): string => `${field}[${key}]`;
