// Conditions and comparisons.
import type { Json } from '../../../kernel/record.ts';
import { type Call, type FunctionTable, form, func } from '../environment.ts';
import { TemplateError } from '../template-error.ts';
import { equal, typeName, wantBoolean, wantText } from '../values.ts';

export const logicalFunctions: FunctionTable = {
  if: form(3, ([condition, yes, no], call) => {
    if (condition === undefined || yes === undefined || no === undefined) return null;
    return call.evaluate(wantBoolean(call.evaluate(condition), call) ? yes : no);
  }),
  and: form([2, 256], (args, call) => args.every((arg) => wantBoolean(call.evaluate(arg), call))),
  or: form([2, 256], (args, call) => args.some((arg) => wantBoolean(call.evaluate(arg), call))),
  coalesce: form([1, 256], (args, call) => {
    for (const arg of args) {
      const value = call.evaluate(arg);
      if (value !== null) return value;
    }
    return null;
  }),
  fail: func(1, ([message], call) => {
    throw new TemplateError(wantText(message, call).slice(0, 1000));
  }),
  not: func(1, ([value], call) => !wantBoolean(value, call)),
  true: func(0, () => true),
  false: func(0, () => false),
  null: func(0, () => null),
  bool: func(1, ([value], call) => toBoolean(value ?? null, call)),
  equals: func(2, ([a, b], call) => equal(a ?? null, b ?? null, call.budget)),
  less: comparison((order) => order < 0),
  lessorequals: comparison((order) => order <= 0),
  greater: comparison((order) => order > 0),
  greaterorequals: comparison((order) => order >= 0),
};

function toBoolean(value: Json, call: Call): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (typeof value === 'string') {
    const folded = value.toLowerCase();
    if (folded === 'true' || folded === '1') return true;
    if (folded === 'false' || folded === '0') return false;
  }
  throw new TemplateError(
    `The template language function '${call.name}' cannot convert the provided value to a boolean`,
  );
}

function comparison(holds: (order: number) => boolean) {
  return func(2, ([a, b], call) => {
    if (typeof a === 'number' && typeof b === 'number') return holds(a - b);
    if (typeof a === 'string' && typeof b === 'string') return holds(a < b ? -1 : a > b ? 1 : 0);
    throw new TemplateError(
      `The template language function '${call.name}' expects two parameters of the same type, integers or strings. The provided values are of types '${typeName(a ?? null)}' and '${typeName(b ?? null)}'`,
    );
  });
}
