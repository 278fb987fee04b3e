// The rules that a schema declares, checked when its definition is made.
import { simplePath } from '../crd/json-path.ts';
import { invalidValue, notSupported, required } from '../schema/field-errors.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import { createRuleCosts, occurrencesBelow, type RuleCosts } from './cost/rule-costs.ts';
import { CompileError } from './expression.ts';
import { checkRuleExpression } from './rule-program.ts';
import type { CelType } from './types.ts';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** A rule as the server shows it. Its JSON has what could end a script escaped. */
function shownRule(rule: ValidationRule): unknown {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}

const escapedForHtml: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };

function invalidRule(field: string, rule: ValidationRule, detail: string): FieldError {
  const json = JSON.stringify(shownRule(rule)).replace(/[<>&]/g, (character) => escapedForHtml[character] ?? character);
  return { type: 'FieldValueInvalid', field, message: `Invalid value: ${json}: ${detail}` };
}

/** Where in the schema of a definition a rule stands. */
interface Place {
  readonly schema: Schema;
  readonly path: string;
  readonly root: boolean;
  /** The path of the list whose items cannot be told apart. */
  readonly uncorrelatable: string | undefined;
  /** How often a value of the schema can stand in one object; undefined where nothing bounds it. */
  readonly occurrences: number | undefined;
  /** Of all rules of the definition. */
  readonly costs: RuleCosts;
}

/** Checks all rules of a schema and below. `dear`: whether one may cost more than a new one may. */
export function validateRuleDeclarations(schema: Schema, path: string, dear: boolean): FieldError[] {
  const costs = createRuleCosts(dear);
  const errors = check({ schema, path, root: true, uncorrelatable: undefined, occurrences: 1, costs });
  return [...errors, ...costs.total(path)];
}

function check(place: Place): FieldError[] {
  const { schema, path, uncorrelatable } = place;
  const errors = (schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) =>
    checkRule(place, rule, `${path}.x-kubernetes-validations[${index}]`),
  );
  const below = { ...place, root: false, occurrences: occurrencesBelow(schema, place.occurrences) };
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    errors.push(...check({ ...below, schema: child, path: `${path}.properties[${name}]` }));
  }
  if (typeof schema.additionalProperties === 'object') {
    errors.push(...check({ ...below, schema: schema.additionalProperties, path: `${path}.additionalProperties` }));
  }
  if (schema.items) {
    const told = schema['x-kubernetes-list-type'] === 'map';
    errors.push(
      ...check({
        ...below,
        schema: schema.items,
        path: `${path}.items`,
        uncorrelatable: told ? uncorrelatable : (uncorrelatable ?? path),
      }),
    );
  }
  return errors;
}

function checkRule(place: Place, rule: ValidationRule, path: string): FieldError[] {
  const { schema, root, uncorrelatable } = place;
  if ((rule.rule ?? '').trim() === '') return [required(`${path}.rule`, 'rule is not specified')];
  const errors = [...checkTexts(rule, path), ...checkTarget(schema, rule, path)];
  try {
    const checked = checkRuleExpression(rule.rule, schema, rule, root);
    const { program } = checked;
    if (!is(program.type, 'bool')) {
      errors.push(invalidRule(`${path}.rule`, rule, 'cel expression must evaluate to a bool'));
    } else errors.push(...place.costs.rule(checked, place, `${path}.rule`));
    const transition = program.uses.has('oldSelf');
    if (transition && uncorrelatable !== undefined) {
      errors.push(
        invalidValue(
          `${path}.rule`,
          rule.rule,
          `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`,
        ),
      );
    }
    if (!transition && rule.optionalOldSelf !== undefined) {
      errors.push(
        invalidValue(`${path}.optionalOldSelf`, rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'),
      );
    }
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    errors.push(invalidRule(`${path}.rule`, rule, `compilation failed: ${error.message}`));
  }
  return [...errors, ...checkMessage(place, rule, path)];
}

const is = ({ kind }: CelType, wanted: CelType['kind']): boolean => kind === wanted || kind === 'dyn';

function checkTexts({ rule, message, reason }: ValidationRule, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (message !== undefined && message !== '') {
    if (message.trim() === '') {
      errors.push(invalidValue(`${path}.message`, message, 'message must be non-empty if specified'));
    } else if (/[\r\n]/.test(message)) {
      errors.push(invalidValue(`${path}.message`, message, 'must not contain line breaks'));
    }
  } else if (/[\r\n]/.test(rule.trim())) {
    errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(`${path}.reason`, reason, reasons));
  return errors;
}

function checkMessage(place: Place, rule: ValidationRule, path: string): FieldError[] {
  const at = `${path}.messageExpression`;
  if (!rule.messageExpression) return [];
  if (rule.messageExpression.trim() === '') {
    return [required(at, 'messageExpression must be non-empty if specified')];
  }
  try {
    const checked = checkRuleExpression(rule.messageExpression, place.schema, rule, place.root);
    if (is(checked.program.type, 'string')) return place.costs.message(checked, place, at);
    return [invalidRule(at, rule, 'messageExpression must evaluate to a string')];
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    return [invalidRule(at, rule, `messageExpression compilation failed: ${error.message}`)];
  }
}

/** The path that a rule points at leads to a field of the schema. */
function checkTarget(schema: Schema, rule: ValidationRule, path: string): FieldError[] {
  const { fieldPath } = rule;
  if (!fieldPath) return [];
  let found: Schema | undefined = schema;
  for (const name of simplePath(fieldPath) ?? ['']) {
    const next: Schema | undefined = found?.properties?.[name];
    const rest: Schema | boolean | undefined = found?.additionalProperties;
    found = next ?? (typeof rest === 'object' ? rest : undefined);
  }
  return found ? [] : [invalidValue(`${path}.fieldPath`, fieldPath, 'must be a valid path')];
}
