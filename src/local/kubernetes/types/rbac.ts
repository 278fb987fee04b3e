// Roles and their bindings.
import { declare } from './declare.ts';
import type { ResourceType } from './resource-type.ts';

const group = 'rbac.authorization.k8s.io';

export const rbacTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    namespaced: false,
    strategy: { generation: false },
  }),
  declare(group, { kind: 'ClusterRole', plural: 'clusterroles', namespaced: false, strategy: { generation: false } }),
  declare(group, { kind: 'RoleBinding', plural: 'rolebindings', namespaced: true, strategy: { generation: false } }),
  declare(group, { kind: 'Role', plural: 'roles', namespaced: true, strategy: { generation: false } }),
];
