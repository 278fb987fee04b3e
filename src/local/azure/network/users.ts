// Who uses a resource, told by the part that names it: the configuration of an interface rather than the interface.
import { ArmError } from '../../../arm/errors.ts';
import { idKey, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import { referencesIn } from '../kernel/references.ts';
import type { World } from '../kernel/world.ts';

/** The resources of the subscription that name an id. */
export async function usersOf(world: World, id: string): Promise<readonly ResourceRecord[]> {
  const parsed = parseResourceId(id);
  if (!parsed.ok || parsed.id.subscriptionId === undefined) return [];
  return world.resources.list({ subscriptionId: parsed.id.subscriptionId, referencing: id });
}

const step = /[^.[\]]+/g;

/** The id of the part of a user that names the resource; the user's own where no part has an id. */
export function userPart(user: ResourceRecord, id: string): string {
  let found = user.resource.id;
  let at: Json | undefined = user.resource;
  for (const name of user.references[idKey(id)]?.match(step) ?? []) {
    if (typeof at !== 'object' || at === null) break;
    at = (at as JsonObject)[name];
    if (typeof at !== 'object' || at === null || Array.isArray(at)) continue;
    const { id: own, name: partName } = at as JsonObject;
    if (typeof own === 'string' && typeof partName === 'string') found = own;
  }
  return found;
}

/** `[{ id }, …]` of the users that are of a type. */
export function asReferences(ids: readonly string[]): readonly { readonly id: string }[] {
  return ids.map((id) => ({ id }));
}

/** The ids of users by full type in lower case. */
export function idsOfType(users: readonly ResourceRecord[], type: string): readonly string[] {
  return users.filter((user) => user.type === type).map(({ resource }) => resource.id);
}

/** Parts that are kept within their owners: who names one uses the owner too. */
const ownedParts: ReadonlySet<string> = new Set([
  'microsoft.network/loadbalancers/frontendipconfigurations',
  'microsoft.network/loadbalancers/probes',
  'microsoft.network/loadbalancers/loadbalancingrules',
  'microsoft.network/loadbalancers/outboundrules',
  'microsoft.network/networkinterfaces/ipconfigurations',
]);

/** What a resource uses, by the ids in its properties. */
export function referencesOf(id: ResourceId, properties: JsonObject): { readonly [id: string]: string } {
  const found: { [id: string]: string } = { ...referencesIn(id.key, properties) };
  for (const [key, member] of Object.entries(found)) {
    const parsed = parseResourceId(key);
    if (parsed.ok && ownedParts.has(parsed.id.type)) found[key.split('/').slice(0, -2).join('/')] ??= member;
  }
  return found;
}

/** The error of a delete in the words of a type: `Network security group {id} cannot be deleted because it is in use by …`. */
export function inUseError(code: string, what: string, more: string) {
  return (id: ResourceId, users: readonly ResourceRecord[]): ArmError =>
    new ArmError(
      400,
      code,
      `${what} ${id.text} cannot be deleted because it is in use by the following resources: ` +
        `${users
          .slice(0, 20)
          .map((user) => userPart(user, id.key))
          .join(', ')}. ${more}`,
    );
}
