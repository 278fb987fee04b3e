// The `identity` of a resource on its way to a provider: Resource Manager names the principals behind it.
import { isRecord } from '../../../arm/record.ts';
import type { ResourceId } from '../../../arm/resource-id.ts';
import type { Json, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { resolveIdentity } from '../managed-identity/resource-identity.ts';

/** The body with its identity filled in; a patch that takes identities away goes as it is. Throws ArmError for identities that are none. */
export async function withIdentity(
  world: World,
  method: string,
  id: ResourceId,
  body: unknown,
  record: ResourceRecord | undefined,
): Promise<unknown> {
  if (!isRecord(body) || body.identity === undefined || body.identity === null) return body;
  if (method === 'PATCH' && isRecord(body.identity) && takesAway(body.identity)) return body;
  const current = record?.resource.identity;
  const identity = await resolveIdentity(world, id, body.identity as Json, current as Json | undefined);
  return { ...body, identity };
}

function takesAway({ type, userAssignedIdentities }: { readonly [name: string]: unknown }): boolean {
  if (type === undefined) return true;
  return isRecord(userAssignedIdentities) && Object.values(userAssignedIdentities).includes(null);
}
