// Endpoint slices.
import { declare } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'discovery.k8s.io';

export const discoveryTypes: readonly ResourceType[] = [
  declare(group, { kind: 'EndpointSlice', plural: 'endpointslices', namespaced: true }),
];
