// What extends a server: custom resource definitions, API services, admission.
import type { JsonObject } from '../../../../src/local/kubernetes/object.ts';
import { accepted, object, refused, type TypeCases } from './case.ts';

const webhook: JsonObject = {
  name: 'a.b.c',
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  clientConfig: { service: { namespace: 'default', name: 'hook' } },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }],
};
const policySpec: JsonObject = {
  matchConstraints: {
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }],
  },
  validations: [{ expression: 'true' }],
};
const crdSpec: JsonObject = {
  group: 'example.com',
  scope: 'Namespaced',
  names: { plural: 'widgets', kind: 'Widget' },
  versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
};

export const extensionCases: TypeCases = {
  accepted: [
    accepted('apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'widgets.example.com' },
      spec: crdSpec,
    }),
    accepted('apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: 'v1.example.org' },
      spec: {
        group: 'example.org',
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 10,
        service: { namespace: 'default', name: 's' },
        insecureSkipTLSVerify: true,
      },
    }),
    accepted('apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: 'v2.example.org' },
      spec: { group: 'example.org', version: 'v2', groupPriorityMinimum: 100, versionPriority: 10 },
    }),
    accepted(
      'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      object(undefined, { webhooks: [webhook] }),
    ),
    accepted(
      'admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
      object(undefined, { webhooks: [webhook] }),
    ),
    accepted('admissionregistration.k8s.io/v1/validatingadmissionpolicies', object(policySpec)),
    accepted(
      'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
      object({ policyName: 'x', validationActions: ['Deny'], matchResources: {} }),
    ),
  ],
  refusedCreates: [
    refused('name', 'apiextensions.k8s.io/v1/customresourcedefinitions', object(crdSpec)),
    refused('two storage versions', 'apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'widgets.example.com' },
      spec: {
        ...crdSpec,
        versions: ['v1', 'v2'].map((name) => ({
          name,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        })),
      },
    }),
    refused('no schema', 'apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'widgets.example.com' },
      spec: { ...crdSpec, versions: [{ name: 'v1', served: true, storage: true }] },
    }),
    refused('empty', 'apiregistration.k8s.io/v1/apiservices', object({})),
    refused('service', 'apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: 'v1.example.org' },
      spec: {
        group: 'example.org',
        version: 'v1',
        groupPriorityMinimum: 0,
        versionPriority: 0,
        service: { namespace: '', name: '' },
      },
    }),
    refused(
      'empty hook',
      'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      object(undefined, { webhooks: [{ name: 'a' }] }),
    ),
    refused(
      'hook',
      'admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
      object(undefined, {
        webhooks: [
          {
            ...webhook,
            sideEffects: 'Some',
            failurePolicy: 'X',
            matchPolicy: 'X',
            timeoutSeconds: 31,
            reinvocationPolicy: 'X',
            clientConfig: { url: 'http://a' },
          },
        ],
      }),
    ),
    refused(
      'rules',
      'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      object(undefined, {
        webhooks: [
          {
            ...webhook,
            rules: [{ operations: ['X'], apiGroups: ['*', 'a'], apiVersions: [], resources: ['*/*', 'pods'] }],
          },
        ],
      }),
    ),
    refused(
      'hook twice',
      'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      object(undefined, { webhooks: [webhook, webhook] }),
    ),
    refused('empty', 'admissionregistration.k8s.io/v1/validatingadmissionpolicies', object({})),
    refused('empty', 'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', object({})),
  ],
  refusedUpdates: [],
};
