// Roles over Kubernetes clusters, their credentials and what is in them.
import { below, builtIn, companions, type RoleDefinition } from './role.ts';

const clusters = 'Microsoft.ContainerService/managedClusters';
const seeing = [
  ...companions.filter((action) => !action.startsWith('Microsoft.ResourceHealth')),
  `${clusters}/listClusterUserCredential/action`,
];

/** Kinds of objects that a namespace's readers and writers are given. */
const readable = [
  'apps/controllerrevisions',
  'apps/daemonsets',
  'apps/deployments',
  'apps/replicasets',
  'apps/statefulsets',
  'autoscaling/horizontalpodautoscalers',
  'batch/cronjobs',
  'batch/jobs',
  'configmaps',
  'discovery.k8s.io/endpointslices',
  'endpoints',
  'events.k8s.io/events',
  'events',
  'extensions/daemonsets',
  'extensions/deployments',
  'extensions/ingresses',
  'extensions/networkpolicies',
  'extensions/replicasets',
  'limitranges',
  'metrics.k8s.io/pods',
  'metrics.k8s.io/nodes',
  'namespaces',
  'networking.k8s.io/ingresses',
  'networking.k8s.io/networkpolicies',
  'persistentvolumeclaims',
  'pods',
  'policy/poddisruptionbudgets',
  'replicationcontrollers',
  'resourcequotas',
  'serviceaccounts',
  'services',
] as const;
const onlyRead: ReadonlySet<string> = new Set([
  'apps/controllerrevisions',
  'discovery.k8s.io/endpointslices',
  'limitranges',
  'metrics.k8s.io/pods',
  'metrics.k8s.io/nodes',
  'namespaces',
  'resourcequotas',
]);

export const kubernetesRoles: readonly RoleDefinition[] = [
  builtIn('ed7f3fbd-7b88-4dd4-9017-9adb7ce333f8', 'Azure Kubernetes Service Contributor Role', 'Manages clusters.', {
    actions: below('Microsoft.ContainerService', [
      'locations/*',
      'managedClusters/*',
      'managedclustersnapshots/*',
      'snapshots/*',
    ]).concat(
      'Microsoft.Insights/alertRules/*',
      'Microsoft.Resources/deployments/*',
      'Microsoft.Resources/subscriptions/resourceGroups/read',
    ),
  }),
  builtIn(
    '0ab0b1a8-8aac-4efd-b8c2-3ee1fb270be8',
    'Azure Kubernetes Service Cluster Admin Role',
    'Gets the credential of administrators.',
    {
      actions: below(clusters, [
        'listClusterAdminCredential/action',
        'accessProfiles/listCredential/action',
        'read',
        'runcommand/action',
      ]),
    },
  ),
  builtIn(
    '4abbcc35-e782-43d8-92c5-2d3f1bd2253f',
    'Azure Kubernetes Service Cluster User Role',
    'Gets the credential of users.',
    {
      actions: below(clusters, ['listClusterUserCredential/action', 'read']),
    },
  ),
  builtIn(
    'b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b',
    'Azure Kubernetes Service RBAC Cluster Admin',
    'Everything in a cluster.',
    {
      actions: seeing,
      dataActions: [`${clusters}/*`],
    },
  ),
  builtIn(
    '3498e952-d568-435e-9b2c-8d77e338d7f7',
    'Azure Kubernetes Service RBAC Admin',
    'Everything in a cluster but quotas and namespaces.',
    {
      actions: seeing,
      dataActions: [`${clusters}/*`],
      notDataActions: below(clusters, [
        'resourcequotas/write',
        'resourcequotas/delete',
        'namespaces/write',
        'namespaces/delete',
      ]),
    },
  ),
  builtIn(
    '7f6c6a51-bcf8-42ba-9220-52d62157d7db',
    'Azure Kubernetes Service RBAC Reader',
    'Sees most of what is in a namespace.',
    {
      actions: seeing,
      dataActions: readable.map((kind) => `${clusters}/${kind}/read`),
    },
  ),
  builtIn(
    'a7ffa36f-339b-4b5c-8bdf-e2c188b2c0eb',
    'Azure Kubernetes Service RBAC Writer',
    'Changes most of what is in a namespace.',
    {
      actions: seeing,
      dataActions: [...readable, 'secrets'].map((kind) => `${clusters}/${kind}/${onlyRead.has(kind) ? 'read' : '*'}`),
    },
  ),
];
