// The rest of the core group.
import { accepted, object, refused, type TypeCases, template, updated } from './case.ts';

export const coreCases: TypeCases = {
  accepted: [
    accepted(
      'v1/events',
      object(undefined, {
        metadata: { name: 'x', namespace: 'default' },
        involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
        reason: 'R',
      }),
    ),
    accepted('v1/limitranges', object({ limits: [{ type: 'Container', max: { cpu: '1' }, min: { memory: '1Mi' } }] })),
    accepted('v1/resourcequotas', object({ hard: { pods: '4', 'requests.cpu': '1000m' } })),
    accepted('v1/nodes', object(undefined)),
    accepted(
      'v1/nodes',
      object(
        { unschedulable: true, podCIDR: '10.4.0.0/24', taints: [{ key: 'a', effect: 'NoSchedule' }] },
        { status: { capacity: { cpu: '4' } } },
      ),
    ),
    accepted('v1/podtemplates', object(undefined, { template: template() })),
    accepted('v1/replicationcontrollers', object({ template: template() })),
  ],
  refusedCreates: [
    refused('namespace', 'v1/events', object(undefined, { involvedObject: { namespace: 'other' } })),
    refused(
      'limits',
      'v1/limitranges',
      object({ limits: [{ type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } }, { type: 'X' }] }),
    ),
    refused('resource', 'v1/resourcequotas', object({ hard: { foo: '1', pods: '-1' } })),
    refused(
      'scopes',
      'v1/resourcequotas',
      object({ hard: { pods: '1' }, scopes: ['X', 'Terminating', 'NotTerminating'] }),
    ),
    refused(
      'taint',
      'v1/nodes',
      object({
        taints: [
          { key: '', effect: '' },
          { key: 'a', effect: 'X' },
        ],
      }),
    ),
    refused('cidr', 'v1/nodes', object({ podCIDR: 'x' })),
  ],
  refusedUpdates: [updated('provider', 'v1/nodes', object({ providerID: 'a' }), { spec: { providerID: 'b' } })],
};
