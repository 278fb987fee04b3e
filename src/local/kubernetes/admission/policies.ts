// Admission by policies in CEL: no call to anybody, so it runs within the commit.
import type { AdmissionPlugin, AdmissionRequest } from '../registry/admission.ts';
import { StatusError } from '../status.ts';
import { refused } from './pod.ts';
import {
  bindingStorage,
  bindingsOf,
  type Policy,
  type PolicyBinding,
  policiesOf,
  policyStorage,
  policyType,
  resourcesMatch,
} from './policy-definitions.ts';
import { type Denial, type Judgement, judge } from './policy-evaluation.ts';
import { ConfigurationError, paramsOf } from './policy-params.ts';
import { requestValues } from './request-values.ts';
import { isExempt } from './webhook-configurations.ts';

/** A denial that refuses the request, and who says so. */
interface Refusal {
  readonly policy: Policy;
  readonly binding: PolicyBinding;
  readonly message: string;
  readonly reason: string;
}

export const policyPlugin: AdmissionPlugin = {
  name: 'ValidatingAdmissionPolicy',
  waits: false,
  concerns: (target, { cluster }) =>
    cluster.objects.count(policyStorage) > 0 &&
    cluster.objects.count(bindingStorage) > 0 &&
    !isExempt(target.type) &&
    policiesOf(cluster).some(({ matches }) => policyType(matches, target, cluster) !== undefined),
  validate(request) {
    const refusals = policiesOf(request.context.cluster).flatMap((policy) => refusalsOf(policy, request));
    const [first] = refusals;
    if (first) throw denied(first, request);
  },
};

function refusalsOf(policy: Policy, request: AdmissionRequest): Refusal[] {
  const { cluster } = request.context;
  const type = policyType(policy.matches, request, cluster);
  if (!type || !resourcesMatch(policy.matches, request)) return [];
  const annotations = new Map<string, Set<string>>();
  let values: ReturnType<typeof requestValues> | undefined;
  const refusals: Refusal[] = [];
  for (const binding of bindingsOf(cluster, policy.name)) {
    if (binding.matches && !resourcesMatch(binding.matches, request)) continue;
    const refuse = (message: string, reason = ''): void => {
      refusals.push({ policy, binding, message, reason });
    };
    try {
      for (const params of paramsOf(policy, binding.paramRef, request)) {
        values ??= requestValues(request, type);
        const judgement = judge(policy, values, params);
        for (const denial of judgement.denials) act(denial, policy, binding, request, refuse);
        for (const failure of judgement.failures) refuse(failure);
        collect(judgement, annotations);
      }
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      if (policy.failurePolicy !== 'Ignore') refuse(`failed to configure binding: ${error.message}`);
    }
  }
  for (const [key, said] of annotations) request.context.annotate?.(`${policy.name}/${key}`, [...said].join(', '));
  return refusals;
}

const longestAnnotation = 10 * 1024;

function collect({ annotations }: Judgement, into: Map<string, Set<string>>): void {
  for (const [key, value] of annotations) {
    const said = into.get(key) ?? new Set();
    into.set(key, said.add(value.slice(0, longestAnnotation)));
  }
}

const failureAnnotation = 'validation.policy.admission.k8s.io/validation_failure';

function act(
  { index, message, reason }: Denial,
  policy: Policy,
  binding: PolicyBinding,
  { context }: AdmissionRequest,
  refuse: (message: string, reason: string) => void,
): void {
  const { actions } = binding;
  if (actions.includes('Deny')) refuse(message, reason);
  if (actions.includes('Warn')) {
    context.warn(
      `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
    );
  }
  if (actions.includes('Audit')) {
    const failure = {
      message,
      policy: policy.name,
      binding: binding.name,
      expressionIndex: index,
      validationActions: actions,
    };
    context.annotate?.(failureAnnotation, JSON.stringify([failure]));
  }
}

function denied({ policy, binding, message, reason }: Refusal, request: AdmissionRequest): StatusError {
  const text = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}' denied request: ${message}`;
  const { status } = refused(request, text);
  const wire = reason === '' ? 'Invalid' : reason;
  return new StatusError(codes[wire] ?? 422, wire, status.message ?? text, {
    ...status.details,
    causes: [{ message: text }],
  });
}

const codes: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
};
