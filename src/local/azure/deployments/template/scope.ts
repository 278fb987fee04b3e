// Where a deployment deploys to.
import { foldCase, isGuid, isResourceGroupName, type ResourceId } from '../../../../arm/resource-id.ts';

export type DeploymentScope =
  | { readonly kind: 'tenant' }
  | { readonly kind: 'managementGroup'; readonly managementGroup: string }
  | { readonly kind: 'subscription'; readonly subscriptionId: string }
  | { readonly kind: 'resourceGroup'; readonly subscriptionId: string; readonly resourceGroup: string };

/** The id that resources of the scope start with; empty for the tenant. */
export function scopeText(scope: DeploymentScope): string {
  switch (scope.kind) {
    case 'tenant':
      return '';
    case 'managementGroup':
      return `/providers/Microsoft.Management/managementGroups/${scope.managementGroup}`;
    case 'subscription':
      return `/subscriptions/${scope.subscriptionId}`;
    case 'resourceGroup':
      return `/subscriptions/${scope.subscriptionId}/resourceGroups/${scope.resourceGroup}`;
  }
}

/** The scope that a text names: `/`, a management group, subscription or resource group. */
export function parseScope(text: string): DeploymentScope | undefined {
  const parts = text.replace(/\/+$/, '').split('/');
  if (parts.length === 1 && parts[0] === '') return { kind: 'tenant' };
  const words = parts.map(foldCase);
  if (words[1] === 'subscriptions' && isGuid(parts[2] ?? '')) {
    const subscriptionId = parts[2] ?? '';
    if (parts.length === 3) return { kind: 'subscription', subscriptionId };
    const resourceGroup = parts[4] ?? '';
    if (parts.length === 5 && words[3] === 'resourcegroups' && isResourceGroupName(resourceGroup)) {
      return { kind: 'resourceGroup', subscriptionId, resourceGroup };
    }
    return undefined;
  }
  // Both forms are in use: with and without the leading `/providers`.
  const at = words[1] === 'providers' ? 2 : 0;
  if (words[at] === 'microsoft.management' && words[at + 1] === 'managementgroups' && parts.length === at + 3) {
    return { kind: 'managementGroup', managementGroup: parts[at + 2] ?? '' };
  }
  return undefined;
}

/** The scope that a deployment with this id deploys to. */
export function scopeOfDeployment(id: ResourceId): DeploymentScope {
  if (id.subscriptionId !== undefined && id.resourceGroup !== undefined) {
    return { kind: 'resourceGroup', subscriptionId: id.subscriptionId, resourceGroup: id.resourceGroup };
  }
  if (id.subscriptionId !== undefined) return { kind: 'subscription', subscriptionId: id.subscriptionId };
  return id.extends === undefined ? { kind: 'tenant' } : { kind: 'managementGroup', managementGroup: id.extends.name };
}
