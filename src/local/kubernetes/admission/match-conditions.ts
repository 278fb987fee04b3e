// Conditions in CEL on whether a webhook or a policy looks at a request at all.
import { errorList } from '../access/rbac.ts';
import type { AdmissionRequest } from '../registry/admission.ts';
import { forbidden } from '../status.ts';
import { EvaluationError, type Evaluator, type Expression, evaluatorOf, expressionOf } from './expressions.ts';
import { requestValues } from './request-values.ts';
import type { MatchCondition, Webhook } from './webhook-configurations.ts';

/** What the conditions of one webhook or policy may cost together on one request. */
export const costOfConditions = 2_500_000;

/**
 * Whether all conditions hold. One that does not hold decides alone; otherwise, where some cannot be evaluated, throws
 * EvaluationError that tells of all of them.
 */
export function conditionsHold(conditions: readonly Expression[], evaluator: Evaluator): boolean {
  const failed: string[] = [];
  for (const condition of conditions) {
    try {
      if (evaluator.evaluate(condition) === false) return false;
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
      failed.push(error.message);
    }
  }
  if (failed.length > 0) throw new EvaluationError(errorList(failed));
  return true;
}

const compiled = new WeakMap<readonly MatchCondition[], readonly Expression[]>();

/** The conditions of a webhook, compiled once. */
export function webhookConditions(conditions: readonly MatchCondition[]): readonly Expression[] {
  let found = compiled.get(conditions);
  if (!found) {
    found = conditions.map(({ expression }) => expressionOf(expression, { params: false, authorizer: true }, ['bool']));
    compiled.set(conditions, found);
  }
  return found;
}

/**
 * Whether a webhook's conditions let a request reach it. Where they cannot be evaluated it is passed over (Ignore), or the
 * request is refused with StatusError 403 (Fail).
 */
export function reachesWebhook(webhook: Webhook, request: AdmissionRequest): boolean {
  const { matchConditions = [], failurePolicy = 'Fail' } = webhook;
  if (matchConditions.length === 0) return true;
  try {
    return conditionsHold(webhookConditions(matchConditions), evaluatorOf(requestValues(request), costOfConditions));
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    if (failurePolicy === 'Ignore') return false;
    const { type, name } = request;
    throw forbidden({ group: type.group, resource: type.plural }, name.name, error.message);
  }
}
