// The rules of one schema, compiled once for all clusters that have it.
import type { Schema, ValidationRule } from '../schema/schema.ts';
import {
  type CheckedExpression,
  CompileError,
  checkExpression,
  compileExpression,
  type Program,
} from './expression.ts';
import { schemaType } from './schema-types.ts';
import { optionalOf } from './types.ts';

export interface RuleProgram {
  readonly rule: ValidationRule;
  readonly program: Program;
  readonly message: Program | undefined;
  /** Whether it compares with what was there. */
  readonly transition: boolean;
}

const variablesOf = (schema: Schema, { optionalOldSelf }: ValidationRule, root: boolean) => {
  const { type } = schemaType(schema, root);
  return { self: type, oldSelf: optionalOldSelf ? optionalOf(type) : type };
};

/** Compiles an expression of a rule: its condition, or what says why it failed. Throws CompileError. */
export const checkRuleExpression = (
  source: string,
  schema: Schema,
  rule: ValidationRule,
  root: boolean,
): CheckedExpression => checkExpression(source, { variables: variablesOf(schema, rule, root) });

const compiled = new WeakMap<Schema, readonly RuleProgram[]>();

/** The rules that stand at a schema itself. Those that cannot be compiled were refused with their definition. */
export function rulesOf(schema: Schema, root: boolean): readonly RuleProgram[] {
  let programs = compiled.get(schema);
  if (!programs) {
    programs = (schema['x-kubernetes-validations'] ?? []).flatMap((rule) => programOf(schema, rule, root));
    compiled.set(schema, programs);
  }
  return programs;
}

function programOf(schema: Schema, rule: ValidationRule, root: boolean): RuleProgram[] {
  try {
    const variables = variablesOf(schema, rule, root);
    const program = compileExpression(rule.rule, { variables });
    const message = rule.messageExpression ? compileExpression(rule.messageExpression, { variables }) : undefined;
    return [{ rule, program, message, transition: program.uses.has('oldSelf') }];
  } catch (error) {
    if (error instanceof CompileError) return [];
    throw error;
  }
}
