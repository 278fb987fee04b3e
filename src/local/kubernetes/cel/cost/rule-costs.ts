// What the rules of a definition may cost: each of them, and all together.
import { forbiddenField } from '../../schema/field-errors.ts';
import type { Schema } from '../../schema/schema.ts';
import type { FieldError } from '../../status.ts';
import type { CheckedExpression } from '../expression.ts';
import { times } from './amounts.ts';
import { declaredBy, occurrences } from './declared-sizes.ts';
import { estimateCost } from './estimate.ts';

const mostPerExpression = 10_000_000;
const mostPerDefinition = 100_000_000;
/** Cheaper rules than this share of all are not named when all together are too dear. */
const leastNamed = mostPerDefinition / 100;
const mostNamed = 4;

/** The schema that an expression stands at. */
export interface RulePlace {
  readonly schema: Schema;
  readonly root: boolean;
  /** How often a value of it can stand in one object; undefined where nothing bounds it. */
  readonly occurrences: number | undefined;
}

/** Adds up the costs of one definition's rules. */
export interface RuleCosts {
  /** Counts a rule as often as it can be run on one object; refuses it where that is too dear. */
  rule(expression: CheckedExpression, place: RulePlace, field: string): FieldError[];
  /** Counts what says why a rule failed. */
  message(expression: CheckedExpression, place: RulePlace, field: string): FieldError[];
  /** What is wrong with all of them together. `field` is that of the schema. */
  total(field: string): FieldError[];
}

/** `dear`: whether an expression may cost more than one may, as those that were taken before. */
export function createRuleCosts(dear = false): RuleCosts {
  let sum = 0;
  let dearest: { readonly field: string; readonly cost: number }[] = [];
  const count = (what: string, cost: number, field: string): FieldError[] => {
    sum += cost;
    if (cost >= leastNamed) {
      dearest = [...dearest, { field, cost }].sort((one, other) => other.cost - one.cost).slice(0, mostNamed);
    }
    return cost > mostPerExpression && !dear ? [exceeding(what, cost, mostPerExpression, field)] : [];
  };
  return {
    rule(expression, { schema, root, occurrences: bound }, field) {
      const declared = declaredFor(schema, root);
      if (!declared) return [];
      const cost = times(estimateCost(expression, declared), bound ?? occurrences(declared));
      return count('estimated rule cost', cost, field);
    },
    message(expression, { schema, root }, field) {
      const declared = declaredFor(schema, root);
      return declared ? count('estimated messageExpression cost', estimateCost(expression, declared), field) : [];
    },
    total(field) {
      if (sum <= mostPerDefinition) return [];
      const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
      const text = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
      return [
        ...dearest.map(({ field: at }) => forbiddenField(at, text)),
        exceeding(what, sum, mostPerDefinition, field),
      ];
    },
  };
}

const declaredFor = (schema: Schema, root: boolean) =>
  declaredBy(schema, root || schema['x-kubernetes-embedded-resource'] === true);

/** How often values within a schema stand in one object, given how often its own do. */
export function occurrencesBelow(schema: Schema, above: number | undefined): number | undefined {
  const { type, additionalProperties, maxProperties, maxItems } = schema;
  const many = type === 'array' || (type === 'object' && additionalProperties !== undefined);
  if (!many || above === undefined) return above;
  const most = type === 'array' ? maxItems : maxProperties;
  return most === undefined ? undefined : times(above, Math.max(0, most));
}

function exceeding(what: string, cost: number, limit: number, field: string): FieldError {
  const advice =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return forbiddenField(field, `${what} exceeds budget by factor of ${factorText(cost / limit)} (${advice})`);
}

function factorText(factor: number): string {
  if (factor > 100) return 'more than 100x';
  if (factor < 1.5) return `${factor.toFixed(6)}x`;
  // A quarter is halfway between tenths, and goes to the even one.
  const shown = factor % 1 === 0.25 ? factor - 0.05 : factor;
  return `${shown.toFixed(1)}x`;
}
