// Values as the expression language sees them: JSON, member names in any case, comparisons by content.
import { foldCase } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import { type Budget, textUnits } from './budget.ts';
import { TemplateError } from './template-error.ts';

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** A member by its name in any case, the exact one first. */
export function memberOf(object: JsonObject, name: string, budget?: Budget): Json | undefined {
  if (Object.hasOwn(object, name)) return object[name];
  const folded = foldCase(name);
  const names = Object.keys(object);
  budget?.spend(1 + (names.length >>> 2));
  for (const one of names) {
    if (one.length === name.length && foldCase(one) === folded) return object[one];
  }
  return undefined;
}

/** For messages: the names there are, as far as they fit. */
export function memberNames(object: JsonObject): string {
  const names = Object.keys(object);
  const some = names.slice(0, 50).join(', ');
  return names.length > 50 ? `${some}, ...` : some;
}

/** The words that messages have for a value's type. */
export function typeName(value: Json): string {
  if (value === null) return 'Null';
  if (isArray(value)) return 'Array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'Integer' : 'Float';
  const names = { string: 'String', boolean: 'Boolean', object: 'Object' } as const;
  return names[typeof value as keyof typeof names];
}

const depthMax = 200;

function deeper(depth: number): number {
  if (depth >= depthMax) throw new TemplateError(`The value is nested deeper than '${depthMax}' levels`);
  return depth + 1;
}

/** By content; texts by their letters, objects whatever the order of their members. */
export function equal(a: Json, b: Json, budget: Budget, depth = 0): boolean {
  budget.spend(1);
  if (a === b) {
    if (typeof a === 'string') budget.spend(textUnits(a));
    return true;
  }
  const next = deeper(depth);
  if (isArray(a)) {
    return isArray(b) && a.length === b.length && a.every((one, index) => equal(one, b[index] ?? null, budget, next));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && equal(a[name] ?? null, b[name] ?? null, budget, next));
}

/** Members of the second win; objects in both are merged, everything else is replaced. */
export function deepMerge(a: JsonObject, b: JsonObject, budget: Budget, depth = 0): JsonObject {
  const next = deeper(depth);
  const made = new Map(Object.entries(a));
  budget.spend(4 * made.size);
  for (const [name, value] of Object.entries(b)) {
    budget.spend(1);
    const before = made.get(name);
    made.set(name, isObject(before) && isObject(value) ? deepMerge(before, value, budget, next) : value);
  }
  return Object.fromEntries(made);
}

/** The text that a value is in `string()` and `concat()`. */
export function textOf(value: Json, budget: Budget): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value === null) return '';
  measure(value, budget);
  return JSON.stringify(value);
}

/**
 * Charges for every node of a value as it would be written out. Parts that are shared count each time: a few lines of a template can
 * make a value whose text would fill any memory. Throws TemplateError, also for values nested too deep to be walked.
 */
export function measure(value: Json, budget: Budget, depth = 0): void {
  budget.spend(typeof value === 'string' ? textUnits(value) : 1);
  if (typeof value !== 'object' || value === null) return;
  const next = deeper(depth);
  if (isArray(value)) for (const one of value) measure(one, budget, next);
  else if (isObject(value)) {
    for (const [name, one] of Object.entries(value)) {
      budget.spend(textUnits(name));
      measure(one ?? null, budget, next);
    }
  }
}

interface Wanted {
  readonly name: string;
}

function wrong(call: Wanted, expected: string, value: Json): TemplateError {
  return new TemplateError(
    `The template language function '${call.name}' expects its parameter to be ${expected}. The provided value is of type '${typeName(value)}'. Please see https://aka.ms/arm-functions for usage details`,
  );
}

export function wantText(value: Json | undefined, call: Wanted): string {
  if (typeof value !== 'string') throw wrong(call, 'a string', value ?? null);
  return value;
}

export function wantInteger(value: Json | undefined, call: Wanted): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(call, 'an integer', value ?? null);
  return value;
}

export function wantBoolean(value: Json | undefined, call: Wanted): boolean {
  if (typeof value !== 'boolean') throw wrong(call, 'a boolean', value ?? null);
  return value;
}

export function wantArray(value: Json | undefined, call: Wanted): readonly Json[] {
  if (!isArray(value)) throw wrong(call, 'an array', value ?? null);
  return value;
}

export function wantObject(value: Json | undefined, call: Wanted): JsonObject {
  if (!isObject(value)) throw wrong(call, 'an object', value ?? null);
  return value;
}

/** A text that was made, if it is not longer than texts of templates may be. */
export function madeText(text: string, budget: Budget): string {
  budget.spend(textUnits(text));
  if (text.length > textMaxLength) {
    throw new TemplateError(`The string is longer than the limit of '${textMaxLength}' characters`);
  }
  return text;
}

/** Longest text that an expression makes. */
export const textMaxLength = 131_072;
