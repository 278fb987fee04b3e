// The ids of resources, and names that follow from what they stand for.
import { createHash } from 'node:crypto';

/** A resource group of a subscription; most resources are in one. */
export interface Group {
  readonly subscriptionId: string;
  readonly resourceGroup: string;
}

export function subscriptionScope(subscriptionId: string): string {
  return `/subscriptions/${subscriptionId}`;
}

export function groupScope({ subscriptionId, resourceGroup }: Group): string {
  return `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}`;
}

/** `resourceIdIn(group, 'Microsoft.Network/virtualNetworks/subnets', 'vnet', 'subnet')`: as many names as the type has parts. */
export function resourceIdIn(group: Group, type: string, ...names: readonly string[]): string {
  return `${groupScope(group)}${below(type, names)}`;
}

/** An extension of a resource or scope, such as a role assignment. */
export function extensionIdOn(scope: string, type: string, ...names: readonly string[]): string {
  return `${scope}${below(type, names)}`;
}

function below(type: string, names: readonly string[]): string {
  const [namespace, ...types] = type.split('/');
  if (types.length === 0 || types.length !== names.length) {
    throw new TypeError(`${type} takes ${types.length} names, not ${names.length}`);
  }
  return `/providers/${namespace}${types.map((part, at) => `/${part}/${names[at]}`).join('')}`;
}

const namespaceBytes = Buffer.from('11fb06fb712d4ddd98c7e71bbd588830', 'hex');

/** The same as `guid(…)` in templates, so that what code and templates name is one. */
export function stableGuid(...parts: readonly string[]): string {
  const hash = createHash('sha1').update(namespaceBytes).update(parts.join('-')).digest().subarray(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
