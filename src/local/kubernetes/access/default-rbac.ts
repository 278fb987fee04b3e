// The roles and bindings that every cluster has from its start. One copy of them serves all clusters of the process.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { JsonObject, KubeObject } from '../object.ts';
import { entryOf } from '../objects/entry.ts';
import type { Entry } from '../objects/objects.ts';
import { aggregated, type ClusterRole } from './aggregation.ts';
import type { PolicyRule } from './policy-rule.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

/** Storage types of the RBAC objects. */
export const rbacStorage = {
  clusterRoles: `${rbacGroup}/clusterroles`,
  clusterRoleBindings: `${rbacGroup}/clusterrolebindings`,
  roles: `${rbacGroup}/roles`,
  roleBindings: `${rbacGroup}/rolebindings`,
} as const;

interface DefaultRole {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly rules?: PolicyRule[];
  readonly aggregationRule?: NonNullable<ClusterRole['aggregationRule']>;
}

interface DefaultBinding {
  readonly name: string;
  readonly namespace?: string;
  readonly role: string;
  readonly subjects?: readonly JsonObject[];
}

interface DefaultRbac {
  readonly clusterRoles: readonly DefaultRole[];
  readonly clusterRoleBindings: readonly DefaultBinding[];
  readonly roles: readonly DefaultRole[];
  readonly roleBindings: readonly DefaultBinding[];
}

/** All clusters start at this revision: what they share is as old as they are. */
const firstRevision = 1;

/**
 * The entries of the default roles and bindings, with the rules of aggregating roles filled in. `createdAt` (RFC 3339, whole
 * seconds) stands in all of them.
 */
export function defaultRbacEntries(createdAt: string): Entry[] {
  const file = new URL('./data/default-rbac.json', import.meta.url);
  const data = JSON.parse(readFileSync(file, 'utf8')) as DefaultRbac;
  const entry = (type: string, kind: string, named: DefaultRole | DefaultBinding, content: JsonObject): Entry =>
    entryOf(type, objectOf(kind, named, content, createdAt), undefined, {
      revision: firstRevision,
      row: 0,
      before: undefined,
    });
  const clusterRoles = data.clusterRoles.map(
    (role): ClusterRole => ({
      metadata: { name: role.name, labels: role.labels ?? {} },
      ...(role.rules ? { rules: role.rules } : {}),
      ...(role.aggregationRule ? { aggregationRule: role.aggregationRule } : {}),
    }),
  );
  return [
    ...data.clusterRoles.map((role) => entry(rbacStorage.clusterRoles, 'ClusterRole', role, ruled(role, clusterRoles))),
    ...data.roles.map((role) => entry(rbacStorage.roles, 'Role', role, ruled(role, clusterRoles))),
    ...data.clusterRoleBindings.map((one) =>
      entry(rbacStorage.clusterRoleBindings, 'ClusterRoleBinding', one, bound(one, 'ClusterRole')),
    ),
    ...data.roleBindings.map((one) => entry(rbacStorage.roleBindings, 'RoleBinding', one, bound(one, 'Role'))),
  ];
}

function ruled(role: DefaultRole, clusterRoles: readonly ClusterRole[]): JsonObject {
  if (!role.aggregationRule) return { rules: (role.rules ?? []) as unknown as JsonObject[] };
  return {
    rules: aggregated(role.aggregationRule, clusterRoles, role.name) as unknown as JsonObject[],
    aggregationRule: role.aggregationRule as unknown as JsonObject,
  };
}

function bound(binding: DefaultBinding, kind: string): JsonObject {
  return {
    ...(binding.subjects ? { subjects: [...binding.subjects] } : {}),
    roleRef: { apiGroup: rbacGroup, kind, name: binding.role },
  };
}

function objectOf(
  kind: string,
  named: DefaultRole | DefaultBinding,
  content: JsonObject,
  createdAt: string,
): KubeObject {
  const labels = { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...('labels' in named ? named.labels : {}) };
  const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'true' };
  const fields = Object.fromEntries(Object.keys(content).map((key) => [`f:${key}`, {}]));
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind,
    metadata: {
      name: named.name,
      ...(named.namespace === undefined ? {} : { namespace: named.namespace }),
      uid: uidOf(`${kind}/${named.namespace ?? ''}/${named.name}`),
      creationTimestamp: createdAt,
      labels,
      annotations,
      managedFields: [
        {
          manager: 'kube-apiserver',
          operation: 'Update',
          apiVersion: `${rbacGroup}/v1`,
          time: createdAt,
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': { 'f:annotations': owned(annotations), 'f:labels': owned(labels) },
            ...fields,
          },
        },
      ],
    },
    ...content,
  };
}

const owned = (map: Readonly<Record<string, string>>): JsonObject => ({
  '.': {},
  ...Object.fromEntries(Object.keys(map).map((key) => [`f:${key}`, {}])),
});

/** The same at every start, so that references by uid stay true. */
function uidOf(text: string): string {
  const hex = createHash('sha256').update(`default rbac ${text}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
