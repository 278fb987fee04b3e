// Functions and operators: one table of overloads by name, from which calls are both checked and carried out.

import type { Budget } from './budget.ts';
import { assignable, type Bindings, bound, type CelType, dyn, parseType } from './types.ts';
import { CelError, type CelValue, isMapping, kindOf, List, Optional, TypeValue } from './values.ts';

export interface Overload {
  /** The receiver first, for methods. */
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly call: (args: readonly CelValue[], budget: Budget) => CelValue;
}

export interface Functions {
  /** By name, such as `size`, `sets.contains` or `_+_`. */
  readonly global: ReadonlyMap<string, readonly Overload[]>;
  readonly methods: ReadonlyMap<string, readonly Overload[]>;
}

/** `name(list<T>, int): T` for a function, `.name(list<T>, int): T` for a method, its receiver first. */
export type Declaration = readonly [signature: string, call: (...args: never[]) => CelValue];

const form = /^(\.?)([^(]+)\((.*)\): (.+)$/;

/** Splits at commas outside of angle brackets. */
function splitTypes(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const character of list) {
    if (character === '<') depth += 1;
    if (character === '>') depth -= 1;
    if (character === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += character;
  }
  if (part.trim() !== '') parts.push(part);
  return parts;
}

/** Makes the table of a list of declarations. The last argument of a call is the budget. */
export function functionTable(declarations: readonly Declaration[]): Functions {
  const global = new Map<string, Overload[]>();
  const methods = new Map<string, Overload[]>();
  for (const [signature, call] of declarations) {
    const [, dot, name = '', params = '', result = ''] = form.exec(signature) ?? [];
    if (name === '') throw new Error(`the signature ${signature} cannot be read`);
    const table = dot ? methods : global;
    const overload: Overload = {
      params: splitTypes(params).map(parseType),
      result: parseType(result),
      call: (args, budget) => (call as (...all: unknown[]) => CelValue)(...args, budget),
    };
    const known = table.get(name);
    if (known) known.push(overload);
    else table.set(name, [overload]);
  }
  return { global, methods };
}

export interface Resolved {
  readonly type: CelType;
  readonly overloads: readonly Overload[];
  readonly call: Overload['call'];
}

const noSuchOverload = (): CelError => new CelError('no such overload');

/** The overloads that take these types, as one call; undefined where none does. What is dynamic is told apart when called. */
export function resolveCall(overloads: readonly Overload[], given: readonly CelType[]): Resolved | undefined {
  const fitting: { overload: Overload; result: CelType }[] = [];
  for (const overload of overloads) {
    if (overload.params.length !== given.length) continue;
    const bindings: Bindings = new Map();
    if (overload.params.every((param, index) => assignable(param, given[index] ?? dyn, bindings))) {
      fitting.push({ overload, result: bound(overload.result, bindings) });
    }
  }
  const [first] = fitting;
  if (!first) return undefined;
  const same = fitting.every(({ result }) => result.kind === first.result.kind);
  return {
    type: same ? first.result : dyn,
    overloads: fitting.map(({ overload }) => overload),
    call(args, budget) {
      const chosen = fitting.find(({ overload }) =>
        overload.params.every((param, index) => takes(param, args[index] ?? null)),
      );
      if (!chosen) throw noSuchOverload();
      return chosen.overload.call(args, budget);
    },
  };
}

/** Whether a value is of a type, as far as it must be known to choose between overloads. */
function takes(type: CelType, value: CelValue): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'parameter':
      return true;
    case 'list':
      return value instanceof List;
    case 'map':
      return isMapping(value);
    case 'object':
      return isMapping(value);
    case 'optional':
      return value instanceof Optional;
    case 'type':
      return value instanceof TypeValue;
    case 'opaque':
      return kindOf(value) === type.name;
    default:
      return kindOf(value) === type.kind;
  }
}
