// How the built-in roles are written down.
import type { Permission } from '../../kernel/access.ts';

export interface RoleDefinition {
  /** The GUID that names it. */
  readonly name: string;
  readonly roleName: string;
  readonly description: string;
  readonly roleType: 'BuiltInRole' | 'CustomRole';
  readonly permissions: readonly Permission[];
  /** Scopes as they were given; `/` for built-in roles. */
  readonly assignableScopes: readonly string[];
}

/** A built-in role: what is left out of its permission is empty. */
export function builtIn(
  name: string,
  roleName: string,
  description: string,
  permission: Partial<Permission>,
): RoleDefinition {
  const { actions = [], notActions = [], dataActions = [], notDataActions = [] } = permission;
  return {
    name,
    roleName,
    description,
    roleType: 'BuiltInRole',
    permissions: [{ actions, notActions, dataActions, notDataActions }],
    assignableScopes: ['/'],
  };
}

/** `below('Microsoft.Network', ['a/read', 'b/read'])`: the same beginning for each. */
export function below(beginning: string, endings: readonly string[]): readonly string[] {
  return endings.map((ending) => `${beginning}/${ending}`);
}

/** Actions that roles for managing resources of one kind share. */
export const companions: readonly string[] = [
  'Microsoft.Authorization/*/read',
  'Microsoft.Insights/alertRules/*',
  'Microsoft.ResourceHealth/availabilityStatuses/read',
  'Microsoft.Resources/deployments/*',
  'Microsoft.Resources/subscriptions/resourceGroups/read',
  'Microsoft.Support/*',
];
