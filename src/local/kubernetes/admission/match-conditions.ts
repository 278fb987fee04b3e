// Conditions in CEL on whether a webhook or a policy looks at a request at all.
import type { AdmissionRequest } from '../registry/admission.ts';
import type { MatchCondition } from './webhook-configurations.ts';

/**
 * Whether all conditions hold. One that cannot be evaluated passes the request over where `failurePolicy` is Ignore, and
 * refuses it (StatusError) where it is Fail; one that does not hold decides alone.
 */
export type ConditionChecker = (
  conditions: readonly MatchCondition[],
  failurePolicy: string,
  request: AdmissionRequest,
) => boolean;
