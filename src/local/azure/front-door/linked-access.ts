// Rights on what a body names: who puts a cluster into a subnet must be allowed to join the subnet.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { clientName } from '../authorization/client-name.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { World } from '../kernel/world.ts';
import { assignAction } from '../managed-identity/resource-identity.ts';

/** What is asked for, by folded type of what is named. */
const actions: { readonly [type: string]: string } = {
  'microsoft.network/virtualnetworks': 'Microsoft.Network/virtualNetworks/join/action',
  'microsoft.network/virtualnetworks/subnets': 'Microsoft.Network/virtualNetworks/subnets/join/action',
  'microsoft.network/networksecuritygroups': 'Microsoft.Network/networkSecurityGroups/join/action',
  'microsoft.network/routetables': 'Microsoft.Network/routeTables/join/action',
  'microsoft.network/natgateways': 'Microsoft.Network/natGateways/join/action',
  'microsoft.network/publicipaddresses': 'Microsoft.Network/publicIPAddresses/join/action',
  'microsoft.network/publicipprefixes': 'Microsoft.Network/publicIPPrefixes/join/action',
  'microsoft.network/loadbalancers/backendaddresspools':
    'Microsoft.Network/loadBalancers/backendAddressPools/join/action',
  'microsoft.compute/diskencryptionsets': 'Microsoft.Compute/diskEncryptionSets/read',
  'microsoft.managedidentity/userassignedidentities': assignAction,
};

/** More than any body needs; the rest of one that has more would go unchecked, so it is refused. */
const linksMax = 500;

export interface Link {
  readonly id: string;
  readonly action: string;
}

/** Every id of these types among a body's values and member names, once each. Bodies are of bounded depth and size. */
export function linksIn(body: unknown): readonly Link[] {
  const links = new Map<string, Link>();
  const note = (text: string): void => {
    if (!text.startsWith('/') || text.length > 2048) return;
    const parsed = parseResourceId(text);
    const type = parsed.ok ? foldCase(parsed.id.type) : '';
    const action = Object.hasOwn(actions, type) ? actions[type] : undefined;
    if (parsed.ok && action !== undefined) links.set(parsed.id.key, { id: parsed.id.text, action });
  };
  const left: unknown[] = [body];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next === 'string') note(next);
    else if (Array.isArray(next)) {
      for (const item of next) if (item !== undefined && item !== null) left.push(item);
    } else if (typeof next === 'object' && next !== null) {
      for (const [name, value] of Object.entries(next)) {
        // A member that is null is taken away, not used.
        if (value === null || value === undefined) continue;
        note(name);
        left.push(value);
      }
    }
  }
  if (links.size > linksMax)
    throw new ArmError(
      400,
      'InvalidRequestContent',
      `The request content names more than ${linksMax} other resources.`,
    );
  return [...links.values()];
}

/** Throws 403 in the words of ARM for the first link that the caller has no right to. */
export async function demandLinks(
  { access }: Pick<World, 'access'>,
  caller: CallerIdentity,
  action: string,
  id: ResourceId,
  body: unknown,
): Promise<void> {
  for (const link of linksIn(body)) {
    const { allowed } = await access.check(caller, link.action, link.id);
    if (allowed) continue;
    throw new ArmError(
      403,
      'LinkedAuthorizationFailed',
      `The client '${clientName(caller)}' with object id '${caller.objectId}' has permission to perform action ` +
        `'${action}' on scope '${id.text}'; however, it does not have permission to perform action(s) '${link.action}' ` +
        `on the linked scope(s) '${link.id}' (respectively) or the linked scope(s) are invalid.`,
    );
  }
}
