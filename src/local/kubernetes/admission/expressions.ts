// CEL as admission uses it: compiled once per policy, evaluated on a request.
import { Environment } from '@marcbachmann/cel-js';
import { forbidden } from '../status.ts';
import { reviewRequest } from './admission-review.ts';
import type { ConditionChecker } from './match-conditions.ts';

/** Throws an Error that says what went wrong, as in `no such key: x`. */
export type Expression = (bindings: Readonly<Record<string, unknown>>) => unknown;

/** Throws for text that is not CEL. */
export type CompileExpression = (text: string) => Expression;

let plain: Environment | undefined;

/** CEL with its own functions only. */
export const compilePlain: CompileExpression = (text) => {
  plain ??= new Environment({ unlistedVariablesAreDyn: true, enableOptionalTypes: true });
  const evaluate = plain.parse(text);
  return (bindings) => {
    try {
      return evaluate({ ...bindings });
    } catch (error) {
      throw new Error(reasonOf(error));
    }
  };
};

/** The first line, as the server words it: the rest shows where in the text. */
function reasonOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line.replace(/^No such key/, 'no such key');
}

/** JSON as CEL sees an object without a schema: whole numbers are integers. */
export function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, celValue(member)]])),
  );
}

/** Match conditions of webhooks. */
export function conditionChecker(compile: CompileExpression): ConditionChecker {
  return (conditions, failurePolicy, request) => {
    const review = reviewRequest(request);
    const { object, oldObject, ...rest } = review;
    const bindings = { object: celValue(object), oldObject: celValue(oldObject), request: celValue(rest) };
    const failed: string[] = [];
    for (const { name, expression } of conditions) {
      try {
        if (compile(expression)(bindings) !== true) return false;
      } catch (error) {
        failed.push(`${name}: ${error instanceof Error ? error.message : ''}`);
      }
    }
    if (failed.length === 0) return true;
    if (failurePolicy === 'Ignore') return false;
    const { type, name } = request;
    throw forbidden(
      { group: type.group, resource: type.plural },
      name.name,
      `match conditions could not be evaluated: ${failed.join(', ')}`,
    );
  };
}
