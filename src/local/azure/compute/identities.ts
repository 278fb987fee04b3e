// Managed identities of machines and sets.

import type { EffectEvent } from '../kernel/provider.ts';
import type { ArmResource, JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { textOf } from '../network/text.ts';

/** Where an identity of the resource's own is kept; not shown. */
export const ownIdentity = 'ownIdentity';

function typesOf({ identity }: ArmResource): string {
  return textOf((identity as JsonObject | undefined)?.type ?? '');
}

/** Makes or takes away the identity of a resource's own; what to keep of it. */
export async function settleIdentity(world: World, { kind, id, record }: EffectEvent): Promise<JsonObject> {
  const wants = kind !== 'delete' && /systemassigned/i.test(typesOf(record.resource));
  if (wants) {
    const { principalId, tenantId } = await world.directory.ensureManagedIdentity(id.text, id.name);
    return { [ownIdentity]: { principalId, tenantId } };
  }
  if (record.resource.properties?.[ownIdentity] !== undefined) await world.directory.removeManagedIdentity(id.text);
  return {};
}

/** The identity as a GET shows it, with the ids that belong to it. */
export async function shownIdentity(world: World, resource: ArmResource): Promise<JsonObject> {
  const { identity, properties } = resource;
  if (typeof identity !== 'object' || identity === null) return {};
  const { userAssignedIdentities, ...rest } = identity as JsonObject;
  const own = properties?.[ownIdentity] as JsonObject | undefined;
  const assigned: { [id: string]: JsonObject } = {};
  for (const id of Object.keys((userAssignedIdentities ?? {}) as JsonObject)) {
    const of = (await world.resources.read(id))?.body.resource.properties;
    assigned[id] = { principalId: of?.principalId ?? '', clientId: of?.clientId ?? '' };
  }
  return {
    identity: {
      ...rest,
      ...own,
      ...(Object.keys(assigned).length === 0 ? {} : { userAssignedIdentities: assigned }),
    },
  };
}

/** Assigned identities count as used. */
export function assignedIdentities(body: JsonObject): readonly string[] {
  const identity = body.identity as JsonObject | undefined;
  return Object.keys((identity?.userAssignedIdentities ?? {}) as JsonObject);
}
