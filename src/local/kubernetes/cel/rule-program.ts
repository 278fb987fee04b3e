// The rules of one schema, compiled once for all clusters that have it.
import type { Schema, ValidationRule } from '../schema/schema.ts';
import { CompileError, compileExpression, type Program } from './expression.ts';
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

/** Compiles the condition of a rule. Throws CompileError. */
export const compileRule = (schema: Schema, rule: ValidationRule, root: boolean): Program =>
  compileExpression(rule.rule, { variables: variablesOf(schema, rule, root) });

/** Compiles what says why a rule failed. Throws CompileError. */
export const compileMessage = (schema: Schema, rule: ValidationRule, root: boolean): Program | undefined =>
  rule.messageExpression
    ? compileExpression(rule.messageExpression, { variables: variablesOf(schema, rule, root) })
    : undefined;

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
    const program = compileRule(schema, rule, root);
    const message = compileMessage(schema, rule, root);
    return [{ rule, program, message, transition: program.uses.has('oldSelf') }];
  } catch (error) {
    if (error instanceof CompileError) return [];
    throw error;
  }
}
