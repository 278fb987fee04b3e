// Checks a body against a schema: every error at once, nothing coerced, in ARM's terms.
import { createRequire } from 'node:module';
import type { Static, TSchema } from 'typebox';
import type { Validator } from 'typebox/compile';
import { type FieldError, fieldErrors } from './field-error.ts';
import { findErrors, type JsonSchema } from './schema-errors.ts';

// The compiler is some hundreds of modules: loaded with the first body, so that a process without one starts sooner.
const load = createRequire(import.meta.url);
const compiled = new WeakMap<TSchema, Validator>();

/** Whether a value is as the schema says. A schema is compiled at its first use. */
export function isBody<T extends TSchema>(schema: T, value: unknown): value is Static<T> {
  let check = compiled.get(schema);
  if (!check) {
    const { Compile } = load('typebox/compile') as typeof import('typebox/compile');
    check = Compile(compilable(schema) as TSchema);
    compiled.set(schema, check);
  }
  return value !== undefined && check.Check(value);
}

/** All that is wrong with a value; empty when it fits. */
export function bodyErrors(schema: TSchema, value: unknown): readonly FieldError[] {
  if (isBody(schema, value)) return [];
  const found = findErrors(schema as JsonSchema, value);
  if (found.length > 0) return found;
  // A keyword that only the compiled check knows.
  return [{ target: '', message: 'Invalid value: the content does not have the expected form' }];
}

/** The value, as the type the schema describes. Throws InvalidRequestContent, or MultipleErrorsOccurred with all of them. */
export function checkBody<T extends TSchema>(schema: T, value: unknown): Static<T> {
  const [first, ...rest] = bodyErrors(schema, value);
  if (first !== undefined) throw fieldErrors([first, ...rest]);
  return value as Static<T>;
}

/**
 * The schema in terms that the compiler takes as they are meant here: `nullable` becomes a union, and lengths count code points
 * (the compiler counts what a reader sees as one character, which can be of any size).
 */
function compilable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(compilable);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { nullable, minLength, maxLength, ...rest } = schema as Record<string, unknown>;
  const inner = Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, compilable(part)]));
  const bounded =
    typeof minLength === 'number' || typeof maxLength === 'number'
      ? { allOf: [inner, { pattern: `^[^]{${minLength ?? 0},${maxLength ?? ''}}$` }] }
      : inner;
  return nullable === true ? { anyOf: [bounded, { type: 'null' }] } : bounded;
}
