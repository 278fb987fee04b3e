// Questions about who somebody is.
import { createOnly, declare } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'authentication.k8s.io';

export const authenticationTypes: readonly ResourceType[] = [
  declare(group, { kind: 'SelfSubjectReview', plural: 'selfsubjectreviews', namespaced: false, verbs: createOnly }),
  declare(group, { kind: 'TokenReview', plural: 'tokenreviews', namespaced: false, verbs: createOnly }),
];
