// Services, endpoints and the group networking.k8s.io.
import type { JsonObject } from '../../../../src/local/kubernetes/object.ts';
import { accepted, type CreateCase, object, refused, type TypeCases, updated } from './case.ts';

const service = (name: string, spec: JsonObject): CreateCase => refused(name, 'v1/services', object(spec));

export const networkingCases: TypeCases = {
  accepted: [
    accepted('v1/services', object({ ports: [{ port: 80 }] })),
    accepted(
      'v1/services',
      object({
        type: 'NodePort',
        ports: [
          { port: 80, name: 'a' },
          { port: 81, name: 'b', targetPort: 'x' },
        ],
      }),
    ),
    accepted('v1/services', object({ type: 'LoadBalancer', sessionAffinity: 'ClientIP', ports: [{ port: 80 }] })),
    accepted('v1/services', object({ type: 'ExternalName', externalName: 'a.example.com' })),
    accepted('v1/services', object({ clusterIP: 'None', selector: { a: 'b' } })),
    accepted(
      'v1/endpoints',
      object(undefined, { subsets: [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }] }),
    ),
    accepted(
      'discovery.k8s.io/v1/endpointslices',
      object(undefined, { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.1.1'] }], ports: [{ port: 80 }] }),
    ),
    accepted(
      'networking.k8s.io/v1/ingresses',
      object({
        rules: [
          {
            host: 'a.example.com',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
            },
          },
        ],
      }),
    ),
    accepted(
      'networking.k8s.io/v1/ingressclasses',
      object({ controller: 'example.com/c', parameters: { kind: 'P', name: 'p' } }),
    ),
    accepted('networking.k8s.io/v1/networkpolicies', object({ podSelector: {}, egress: [{ ports: [{ port: 53 }] }] })),
    accepted(
      'networking.k8s.io/v1/networkpolicies',
      object({ podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { a: 'b' } } }] }] }),
    ),
    accepted('networking.k8s.io/v1/ipaddresses', {
      metadata: { name: '10.0.0.77' },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 's' } },
    }),
    accepted('networking.k8s.io/v1/servicecidrs', object({ cidrs: ['10.7.0.0/24'] })),
  ],
  refusedCreates: [
    service('no ports', {}),
    service('name of ports', { ports: [{ port: 80 }, { port: 81 }] }),
    service('port', { ports: [{ port: 0 }] }),
    service('port range', { ports: [{ port: 70000, targetPort: 'A_' }] }),
    service('port twice', {
      ports: [
        { port: 80, name: 'a' },
        { port: 80, name: 'b' },
      ],
    }),
    service('port name twice', {
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'a' },
      ],
    }),
    service('protocol', { ports: [{ port: 80, protocol: 'X' }] }),
    service('type', { type: 'X', ports: [{ port: 80 }] }),
    service('external name', { type: 'ExternalName' }),
    service('selector', { selector: { 'a b': 'c' }, ports: [{ port: 80 }] }),
    service('affinity', { sessionAffinity: 'X', ports: [{ port: 80 }] }),
    service('cluster ip', { clusterIP: 'x', ports: [{ port: 80 }] }),
    service('headless node port', { type: 'NodePort', clusterIP: 'None', ports: [{ port: 80 }] }),
    service('node port of cluster ip', { ports: [{ port: 80, nodePort: 30000 }] }),
    service('traffic policy', { externalTrafficPolicy: 'Local', ports: [{ port: 80 }] }),
    service('external ips', { externalIPs: ['x', '127.0.0.1'], ports: [{ port: 80 }] }),
    refused('name', 'v1/services', { metadata: { name: '1a' }, spec: { ports: [{ port: 80 }] } }),
    refused(
      'addresses',
      'v1/endpoints',
      object(undefined, { subsets: [{ addresses: [{ ip: 'x' }, { ip: '127.0.0.1' }], ports: [{ port: 0 }] }, {}] }),
    ),
    refused('empty', 'discovery.k8s.io/v1/endpointslices', object(undefined)),
    refused(
      'addresses',
      'discovery.k8s.io/v1/endpointslices',
      object(undefined, {
        addressType: 'IPv4',
        endpoints: [{ addresses: [] }, { addresses: ['x'] }],
        ports: [{ name: 'a' }, { name: 'a' }],
      }),
    ),
    refused('type', 'discovery.k8s.io/v1/endpointslices', object(undefined, { addressType: 'X', endpoints: [] })),
    refused('empty', 'networking.k8s.io/v1/ingresses', object({})),
    refused(
      'rules',
      'networking.k8s.io/v1/ingresses',
      object({
        rules: [
          { host: 'A_', http: { paths: [] } },
          {
            host: '1.2.3.4',
            http: {
              paths: [
                { path: 'x', pathType: 'Prefix', backend: {} },
                { path: '/a', backend: { service: { name: 's', port: {} } } },
              ],
            },
          },
        ],
      }),
    ),
    refused('empty', 'networking.k8s.io/v1/ingressclasses', object({})),
    refused(
      'policy',
      'networking.k8s.io/v1/networkpolicies',
      object({
        podSelector: {},
        policyTypes: ['X'],
        ingress: [{ from: [{}], ports: [{ port: 0 }, { protocol: 'X' }] }],
        egress: [{ to: [{ ipBlock: { cidr: 'x' } }] }],
      }),
    ),
  ],
  refusedUpdates: [
    updated('cluster ip', 'v1/services', object({ clusterIP: '10.0.0.99', ports: [{ port: 80 }] }), {
      spec: { clusterIP: '10.0.0.98', clusterIPs: ['10.0.0.98'] },
    }),
    updated(
      'address type',
      'discovery.k8s.io/v1/endpointslices',
      object(undefined, { addressType: 'IPv4', endpoints: [] }),
      { addressType: 'IPv6' },
    ),
    updated('ingress class', 'networking.k8s.io/v1/ingressclasses', object({ controller: 'example.com/c' }), {
      spec: { controller: 'example.com/d' },
    }),
  ],
};
