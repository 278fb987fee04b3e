// Who is asked before a change is admitted.
import { declare, status } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'admissionregistration.k8s.io';

export const admissionRegistrationTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'MutatingWebhookConfiguration',
    plural: 'mutatingwebhookconfigurations',
    categories: ['api-extensions'],
    namespaced: false,
  }),
  declare(group, {
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    categories: ['api-extensions'],
    namespaced: false,
    subresources: { status },
  }),
  declare(group, {
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    categories: ['api-extensions'],
    namespaced: false,
  }),
  declare(group, {
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
    categories: ['api-extensions'],
    namespaced: false,
  }),
];
