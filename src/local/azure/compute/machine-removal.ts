// What goes with a machine when it is deleted.
import { parseResourceId } from '../../../arm/resource-id.ts';
import type { JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { networkVersions } from '../network/api-versions.ts';
import { systemCaller } from '../network/system-caller.ts';
import { diskVersions } from './api-versions.ts';

/** What was given to the machine to take along goes with it. The machine lets go of everything first, or nothing of that could. */
export async function removeOwned(world: World, record: ResourceRecord): Promise<void> {
  const { storageProfile, networkProfile } = record.resource.properties ?? {};
  const { osDisk, dataDisks } = (storageProfile ?? {}) as JsonObject;
  const disks = [osDisk, ...((dataDisks ?? []) as readonly JsonObject[])] as readonly (JsonObject | undefined)[];
  const interfaces = ((networkProfile as JsonObject | undefined)?.networkInterfaces ?? []) as readonly JsonObject[];
  const owned = [
    ...disks
      .filter((one) => one?.deleteOption === 'Delete')
      .map((one) => ({ id: (one?.managedDisk as JsonObject | undefined)?.id, apiVersion: diskVersions[0] ?? '' })),
    ...interfaces
      .filter((one) => (one.properties as JsonObject | undefined)?.deleteOption === 'Delete')
      .map(({ id }) => ({ id, apiVersion: networkVersions[0] ?? '' })),
  ];
  if (owned.length === 0) return;
  await world.resources.change(record.resource.id, (there) => ({ ...there, references: {} }));
  for (const { id, apiVersion } of owned) {
    const parsed = typeof id === 'string' ? parseResourceId(id) : undefined;
    if (parsed?.ok) await world.resources.delete(parsed.id, { apiVersion, caller: systemCaller(world), faults: [] });
  }
}
