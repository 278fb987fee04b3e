// The rules that a schema declares, checked when its definition is made.
import { simplePath } from '../crd/json-path.ts';
import { invalidValue, notSupported, required } from '../schema/field-errors.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import { CompileError } from './expression.ts';
import { compileMessage, compileRule } from './rule-program.ts';
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

/** Checks all rules of a schema and below. `uncorrelatable`: the path of the list whose items cannot be told apart. */
export function validateRuleDeclarations(schema: Schema, path: string): FieldError[] {
  return check(schema, path, true, undefined);
}

function check(schema: Schema, path: string, root: boolean, uncorrelatable: string | undefined): FieldError[] {
  const errors = (schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) =>
    checkRule(schema, rule, `${path}.x-kubernetes-validations[${index}]`, root, uncorrelatable),
  );
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    errors.push(...check(child, `${path}.properties[${name}]`, false, uncorrelatable));
  }
  if (typeof schema.additionalProperties === 'object') {
    errors.push(...check(schema.additionalProperties, `${path}.additionalProperties`, false, uncorrelatable));
  }
  if (schema.items) {
    const told = schema['x-kubernetes-list-type'] === 'map';
    errors.push(...check(schema.items, `${path}.items`, false, told ? uncorrelatable : (uncorrelatable ?? path)));
  }
  return errors;
}

function checkRule(
  schema: Schema,
  rule: ValidationRule,
  path: string,
  root: boolean,
  uncorrelatable: string | undefined,
): FieldError[] {
  if ((rule.rule ?? '').trim() === '') return [required(`${path}.rule`, 'rule is not specified')];
  const errors = [...checkTexts(rule, path), ...checkTarget(schema, rule, path)];
  try {
    const program = compileRule(schema, rule, root);
    if (!is(program.type, 'bool')) {
      errors.push(invalidRule(`${path}.rule`, rule, 'cel expression must evaluate to a bool'));
    }
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
  return [...errors, ...checkMessage(schema, rule, path, root)];
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

function checkMessage(schema: Schema, rule: ValidationRule, path: string, root: boolean): FieldError[] {
  const at = `${path}.messageExpression`;
  if (!rule.messageExpression) return [];
  if (rule.messageExpression.trim() === '') {
    return [required(at, 'messageExpression must be non-empty if specified')];
  }
  try {
    const program = compileMessage(schema, rule, root);
    if (!program || is(program.type, 'string')) return [];
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
