// The `identity` member of resources: which identities a resource has, with the principals behind them.
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { identityType } from './user-assigned.ts';

export const assignAction = 'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action';

/** What is read of the cloud. */
type Around = Pick<World, 'directory' | 'resources'>;

interface Types {
  readonly system: boolean;
  readonly user: boolean;
}

/**
 * The member to keep for the one that was sent: `principalId` and `tenantId` of the resource's own identity, `principalId` and
 * `clientId` of those that were assigned. The principal of the resource's own identity is made if it is not there; asked again it is the
 * same one. An identity that is sent as null is taken away. Left out, what there is stays. Throws ArmError.
 */
export async function resolveIdentity(
  world: Around,
  id: ResourceId,
  given: Json | undefined,
  current: Json | undefined,
): Promise<JsonObject | undefined> {
  if (given === undefined) return isRecord(current) ? (current as JsonObject) : undefined;
  if (given === null) return undefined;
  if (!isRecord(given)) throw invalid('The identity must be an object.');
  const types = typesOf(given.type);
  const assigned = types.user ? await assignedOf(world, id, given.userAssignedIdentities, current) : undefined;
  if (types.user && Object.keys(assigned ?? {}).length === 0)
    throw invalid("The identity type 'UserAssigned' needs at least one identity in userAssignedIdentities.");
  if (!types.user && isRecord(given.userAssignedIdentities) && Object.keys(given.userAssignedIdentities).length > 0)
    throw invalid("The identity has userAssignedIdentities, so its type must have 'UserAssigned'.");
  if (!types.system && !types.user) return { type: 'None' };
  const type = [types.system ? 'SystemAssigned' : '', types.user ? 'UserAssigned' : ''].filter((word) => word !== '');
  const own = types.system ? await world.directory.ensureManagedIdentity(id.text, id.name) : undefined;
  return {
    ...(own === undefined ? {} : { principalId: own.principalId, tenantId: own.tenantId }),
    type: type.join(', '),
    ...(assigned === undefined ? {} : { userAssignedIdentities: assigned }),
  };
}

/** Takes away the principal of a resource's own identity, when it has one. For effects of deletes and of updates that drop it. */
export async function dropIdentity({ directory }: Pick<World, 'directory'>, record: ResourceRecord): Promise<void> {
  const { identity, id } = record.resource;
  if (isRecord(identity) && typeof identity.principalId === 'string') await directory.removeManagedIdentity(id);
}

/** Rights on the identities that a body assigns, for `linkedAccess` of types. */
export function linkedIdentities(body: JsonObject): readonly { readonly id: string; readonly action: string }[] {
  const { identity } = body;
  if (!isRecord(identity) || !isRecord(identity.userAssignedIdentities)) return [];
  return Object.entries(identity.userAssignedIdentities)
    .filter(([, value]) => value !== null)
    .map(([id]) => ({ id, action: assignAction }));
}

function typesOf(type: unknown): Types {
  const words =
    typeof type === 'string'
      ? type
          .split(',')
          .map((word) => foldCase(word.trim()))
          .sort()
      : [];
  const known: { readonly [words: string]: Types } = {
    none: { system: false, user: false },
    systemassigned: { system: true, user: false },
    userassigned: { system: false, user: true },
    'systemassigned,userassigned': { system: true, user: true },
  };
  const key = words.join(',');
  const found = Object.hasOwn(known, key) ? known[key] : undefined;
  if (found) return found;
  throw invalid(
    "The identity type must be 'None', 'SystemAssigned', 'UserAssigned' or 'SystemAssigned, UserAssigned'.",
  );
}

async function assignedOf(
  { resources }: Around,
  id: ResourceId,
  given: unknown,
  current: Json | undefined,
): Promise<JsonObject> {
  const assigned: { [id: string]: JsonObject } = {};
  const before = isRecord(current) && isRecord(current.userAssignedIdentities) ? current.userAssignedIdentities : {};
  const wanted = isRecord(given) ? given : before;
  for (const [identityId, value] of Object.entries(wanted)) {
    // Null takes one away, as in a merge.
    if (value === null) continue;
    const parsed = parseResourceId(identityId);
    if (!parsed.ok || foldCase(parsed.id.type) !== identityType)
      throw new ArmError(
        400,
        'LinkedInvalidPropertyId',
        `Property id '${identityId.slice(0, 200)}' at path 'identity.userAssignedIdentities' is invalid. Expect fully qualified resource Id ` +
          "of a 'Microsoft.ManagedIdentity/userAssignedIdentities'.",
      );
    const record = (await resources.read(parsed.id.key))?.body;
    if (record === undefined)
      throw new ArmError(
        400,
        'FailedIdentityOperation',
        `Identity operation for resource '${id.text}' failed with error 'Failed to perform resource identity operation. Status: 'BadRequest'. ` +
          `Response: 'Resource '${parsed.id.text}' was not found.''.`,
      );
    const { principalId, clientId } = record.resource.properties ?? {};
    assigned[identityId] = { principalId: principalId ?? null, clientId: clientId ?? null };
  }
  return assigned;
}

function invalid(message: string): ArmError {
  return new ArmError(400, 'InvalidIdentity', message, { target: 'identity' });
}
