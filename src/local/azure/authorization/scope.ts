// Scopes: where an assignment stands, and what it is good for.
import { foldCase } from '../../../arm/resource-id.ts';

const managementGroups = '/providers/microsoft.management/managementgroups/';
const subscriptionForm = /^\/subscriptions\/([^/]+)/;

/** To compare: case folded, no slash at the end; empty for the root of the tenant. */
export function scopeKey(scope: string): string {
  const folded = foldCase(scope);
  return folded.endsWith('/') ? folded.slice(0, -1) : folded;
}

/** The management groups a subscription is in, as names: from its own to the tenant's root group. */
export type ManagementGroupsOf = (subscriptionId: string) => readonly string[];

/** Whether what stands at one scope is good for another: the same, or one below. Both are keys. */
export function reaches(scope: string, asked: string, groupsOf: ManagementGroupsOf): boolean {
  if (scope === '' || scope === asked) return true;
  if (asked.startsWith(scope) && asked[scope.length] === '/') return true;
  if (!scope.startsWith(managementGroups)) return false;
  const name = scope.slice(managementGroups.length);
  const [, subscriptionId] = subscriptionForm.exec(asked) ?? [];
  return subscriptionId !== undefined && groupsOf(subscriptionId).some((group) => foldCase(group) === name);
}

/** The scope that an assignment or definition stands on, by its id: without `/providers/Microsoft.Authorization/<type>/<name>`. */
export function scopeOfId(id: string): string {
  return id.split('/').slice(0, -4).join('/') || '/';
}

/** The subscription of a scope's key. */
export function subscriptionOfKey(key: string): string | undefined {
  return subscriptionForm.exec(key)?.[1];
}
