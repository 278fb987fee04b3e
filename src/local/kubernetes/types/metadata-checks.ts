// How often the server checks an updated object, above all its metadata. Its refusals name a bad field once for each time, so
// that this is part of the answer.
import type { FieldError } from '../status.ts';

/** By kind, where it is not twice: once as a whole and once against what was there. */
const checks: Readonly<Record<string, number>> = {
  PodDisruptionBudget: 1,
  ConfigMap: 3,
  ControllerRevision: 3,
  Endpoints: 3,
  Ingress: 3,
  IngressClass: 3,
  Job: 3,
  Namespace: 3,
  NetworkPolicy: 3,
  Node: 3,
  PersistentVolume: 3,
  Pod: 3,
  ReplicationController: 3,
  Secret: 3,
  ServiceAccount: 3,
  StorageClass: 3,
  ClusterRole: 4,
  ClusterRoleBinding: 4,
  PersistentVolumeClaim: 4,
  Role: 4,
  RoleBinding: 4,
};

const wholeAndChange = /^metadata\.(labels|annotations|ownerReferences)/;
const wholeOnly = /^metadata\.finalizers\[/;

/** How often the type's own checks of an update name an error about this field. */
export function timesNamed(kind: string, field: string): number {
  const often = Object.hasOwn(checks, kind) ? (checks[kind] ?? 2) : 2;
  if (wholeAndChange.test(field)) return often;
  return wholeOnly.test(field) ? Math.max(often - 1, 1) : 1;
}

const once = /^metadata\.|^roleRef$/;
const checkedTwice: ReadonlySet<string> = new Set(['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']);

/** What is wrong with an updated object beside its metadata, as often as it is named. What may not change is looked at once. */
export function withSecondCheck(kind: string, errors: readonly FieldError[]): readonly FieldError[] {
  return checkedTwice.has(kind) ? [...errors.filter(({ field }) => !once.test(field)), ...errors] : errors;
}
