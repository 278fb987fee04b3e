// The JSONPath of printer columns and selectable fields: members, indexes, all items, and items whose member has a value.
import { isObject } from '../schema/decode.ts';

type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'item'; readonly index: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'slice'; readonly from: number; readonly to: number | undefined }
  | { readonly kind: 'filter'; readonly test: (item: unknown) => boolean };

export class JsonPathError extends Error {}

const memberForm = /^\.((?:[^.[\]\\]|\\.)+)/;
const bracketForm = /^\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(-?\d+)|(\*)|(-?\d*):(-?\d*))\]/;
const filterForm =
  /^\[\?\(\s*@((?:\.[^\s=!<>]+)?)\s*(?:(==|!=|<=|>=|<|>)\s*('[^']*'|"[^"]*"|true|false|-?\d+(?:\.\d+)?)\s*)?\)\]/;

const unescaped = (text: string): string => text.replace(/\\(.)/g, '$1');

const tests: Readonly<Record<string, (one: string | number, other: string | number) => boolean>> = {
  '==': (one, other) => one === other,
  '!=': (one, other) => one !== other,
  '<': (one, other) => one < other,
  '>': (one, other) => one > other,
  '<=': (one, other) => one <= other,
  '>=': (one, other) => one >= other,
};

function literal(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return text.startsWith("'") || text.startsWith('"') ? text.slice(1, -1) : Number(text);
}

function filterStep(path: string, operator: string | undefined, value: string | undefined): Step {
  const steps = path === '' ? [] : parseSteps(path);
  if (operator === undefined || value === undefined) {
    return { kind: 'filter', test: (item) => walk([item], steps).length > 0 };
  }
  const wanted = literal(value);
  return {
    kind: 'filter',
    test: (item) =>
      walk([item], steps).some((found) => {
        if (typeof found !== typeof wanted) return false;
        if (typeof found === 'boolean') return operator === '==' ? found === wanted : found !== wanted;
        return tests[operator]?.(found as string, wanted as string) ?? false;
      }),
  };
}

function parseSteps(text: string): Step[] {
  const steps: Step[] = [];
  let rest = text;
  while (rest !== '') {
    const filter = filterForm.exec(rest);
    const bracket = bracketForm.exec(rest);
    const member = memberForm.exec(rest);
    const found = filter ?? bracket ?? member;
    if (filter) steps.push(filterStep(filter[1] ?? '', filter[2], filter[3]));
    else if (bracket) {
      const [, single, double, index, all, from, to] = bracket;
      const name = single ?? double;
      if (name !== undefined) steps.push({ kind: 'member', name: unescaped(name) });
      else if (index !== undefined) steps.push({ kind: 'item', index: Number(index) });
      else if (all !== undefined) steps.push({ kind: 'all' });
      else steps.push({ kind: 'slice', from: Number(from || 0), to: to === '' ? undefined : Number(to) });
    } else if (member?.[1] === '*') steps.push({ kind: 'all' });
    else if (member) steps.push({ kind: 'member', name: unescaped(member[1] ?? '') });
    if (!found) throw new JsonPathError(`cannot understand ${JSON.stringify(rest)}`);
    rest = rest.slice(found[0].length);
  }
  return steps;
}

function next(value: unknown, step: Step): unknown[] {
  switch (step.kind) {
    case 'member':
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'item': {
      const item = Array.isArray(value) ? value.at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case 'all':
      return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
    case 'slice':
      return Array.isArray(value) ? value.slice(step.from, step.to) : [];
    case 'filter':
      return Array.isArray(value) ? value.filter(step.test) : [];
  }
}

const walk = (values: unknown[], steps: readonly Step[]): unknown[] =>
  steps.reduce((found: unknown[], step) => found.flatMap((value) => next(value, step)), values);

/** Reads a path such as `.status.conditions[?(@.type=='Ready')].status`. Throws JsonPathError. */
export function jsonPath(text: string): (object: unknown) => unknown[] {
  const steps = parseSteps(text);
  return (object) => walk([object], steps);
}

/** A path of members only, as its names; undefined for any other. */
export function simplePath(text: string): string[] | undefined {
  if (!text.startsWith('.')) return undefined;
  try {
    const steps = parseSteps(text);
    const names = steps.flatMap((step) => (step.kind === 'member' ? [step.name] : []));
    return names.length === steps.length && names.length > 0 ? names : undefined;
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}
