// The group apps.
import type { JsonObject } from '../../../../src/local/kubernetes/object.ts';
import {
  accepted,
  type CreateCase,
  claim,
  object,
  refused,
  selector,
  type TypeCases,
  template,
  updated,
} from './case.ts';

const deployment = (name: string, spec: JsonObject): CreateCase => refused(name, 'apps/v1/deployments', object(spec));
const fullDeployment = object({ selector, template: template() });

export const appsCases: TypeCases = {
  accepted: [
    accepted('apps/v1/deployments', object({ selector, template: template() })),
    accepted(
      'apps/v1/deployments',
      object({ selector, replicas: 0, strategy: { type: 'Recreate' }, template: template() }),
    ),
    accepted(
      'apps/v1/deployments',
      object({ selector, strategy: { rollingUpdate: { maxSurge: 2 } }, template: template() }),
    ),
    accepted('apps/v1/replicasets', object({ selector, template: template() })),
    accepted('apps/v1/statefulsets', object({ selector, serviceName: 's', template: template() })),
    accepted(
      'apps/v1/statefulsets',
      object({
        selector,
        template: template(),
        updateStrategy: { type: 'OnDelete' },
        volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: claim }],
      }),
    ),
    accepted('apps/v1/daemonsets', object({ selector, template: template() })),
    accepted('apps/v1/controllerrevisions', object(undefined, { revision: 1, data: { a: 1 } })),
  ],
  refusedCreates: [
    deployment('empty', {}),
    deployment('selector does not match', { selector: { matchLabels: { app: 'b' } }, template: template() }),
    deployment('empty selector', { selector: {}, template: template() }),
    deployment('selector operator', {
      selector: {
        matchExpressions: [
          { key: 'app', operator: 'X' },
          { key: 'app', operator: 'In' },
          { key: 'app', operator: 'Exists', values: ['a'] },
        ],
      },
      template: template(),
    }),
    deployment('replicas', {
      selector,
      replicas: -1,
      minReadySeconds: -1,
      revisionHistoryLimit: -1,
      progressDeadlineSeconds: 0,
      template: template(),
    }),
    deployment('strategy', { selector, strategy: { type: 'X' }, template: template() }),
    deployment('recreate with rolling update', {
      selector,
      strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } },
      template: template(),
    }),
    deployment('rolling update zero', {
      selector,
      strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } },
      template: template(),
    }),
    deployment('rolling update percent', {
      selector,
      strategy: { rollingUpdate: { maxSurge: 'x', maxUnavailable: '101%' } },
      template: template(),
    }),
    deployment('restart policy', { selector, template: template({ restartPolicy: 'Never' }) }),
    deployment('template', { selector, template: template({}, { image: '' }) }),
    deployment('active deadline', { selector, template: template({ activeDeadlineSeconds: 5 }) }),
    refused('empty', 'apps/v1/replicasets', object({})),
    refused(
      'selector',
      'apps/v1/replicasets',
      object({ selector: { matchLabels: { app: 'b' } }, template: template() }),
    ),
    refused('empty', 'apps/v1/statefulsets', object({})),
    refused(
      'policy',
      'apps/v1/statefulsets',
      object({ selector, template: template(), podManagementPolicy: 'X', updateStrategy: { type: 'X' } }),
    ),
    refused('empty', 'apps/v1/daemonsets', object({})),
    refused(
      'strategy',
      'apps/v1/daemonsets',
      object({ selector, template: template(), updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } }),
    ),
    refused('no data', 'apps/v1/controllerrevisions', object(undefined, { revision: -1 })),
  ],
  refusedUpdates: [
    updated('selector', 'apps/v1/deployments', fullDeployment, {
      spec: { selector: { matchLabels: { app: 'b' } }, template: { metadata: { labels: { app: 'b' } } } },
    }),
    updated('selector alone', 'apps/v1/deployments', fullDeployment, {
      spec: { selector: { matchLabels: { app: 'b' } } },
    }),
    updated('replicas', 'apps/v1/deployments', fullDeployment, { spec: { replicas: -1 } }),
    updated('selector', 'apps/v1/replicasets', fullDeployment, {
      spec: { selector: { matchLabels: { app: 'a', b: 'c' } }, template: { metadata: { labels: { b: 'c' } } } },
    }),
    updated('selector', 'apps/v1/daemonsets', fullDeployment, {
      spec: { selector: { matchLabels: { app: 'a', b: 'c' } }, template: { metadata: { labels: { b: 'c' } } } },
    }),
    updated('service name', 'apps/v1/statefulsets', fullDeployment, {
      spec: { serviceName: 'other', podManagementPolicy: 'Parallel' },
    }),
  ],
};
