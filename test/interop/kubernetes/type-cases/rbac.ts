// Roles and bindings.
import type { JsonObject } from '../../../../src/local/kubernetes/object.ts';
import { accepted, named, object, refused, type TypeCases, updated } from './case.ts';

const rbac = 'rbac.authorization.k8s.io';
const roleRef = (kind: string): JsonObject => ({ apiGroup: rbac, kind, name: 'r' });

export const rbacCases: TypeCases = {
  accepted: [
    accepted(`${rbac}/v1/roles`, object(undefined)),
    accepted(
      `${rbac}/v1/roles`,
      object(undefined, { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
    ),
    accepted(
      `${rbac}/v1/clusterroles`,
      object(undefined, { rules: [{ nonResourceURLs: ['/healthz'], verbs: ['get'] }] }),
    ),
    accepted(
      `${rbac}/v1/rolebindings`,
      object(undefined, {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'ServiceAccount', name: 's', namespace: 'default' },
        ],
      }),
    ),
    accepted(
      `${rbac}/v1/clusterrolebindings`,
      object(undefined, { roleRef: roleRef('ClusterRole'), subjects: [{ kind: 'Group', name: 'g' }] }),
    ),
  ],
  refusedCreates: [
    refused(
      'rule',
      `${rbac}/v1/roles`,
      object(undefined, {
        rules: [{}, { verbs: ['get'], apiGroups: [''] }, { verbs: ['get'], nonResourceURLs: ['/x'] }],
      }),
    ),
    refused(
      'rule',
      `${rbac}/v1/clusterroles`,
      object(undefined, {
        rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['pods'], apiGroups: [''] }, { verbs: [] }],
      }),
    ),
    refused('name', `${rbac}/v1/roles`, named('a/b')),
    refused('empty', `${rbac}/v1/rolebindings`, object(undefined)),
    refused(
      'role and subjects',
      `${rbac}/v1/rolebindings`,
      object(undefined, {
        roleRef: { apiGroup: 'x', kind: 'X', name: '' },
        subjects: [
          { kind: 'X', name: '' },
          { kind: 'ServiceAccount', name: 'A_' },
          { kind: 'User', name: 'u', apiGroup: 'x' },
        ],
      }),
    ),
    refused(
      'role',
      `${rbac}/v1/clusterrolebindings`,
      object(undefined, { roleRef: roleRef('Role'), subjects: [{ kind: 'ServiceAccount', name: 'a' }] }),
    ),
  ],
  refusedUpdates: [
    updated('role ref', `${rbac}/v1/rolebindings`, object(undefined, { roleRef: roleRef('Role') }), {
      roleRef: { name: 'other' },
    }),
    updated('role ref', `${rbac}/v1/clusterrolebindings`, object(undefined, { roleRef: roleRef('ClusterRole') }), {
      roleRef: { name: 'other' },
    }),
  ],
};
