// The caller of writes that the cloud itself makes: what belongs to a resource and comes and goes with it.
import type { CallerIdentity } from '../kernel/provider.ts';
import type { World } from '../kernel/world.ts';

/** No principal of the directory has it. */
const objectId = '00000000-0000-0000-0000-000000000000';

export function systemCaller(world: Pick<World, 'directory'>): CallerIdentity {
  return {
    tenantId: world.directory.tenantId,
    objectId,
    kind: 'ServicePrincipal',
    appId: objectId,
    name: 'Microsoft Azure',
    groups: [],
  };
}

export function isSystem(caller: CallerIdentity): boolean {
  return caller.objectId === objectId;
}
