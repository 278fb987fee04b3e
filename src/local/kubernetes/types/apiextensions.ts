// Definitions of custom resources. What they may say, and what becomes of them, is in crd/.
import { isDeepStrictEqual } from 'node:util';
import { definitionStatus, definitionStrategy } from '../crd/definition-strategy.ts';
import { declare } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

export const apiExtensionsTypes: readonly ResourceType[] = [
  declare('apiextensions.k8s.io', {
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    namespaced: false,
    subresources: { status: definitionStatus },
    strategy: { ...definitionStrategy, generation: (object, old) => !isDeepStrictEqual(object.spec, old.spec) },
  }),
];
