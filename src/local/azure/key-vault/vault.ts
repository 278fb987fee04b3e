// A vault's resource as its data plane sees it.
import { dataPlaneHost } from '../cloud.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import type { Vault } from './call.ts';

export function vaultOf(world: World, { resource }: ResourceRecord): Vault {
  const { name, id, properties = {} } = resource;
  const days = properties.softDeleteRetentionInDays;
  return {
    name: name.toLowerCase(),
    id,
    uri: `https://${dataPlaneHost(world.cloud, 'vault', name)}/`,
    properties,
    retentionDays: typeof days === 'number' ? days : 90,
    purgeProtection: properties.enablePurgeProtection === true,
  };
}
