// Questions about what somebody may do.
import { createOnly, declare } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'authorization.k8s.io';

export const authorizationTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'LocalSubjectAccessReview',
    plural: 'localsubjectaccessreviews',
    namespaced: true,
    verbs: createOnly,
  }),
  declare(group, {
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    namespaced: false,
    verbs: createOnly,
  }),
  declare(group, {
    kind: 'SelfSubjectRulesReview',
    plural: 'selfsubjectrulesreviews',
    namespaced: false,
    verbs: createOnly,
  }),
  declare(group, { kind: 'SubjectAccessReview', plural: 'subjectaccessreviews', namespaced: false, verbs: createOnly }),
];
