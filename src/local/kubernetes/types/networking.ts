// networking.k8s.io/v1.
import { declare, status } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'networking.k8s.io';

export const networkingTypes: readonly ResourceType[] = [
  declare(group, { kind: 'IngressClass', plural: 'ingressclasses', namespaced: false }),
  declare(group, {
    kind: 'Ingress',
    plural: 'ingresses',
    shortNames: ['ing'],
    namespaced: true,
    subresources: { status },
  }),
  declare(group, {
    kind: 'IPAddress',
    plural: 'ipaddresses',
    shortNames: ['ip'],
    namespaced: false,
    strategy: { generation: false },
  }),
  declare(group, { kind: 'NetworkPolicy', plural: 'networkpolicies', shortNames: ['netpol'], namespaced: true }),
  declare(group, { kind: 'ServiceCIDR', plural: 'servicecidrs', namespaced: false, subresources: { status } }),
];
