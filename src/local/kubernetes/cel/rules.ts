// The rules of a custom resource's schema, checked on its objects.
import { correlatedItems } from '../crd/correlate.ts';
import { simplePath } from '../crd/json-path.ts';
import { memberSchema } from '../crd/prune.ts';
import type { JsonValue } from '../object.ts';
import { equalJson } from '../patch/json-tree.ts';
import { isObject } from '../schema/decode.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import { type Budget, costOfExpression, costOfObject, createBudget } from './budget.ts';
import { evaluate } from './expression.ts';
import { type RuleProgram, rulesOf } from './rule-program.ts';
import { schemaType } from './schema-types.ts';
import { type Outcome, TurnOver, type Turns, turnsOf } from './turns.ts';
import { CelError, type CelValue, CostError, Optional } from './values.ts';

const ruled = new WeakMap<Schema, boolean>();

/** Whether there is a rule at a schema or below it. */
export function hasRules(schema: Schema): boolean {
  let known = ruled.get(schema);
  if (known === undefined) {
    const { properties, items, additionalProperties } = schema;
    known =
      (schema['x-kubernetes-validations']?.length ?? 0) > 0 ||
      Object.values(properties ?? {}).some(hasRules) ||
      (items !== undefined && hasRules(items)) ||
      (typeof additionalProperties === 'object' && hasRules(additionalProperties));
    ruled.set(schema, known);
  }
  return known;
}

interface Checking {
  readonly errors: FieldError[];
  /** What is left for the rules of the whole object. */
  left: number;
  readonly turns: Turns | undefined;
}

/**
 * The checks of an object's rules, to be run once nothing else is wrong with it; undefined where the schema has none. `old` is the
 * object as it was: what has not changed since may stay as it is.
 */
export function validateRules(
  schema: Schema,
  value: JsonValue,
  old: JsonValue | undefined,
): (() => FieldError[]) | undefined {
  if (!hasRules(schema)) return undefined;
  return () => {
    const checking: Checking = { errors: [], left: costOfObject, turns: turnsOf(value, old) };
    walk(checking, schema, value, old, '', true);
    return checking.errors;
  };
}

function walk(
  checking: Checking,
  schema: Schema,
  value: JsonValue,
  old: JsonValue | undefined,
  path: string,
  root = false,
): void {
  if (checking.left <= 0 || !hasRules(schema)) return;
  checkRules(checking, schema, value, old, path, root);
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items || !hasRules(items)) return;
    const before = correlatedItems(schema, old);
    value.forEach((item, index) => {
      walk(checking, items, item, before(item), `${path}[${index}]`);
    });
    return;
  }
  if (!isObject(value)) return;
  const previous = isObject(old) ? old : {};
  for (const [member, content] of Object.entries(value)) {
    const child = memberSchema(schema, member);
    if (child === undefined || child === true) continue;
    const was = Object.hasOwn(previous, member) ? previous[member] : undefined;
    const isField = schema.properties !== undefined && Object.hasOwn(schema.properties, member);
    walk(checking, child, content, was, isField ? (path === '' ? member : `${path}.${member}`) : `${path}[${member}]`);
  }
}

function checkRules(
  checking: Checking,
  schema: Schema,
  value: JsonValue,
  old: JsonValue | undefined,
  path: string,
  root: boolean,
): void {
  const rules = rulesOf(schema, root);
  if (rules.length === 0 || value === null) return;
  const unchanged = old !== undefined && equalJson(value, old);
  const { read } = schemaType(schema, root);
  let self: CelValue | undefined;
  let oldSelf: CelValue | undefined;
  for (const each of rules) {
    const { rule, transition } = each;
    if (unchanged && !transition) continue;
    if (transition && old === undefined && !rule.optionalOldSelf) continue;
    if (checking.left <= 0) return;
    try {
      self ??= read(value);
      if (transition && old !== undefined) oldSelf ??= read(old);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      checking.errors.push(failure(schema, rule, path, `${error.message} evaluating rule: ${rule.rule.trim()}`));
      continue;
    }
    const before = rule.optionalOldSelf ? new Optional(oldSelf) : oldSelf;
    checkRule(checking, schema, each, path, { self, ...(before === undefined ? {} : { oldSelf: before }) });
  }
}

function checkRule(
  checking: Checking,
  schema: Schema,
  each: RuleProgram,
  path: string,
  variables: Readonly<Record<string, CelValue>>,
): void {
  const { turns } = checking;
  let outcome = turns?.replay();
  if (!outcome) {
    const most = Math.min(costOfExpression, checking.left);
    const allowed = turns?.allowance(most) ?? most;
    outcome = outcomeOf(schema, each, path, variables, createBudget(allowed));
    if (allowed < most && outcome.cost > allowed) throw new TurnOver();
    turns?.record(outcome);
  }
  checking.errors.push(...outcome.errors);
  checking.left -= outcome.cost;
  if (checking.left <= 0) {
    const text = 'validation failed due to running out of cost budget, no further validation rules will be run';
    checking.errors.push(failure(schema, { rule: each.rule.rule }, path, text));
  }
}

function outcomeOf(
  schema: Schema,
  each: RuleProgram,
  path: string,
  variables: Readonly<Record<string, CelValue>>,
  budget: Budget,
): Outcome {
  const { rule, program } = each;
  const errors: FieldError[] = [];
  try {
    if (evaluate(program, variables, budget) !== true) {
      errors.push(failure(schema, rule, fieldOf(path, rule), messageOf(each, variables, budget)));
    }
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    errors.push(failure(schema, { rule: rule.rule }, path, runtimeText(error, rule)));
  }
  return { errors, cost: budget.spent };
}

function runtimeText(error: CelError, rule: ValidationRule): string {
  const text = rule.rule.trim();
  if (error.message.startsWith('no such overload')) {
    return `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${text}`;
  }
  if (error instanceof CostError) {
    return `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${text}`;
  }
  return `${error.message} evaluating rule: ${text}`;
}

/** What a rule says when it fails: what it computes, what it has, or itself. */
function messageOf(
  { rule, message }: RuleProgram,
  variables: Readonly<Record<string, CelValue>>,
  budget: Budget,
): string {
  const plain = rule.message?.trim() || `failed rule: ${rule.rule.trim()}`;
  if (!message) return plain;
  try {
    const made = evaluate(message, variables, budget);
    return typeof made === 'string' && made.trim() !== '' && !made.includes('\n') ? made.trim() : plain;
  } catch (error) {
    if (error instanceof CelError) return plain;
    throw error;
  }
}

const pathForm = /\.([^.['"\]]+)|\['([^']*)'\]|\["([^"]*)"\]/g;

/** The field that a rule points at from where it stands. */
function fieldOf(path: string, { fieldPath }: ValidationRule): string {
  if (!fieldPath) return path;
  const names = simplePath(fieldPath) ?? [...fieldPath.matchAll(pathForm)].map(([, a, b, c]) => a ?? b ?? c ?? '');
  return names.reduce((text, name) => (text === '' ? name : `${text}.${name}`), path);
}

const prefixes: Readonly<Record<string, (type: string) => string>> = {
  FieldValueForbidden: () => 'Forbidden',
  FieldValueRequired: () => 'Required value',
  FieldValueDuplicate: (type) => `Duplicate value: ${JSON.stringify(type)}`,
};

function failure(schema: Schema, rule: ValidationRule, path: string, text: string): FieldError {
  const type = rule.reason && Object.hasOwn(prefixes, rule.reason) ? rule.reason : 'FieldValueInvalid';
  const shown = schema['x-kubernetes-int-or-string'] ? '' : (schema.type ?? '');
  const prefix = prefixes[type]?.(shown) ?? `Invalid value: ${JSON.stringify(shown)}`;
  return { type, field: path === '' ? '<nil>' : path, message: `${prefix}: ${text}` };
}
