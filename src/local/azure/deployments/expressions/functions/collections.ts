// Arrays and objects, and what texts have in common with arrays.
import { foldCase } from '../../../../../arm/resource-id.ts';
import type { Json } from '../../../kernel/record.ts';
import type { Budget } from '../budget.ts';
import { type FunctionTable, func } from '../environment.ts';
import { TemplateError } from '../template-error.ts';
import {
  deepMerge,
  equal,
  isArray,
  isObject,
  memberOf,
  wantArray,
  wantInteger,
  wantObject,
  wantText,
} from '../values.ts';
import { unexpectedType } from './strings.ts';

export const collectionFunctions: FunctionTable = {
  array: func(1, ([value]) => (isArray(value) ? value : [value ?? null])),
  createarray: func([0, 10_000], (args) => args),
  createobject: func([0, 10_000], (args, call) => {
    if (args.length % 2 !== 0) {
      throw new TemplateError("The template language function 'createObject' expects an even number of parameters");
    }
    const members = new Map<string, Json>();
    for (let at = 0; at < args.length; at += 2) members.set(wantText(args[at], call), args[at + 1] ?? null);
    return Object.fromEntries(members);
  }),
  contains: func(2, ([container, wanted], call) => {
    if (isArray(container)) return container.some((one) => equal(one, wanted ?? null, call.budget));
    if (isObject(container)) return memberOf(container, wantText(wanted, call), call.budget) !== undefined;
    if (typeof container === 'string') return container.includes(String(wanted));
    throw unexpectedType(call, container);
  }),
  empty: func(1, ([value], call) => {
    if (value === null || value === undefined) return true;
    if (typeof value === 'string' || isArray(value)) return value.length === 0;
    if (isObject(value)) return Object.keys(value).length === 0;
    throw unexpectedType(call, value);
  }),
  length: func(1, ([value], call) => {
    if (typeof value === 'string' || isArray(value)) return value.length;
    if (isObject(value)) return Object.keys(value).length;
    throw unexpectedType(call, value);
  }),
  first: func(1, ([value], call) => {
    if (typeof value === 'string') return value.slice(0, 1);
    return wantArray(value, call)[0] ?? null;
  }),
  last: func(1, ([value], call) => {
    if (typeof value === 'string') return value.slice(-1);
    return wantArray(value, call).at(-1) ?? null;
  }),
  skip: func(2, ([value, count], call) => {
    const from = Math.max(0, wantInteger(count, call));
    return typeof value === 'string' ? value.slice(from) : spentArray(wantArray(value, call).slice(from), call.budget);
  }),
  take: func(2, ([value, count], call) => {
    const to = Math.max(0, wantInteger(count, call));
    return typeof value === 'string'
      ? value.slice(0, to)
      : spentArray(wantArray(value, call).slice(0, to), call.budget);
  }),
  indexof: func(2, ([value, wanted], call) => {
    if (typeof value === 'string') return foldCase(value).indexOf(foldCase(wantText(wanted, call)));
    return wantArray(value, call).findIndex((one) => equal(one, wanted ?? null, call.budget));
  }),
  lastindexof: func(2, ([value, wanted], call) => {
    if (typeof value === 'string') return foldCase(value).lastIndexOf(foldCase(wantText(wanted, call)));
    return wantArray(value, call).findLastIndex((one) => equal(one, wanted ?? null, call.budget));
  }),
  union: func([1, 256], (args, call) => {
    const present = args.filter((arg) => arg !== null);
    if (present.length === 0) return null;
    if (present.every(isArray)) return distinct((present as readonly (readonly Json[])[]).flat(1), call.budget);
    return present.map((arg) => wantObject(arg, call)).reduce((made, next) => deepMerge(made, next, call.budget));
  }),
  intersection: func([1, 256], ([head, ...rest], call) => {
    if (isArray(head)) {
      const others = rest.map((one) => wantArray(one, call));
      const common = head.filter((one) => others.every((other) => other.some((item) => equal(item, one, call.budget))));
      return distinct(common, call.budget);
    }
    const others = rest.map((one) => wantObject(one, call));
    const shared = Object.entries(wantObject(head, call)).filter(([name, value]) =>
      others.every((other) => {
        call.budget.spend(1);
        const theirs = memberOf(other, name, call.budget);
        return theirs !== undefined && equal(theirs, value ?? null, call.budget);
      }),
    );
    return Object.fromEntries(shared);
  }),
  flatten: func(1, ([value], call) =>
    spentArray(
      wantArray(value, call).flatMap((one) => wantArray(one, call)),
      call.budget,
    ),
  ),
  items: func(1, ([value], call) => {
    const object = wantObject(value, call);
    return spentArray(
      Object.keys(object)
        .sort(byFoldedText)
        .map((key) => ({ key, value: object[key] ?? null })),
      call.budget,
    );
  }),
  objectkeys: func(1, ([value], call) =>
    spentArray(Object.keys(wantObject(value, call)).sort(byFoldedText), call.budget),
  ),
  shallowmerge: func(1, ([value], call) => {
    const objects = wantArray(value, call).map((one) => wantObject(one, call));
    for (const one of objects) call.budget.spend(Object.keys(one).length);
    return Object.fromEntries(objects.flatMap((one) => Object.entries(one)));
  }),
  tryget: func([2, 64], ([value, ...path], call) => {
    let at: Json = value ?? null;
    for (const step of path) {
      let next: Json | undefined;
      if (isArray(at) && typeof step === 'number') next = step < 0 ? undefined : at[step];
      else if (isObject(at) && typeof step === 'string') next = memberOf(at, step, call.budget);
      if (next === undefined || next === null) return null;
      at = next;
    }
    return at;
  }),
  tryindexfromend: func(2, ([value, index], call) => {
    const from = wantInteger(index, call);
    return from < 1 ? null : (wantArray(value, call).at(-from) ?? null);
  }),
  indexfromend: func(2, ([value, index], call) => {
    const from = wantInteger(index, call);
    const found = from < 1 ? undefined : wantArray(value, call).at(-from);
    if (found === undefined)
      throw new TemplateError(`The language expression property array index '${from}' is out of bounds`);
    return found;
  }),
  json: func(1, ([text], call) => {
    const source = wantText(text, call);
    call.budget.spend(source.length >>> 2);
    return parsedJson(source);
  }),
};

/** JSON text to a value whose depth is bounded and which has no member that would be taken for a prototype. */
export function parsedJson(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw new TemplateError("The template language function 'json' expects its parameter to be a valid JSON text");
  }
  checkDepth(value, 64);
  return value;
}

function checkDepth(value: Json, left: number): void {
  if (left === 0) throw new TemplateError('The value is nested too deep');
  if (isArray(value)) for (const one of value) checkDepth(one, left - 1);
  else if (isObject(value)) {
    if (Object.hasOwn(value, '__proto__')) throw new TemplateError("A member may not be named '__proto__'");
    for (const one of Object.values(value)) checkDepth(one ?? null, left - 1);
  }
}

function spentArray(values: readonly Json[], budget: Budget): readonly Json[] {
  budget.spend(values.length);
  return values;
}

/** By letters in any case, as the cloud orders keys. */
export function byFoldedText(a: string, b: string): number {
  const left = a.toLowerCase();
  const right = b.toLowerCase();
  return left < right ? -1 : left > right ? 1 : 0;
}

function distinct(values: readonly Json[], budget: Budget): readonly Json[] {
  const seen = new Set<Json>();
  const made: Json[] = [];
  for (const value of values) {
    budget.spend(1);
    if (typeof value !== 'object' || value === null) {
      if (seen.has(value)) continue;
      seen.add(value);
    } else if (made.some((one) => equal(one, value, budget))) continue;
    made.push(value);
  }
  return made;
}
