// In which order manifests are applied: what others need comes first.
import type { ResourceMeta } from './work.ts';

const ranked: readonly (readonly string[])[] = [
  ['PriorityClass', 'Namespace', 'CustomResourceDefinition', 'StorageClass', 'PersistentVolume', 'PodSecurityPolicy'],
  ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  ['NetworkPolicy', 'ResourceQuota', 'LimitRange', 'PodDisruptionBudget', 'ServiceAccount'],
  ['Secret', 'ConfigMap', 'PersistentVolumeClaim'],
  ['Service'],
  [
    'DaemonSet',
    'Deployment',
    'HorizontalPodAutoscaler',
    'Job',
    'CronJob',
    'Pod',
    'ReplicaSet',
    'ReplicationController',
    'StatefulSet',
  ],
  [
    'APIService',
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
  ],
];

/** The groups whose kinds are meant: others may have kinds of the same name. */
const ownGroup =
  /^(?:|apps|batch|autoscaling|policy|apiregistration\.k8s\.io|apiextensions\.k8s\.io|[a-z.]+\.k8s\.io)$/;

const rankOf = new Map(ranked.flatMap((kinds, rank) => kinds.map((kind) => [kind, rank] as const)));

/** The manifests in the order to apply them; within a rank as in the spec. */
export function inApplyOrder<T extends { readonly meta: Pick<ResourceMeta, 'group' | 'kind'> }>(
  manifests: readonly T[],
): readonly T[] {
  const rank = ({ meta }: T): number =>
    (ownGroup.test(meta.group) ? rankOf.get(meta.kind) : undefined) ?? ranked.length;
  return manifests.toSorted((one, other) => rank(one) - rank(other));
}
