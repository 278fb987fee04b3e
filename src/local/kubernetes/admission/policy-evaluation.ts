// One policy judged on one request with one set of parameters.
import { costOfObject, createBudget } from '../cel/budget.ts';
import { evaluate } from '../cel/expression.ts';
import { readAny } from '../cel/json-values.ts';
import { CelError, type CelValue, type Mapping } from '../cel/values.ts';
import type { JsonObject } from '../object.ts';
import { EvaluationError, type Evaluator, evaluatorOf, OutOfBudgetError } from './expressions.ts';
import { conditionsHold, costOfConditions } from './match-conditions.ts';
import type { Policy, Validation } from './policy-definitions.ts';

export interface Denial {
  /** Which of the policy's validations, counted from 0. */
  readonly index: number;
  readonly message: string;
  /** Empty where the policy gives none. */
  readonly reason: string;
}

export interface Judgement {
  /** What the binding's actions are for. */
  readonly denials: readonly Denial[];
  /** What refuses the request whatever the actions. */
  readonly failures: readonly string[];
  /** For the audit log, by key. */
  readonly annotations: readonly (readonly [key: string, value: string])[];
}

const nothing: Judgement = { denials: [], failures: [], annotations: [] };
const longestMessage = 5 * 1024;

/** `values` are those of the request. */
export function judge(
  policy: Policy,
  values: Readonly<Record<string, CelValue>>,
  params: JsonObject | null,
): Judgement {
  const known: Record<string, CelValue> = { ...values, params: readAny(params) };
  const conditions = evaluatorOf(known, costOfConditions);
  known.variables = variablesOf(policy, conditions, known);
  try {
    if (
      !conditionsHold(
        policy.conditions.map(({ expression }) => expression),
        conditions,
      )
    )
      return nothing;
    const evaluator = evaluatorOf(known, costOfObject);
    known.variables = variablesOf(policy, evaluator, known);
    const denials = policy.validations.flatMap((each, index) => denialOf(policy, each, index, evaluator));
    return { denials, ...annotationsOf(policy, evaluator) };
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    return { ...nothing, denials: failed(policy, 0, error.message) };
  }
}

const failed = ({ failurePolicy }: Policy, index: number, message: string): Denial[] =>
  failurePolicy === 'Ignore' ? [] : [{ index, message, reason: '' }];

function denialOf(policy: Policy, validation: Validation, index: number, evaluator: Evaluator): Denial[] {
  const { expression, reason } = validation;
  try {
    if (evaluator.evaluate(expression) === true) return [];
  } catch (error) {
    if (!(error instanceof EvaluationError) || error instanceof OutOfBudgetError) throw error;
    return failed(policy, index, error.message);
  }
  return [{ index, message: messageOf(validation, evaluator), reason }];
}

function messageOf({ expression, message, messageExpression }: Validation, evaluator: Evaluator): string {
  const said = messageExpression ? attempt(() => evaluator.evaluate(messageExpression)) : undefined;
  const made = typeof said === 'string' ? said.trim() : '';
  if (made !== '' && made.length <= longestMessage && !made.includes('\n')) return made;
  return message.trim() || `failed expression: ${expression.text.trim()}`;
}

/** A message that cannot be made gives way to the one that is written down. */
function attempt(work: () => CelValue): CelValue | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof EvaluationError) return undefined;
    throw error;
  }
}

function annotationsOf(policy: Policy, evaluator: Evaluator): Pick<Judgement, 'failures' | 'annotations'> {
  const failures: string[] = [];
  const annotations: (readonly [string, string])[] = [];
  for (const { name, expression } of policy.annotations) {
    try {
      const value = evaluator.evaluate(expression);
      if (typeof value === 'string' && value.trim() !== '') annotations.push([name, value.trim()]);
    } catch (error) {
      if (!(error instanceof EvaluationError) || error instanceof OutOfBudgetError) throw error;
      if (policy.failurePolicy !== 'Ignore') failures.push(error.message);
    }
  }
  return { failures, annotations };
}

/** A policy's variables, worked out when first asked for, and once. `known` gets them, so that they can name each other. */
function variablesOf({ variables }: Policy, { charge }: Evaluator, known: Readonly<Record<string, CelValue>>): Mapping {
  const byName = new Map(variables.map(({ name, expression }) => [name, expression]));
  const made = new Map<string, CelValue | CelError>();
  const work = (name: string): CelValue | CelError => {
    const expression = byName.get(name);
    if (!expression?.program) {
      return new CelError(`composited variable ${JSON.stringify(name)} fails to compile: ${expression?.problem ?? ''}`);
    }
    const budget = createBudget();
    try {
      return evaluate(expression.program, known, budget);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      return new CelError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${error.message}`);
    } finally {
      charge(budget.spent);
    }
  };
  return {
    isMapping: true,
    objectType: 'kubernetes.variables',
    size: byName.size,
    keys: () => [...byName.keys()],
    get(key) {
      if (typeof key !== 'string' || !byName.has(key)) return undefined;
      let value = made.get(key);
      if (value === undefined) {
        value = work(key);
        made.set(key, value);
      }
      if (value instanceof CelError) throw value;
      return value;
    },
  };
}
