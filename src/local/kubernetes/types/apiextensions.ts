// Definitions of custom resources.
import { declare, status } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'apiextensions.k8s.io';

export const apiExtensionsTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    namespaced: false,
    subresources: { status },
  }),
];
