// Groups of one or two kinds: leases, signing requests, disruption budgets, priority classes, events.
import type { JsonObject } from '../../../../src/local/kubernetes/object.ts';
import { accepted, certificateRequest, object, refused, selector, type TypeCases, updated } from './case.ts';

const csrSpec: JsonObject = {
  request: certificateRequest,
  signerName: 'kubernetes.io/kube-apiserver-client',
  usages: ['client auth'],
};

export const smallGroupsCases: TypeCases = {
  accepted: [
    accepted('coordination.k8s.io/v1/leases', object(undefined)),
    accepted(
      'coordination.k8s.io/v1/leases',
      object({
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        renewTime: '2024-01-01T00:00:00.000000Z',
        leaseTransitions: 0,
      }),
    ),
    accepted('certificates.k8s.io/v1/certificatesigningrequests', object(csrSpec)),
    accepted('policy/v1/poddisruptionbudgets', object({ minAvailable: 1, selector })),
    accepted('scheduling.k8s.io/v1/priorityclasses', object(undefined, { value: 5 })),
    accepted(
      'events.k8s.io/v1/events',
      object(undefined, {
        metadata: { name: 'x', namespace: 'default' },
        eventTime: '2024-01-01T00:00:00.000000Z',
        reportingController: 'c/x',
        reportingInstance: 'i',
        action: 'A',
        reason: 'R',
        type: 'Normal',
        regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
      }),
    ),
  ],
  refusedCreates: [
    refused(
      'lease',
      'coordination.k8s.io/v1/leases',
      object({ leaseDurationSeconds: 0, leaseTransitions: -1, holderIdentity: '' }),
    ),
    refused('empty', 'certificates.k8s.io/v1/certificatesigningrequests', object({})),
    refused(
      'fields',
      'certificates.k8s.io/v1/certificatesigningrequests',
      object({ request: 'YQ==', signerName: 'x', usages: ['X'], expirationSeconds: 5 }),
    ),
    refused('both', 'policy/v1/poddisruptionbudgets', object({ minAvailable: 1, maxUnavailable: 1 })),
    refused(
      'percent',
      'policy/v1/poddisruptionbudgets',
      object({ minAvailable: '101%', selector: { matchLabels: { 'a b': 'c' } } }),
    ),
    refused(
      'value',
      'scheduling.k8s.io/v1/priorityclasses',
      object(undefined, { value: 1000000001, preemptionPolicy: 'X' }),
    ),
    refused('system', 'scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'system-x' }, value: 1 }),
  ],
  refusedUpdates: [
    updated('value', 'scheduling.k8s.io/v1/priorityclasses', object(undefined, { value: 1 }), {
      value: 2,
      preemptionPolicy: 'Never',
    }),
  ],
};
