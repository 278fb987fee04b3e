import type { ResourceRequest } from '../arm-client.ts';
import { type Group, groupScope } from './ids.ts';

export const resourceGroupsVersion = '2024-03-01';

/** `managedBy` names the resource whose group it is; only who may write that resource may then delete the group. */
export function resourceGroup(
  group: Group,
  options: {
    readonly location: string;
    readonly managedBy?: string;
    readonly tags?: { readonly [name: string]: string };
  },
): ResourceRequest {
  return { id: groupScope(group), apiVersion: resourceGroupsVersion, body: options };
}
