// Arithmetic on 64-bit integers; what is beyond the safe range of numbers here is refused rather than wrong.
import type { Json } from '../../../kernel/record.ts';
import { type Call, type FunctionTable, func } from '../environment.ts';
import { TemplateError } from '../template-error.ts';
import { isArray, typeName, wantInteger } from '../values.ts';

const rangeMax = 10_000;

export const numericFunctions: FunctionTable = {
  add: arithmetic((a, b) => a + b),
  sub: arithmetic((a, b) => a - b),
  mul: arithmetic((a, b) => a * b),
  div: arithmetic((a, b, call) => Math.trunc(a / divisor(b, call))),
  mod: arithmetic((a, b, call) => a % divisor(b, call)),
  min: func([1, 1024], (args, call) => extreme(args, call, (a, b) => a < b)),
  max: func([1, 1024], (args, call) => extreme(args, call, (a, b) => a > b)),
  range: func(2, ([start, count], call) => {
    const from = wantInteger(start, call);
    const length = wantInteger(count, call);
    if (length < 0 || length > rangeMax) {
      throw new TemplateError(
        `The template language function 'range' expects its second parameter to be between '0' and '${rangeMax}'`,
      );
    }
    call.budget.spend(length);
    return Array.from({ length }, (_, index) => safe(from + index, call));
  }),
  int: func(1, ([value], call) => {
    if (typeof value === 'number') return Math.trunc(value);
    if (typeof value === 'string' && /^\s*[-+]?[0-9]{1,19}\s*$/.test(value)) return safe(Number(value), call);
    throw new TemplateError(
      `The template language function 'int' cannot convert the provided value of type '${typeName(value ?? null)}' to an integer`,
    );
  }),
  float: func(1, ([value]) => {
    if (typeof value === 'number') return value;
    if (
      typeof value === 'string' &&
      /^\s*[-+]?[0-9]{1,300}(?:\.[0-9]{1,300})?(?:[eE][-+]?[0-9]{1,3})?\s*$/.test(value)
    ) {
      const number = Number(value);
      if (Number.isFinite(number)) return number;
    }
    throw new TemplateError(
      `The template language function 'float' cannot convert the provided value of type '${typeName(value ?? null)}' to a number`,
    );
  }),
};

function arithmetic(run: (a: number, b: number, call: Call) => number) {
  return func(2, ([a, b], call) => safe(run(wantInteger(a, call), wantInteger(b, call), call), call));
}

function divisor(value: number, call: Call): number {
  if (value === 0) throw new TemplateError(`The template language function '${call.name}' cannot divide by zero`);
  return value;
}

function safe(value: number, call: Call): number {
  if (!Number.isSafeInteger(value))
    throw new TemplateError(`The result of the template language function '${call.name}' is too large`);
  return value === 0 ? 0 : value;
}

function extreme(args: readonly Json[], call: Call, better: (a: number, b: number) => boolean): number {
  const first = args[0];
  const values = args.length === 1 && isArray(first) ? first : args;
  call.budget.spend(values.length);
  let best: number | undefined;
  for (const value of values) {
    const number = wantInteger(value, call);
    if (best === undefined || better(number, best)) best = number;
  }
  if (best === undefined)
    throw new TemplateError(`The template language function '${call.name}' expects at least one value`);
  return best;
}
