// Conditions that a work asks for by rules, of each manifest and of the work as a whole.
import type { Condition, NewCondition } from '../kube/conditions.ts';
import type { UntypedObject } from '../kube/object.ts';
import { type CelObject, celObject, evaluateCel } from './cel.ts';
import { type ConditionRule, completeCondition, type ManifestStatus } from './work.ts';

/** What `WellKnownConditions` means, by apiVersion and kind. */
const wellKnown: Readonly<Record<string, ConditionRule>> = {
  'batch/v1 Job': {
    condition: completeCondition,
    celExpressions: [
      `has(object.status) && hasConditions(object.status) && object.status.conditions.exists(c, (c.type == 'Complete' || c.type == 'Failed') && c.status == 'True')`,
    ],
    messageExpression: `result ? 'Job is finished' : 'Job is not finished'`,
  },
  'v1 Pod': {
    condition: completeCondition,
    celExpressions: [
      `has(object.status) && has(object.status.phase) && object.status.phase in ['Succeeded', 'Failed']`,
    ],
    messageExpression: `has(object.status) && has(object.status.phase) ? 'Pod is in phase ' + object.status.phase : 'Pod has no phase'`,
  },
};

const ruleReasons = /^ConditionRule/;
const typeForm = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,314}[A-Za-z0-9])?$/;

/** The conditions of one object by the rules of its manifest. A rule that cannot be evaluated gives a condition that says why. */
export function evaluateRules(
  object: UntypedObject,
  rules: readonly ConditionRule[] = [],
  generation: number,
): readonly NewCondition[] {
  if (rules.length === 0) return [];
  const seen = celObject(object);
  return rules
    .filter(({ condition }) => typeForm.test(condition ?? ''))
    .map((rule) => ({ ...evaluate(object, seen, rule), observedGeneration: generation }));
}

function evaluate(object: UntypedObject, seen: CelObject, rule: ConditionRule): NewCondition {
  const type = rule.condition ?? '';
  const kind = `${object.apiVersion ?? ''} ${object.kind ?? ''}`;
  const invalid = (message: string): NewCondition => ({
    type,
    status: 'Unknown',
    reason: 'ConditionRuleInvalid',
    message,
  });
  if (rule.type === 'WellKnownConditions') {
    const known = wellKnown[kind];
    if (!known || type !== completeCondition) {
      return invalid(`cannot find the wellknown conditions for resource with gvk ${kind}`);
    }
    return byExpressions(seen, { ...known, ...rule, celExpressions: known.celExpressions ?? [] });
  }
  if (rule.type === 'CEL') {
    if (!rule.celExpressions?.length) return invalid('the rule has no celExpressions');
    return byExpressions(seen, rule);
  }
  return invalid(`unrecognized condition rule type ${rule.type ?? ''}`);
}

/** True where every expression is. */
function byExpressions(seen: CelObject, rule: ConditionRule): NewCondition {
  const type = rule.condition ?? '';
  const failed = (error: unknown): NewCondition => ({
    type,
    status: 'False',
    reason: 'ConditionRuleExpressionError',
    message: error instanceof Error ? error.message : String(error),
  });
  let holds = true;
  try {
    for (const expression of rule.celExpressions ?? []) {
      const value = evaluateCel(expression, seen);
      if (typeof value !== 'boolean') return failed(`expected bool result, got ${typeof value}`);
      if (!value) {
        holds = false;
        break;
      }
    }
  } catch (error) {
    return failed(error);
  }
  return {
    type,
    status: holds ? 'True' : 'False',
    reason: 'ConditionRuleEvaluated',
    message: messageOf(seen, rule, holds),
  };
}

function messageOf(seen: CelObject, rule: ConditionRule, holds: boolean): string {
  if (rule.messageExpression) {
    try {
      const text = evaluateCel(rule.messageExpression, seen, holds);
      if (typeof text !== 'string') return 'expected message expression to have a string result';
      if (text !== '') return text;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  if (rule.message) return rule.message;
  return `Manifest is ${holds ? '' : 'not '}${rule.condition ?? ''}`;
}

export function isFromRule(condition: Condition): boolean {
  return ruleReasons.test(condition.reason);
}

/** The work's conditions that follow from those that rules gave its manifests: true where all are. */
export function aggregateRules(manifests: readonly ManifestStatus[], generation: number): readonly NewCondition[] {
  const byType = new Map<string, Condition[]>();
  for (const { conditions } of manifests) {
    for (const condition of conditions.filter(isFromRule)) {
      byType.set(condition.type, [...(byType.get(condition.type) ?? []), condition]);
    }
  }
  return [...byType].map(([type, conditions]) => {
    const count = (status: Condition['status']): number => conditions.filter((each) => each.status === status).length;
    const status = count('False') > 0 ? 'False' : count('Unknown') > 0 ? 'Unknown' : 'True';
    return {
      type,
      status,
      reason: 'ConditionRulesAggregated',
      message: `${count('True')} of ${conditions.length} manifests are ${type}`,
      observedGeneration: generation,
    };
  });
}
