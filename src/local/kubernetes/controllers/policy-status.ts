// Tells of admission policies what in them does not fit the types that they are for.
import { typeWarnings } from '../admission/type-checking.ts';
import { type Controller, itself } from './controller.ts';
import { admissionPolicies } from './kinds.ts';

export const policyStatusController: Controller = {
  name: 'validatingadmissionpolicy-status-controller',
  triggers: { [admissionPolicies.type.storage]: itself },
  async reconcile(hands, { name }) {
    const policy = hands.get(admissionPolicies, '', name);
    const generation = policy?.metadata.generation;
    if (!policy || generation === undefined || policy.status?.observedGeneration === generation) return undefined;
    const expressionWarnings = typeWarnings(policy.spec, hands.cluster.types);
    await hands.setStatus(admissionPolicies, policy, {
      ...policy.status,
      observedGeneration: generation,
      typeChecking: expressionWarnings.length > 0 ? { expressionWarnings } : {},
    });
    return undefined;
  },
};
