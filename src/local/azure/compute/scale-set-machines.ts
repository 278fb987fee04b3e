// Machines of scale sets: made of the set's model, and as many as the set wants.
import { createHash, randomUUID } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { parseResourceId } from '../../../arm/resource-id.ts';
import type { Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { parentId } from '../network/references.ts';
import { isSystem, systemCaller } from '../network/system-caller.ts';
import { textOf } from '../network/text.ts';
import { machineVersions } from './api-versions.ts';
import { slowType } from './base-type.ts';
import { powerActions, powerMember } from './power.ts';

const machinesType = 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines';

/** What the machines of a set are made of, in short: it changes when the model does. */
function modelOf({ sku: size, properties: of }: ArmResource): string {
  const name = (size as JsonObject | undefined)?.name ?? '';
  const text = JSON.stringify([name, of?.virtualMachineProfile ?? null]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

export async function machinesOf(world: World, set: string): Promise<readonly ResourceRecord[]> {
  const records = await world.resources.list({ parent: set, type: machinesType });
  return [...records].sort((a, b) => Number(a.resource.name) - Number(b.resource.name));
}

function options(world: World) {
  return { apiVersion: machineVersions[0] ?? '', caller: systemCaller(world), faults: [] };
}

/** Makes a machine of the set's model, or brings one up to it. */
export async function putMachine(world: World, set: ArmResource, instanceId: string): Promise<void> {
  const parsed = parseResourceId(`${set.id}/virtualMachines/${instanceId}`);
  if (!parsed.ok) return;
  const there = (await world.resources.read(parsed.id.key))?.body.resource;
  if (there?.properties?.model === modelOf(set)) return;
  const { storageProfile, osProfile, networkProfile, diagnosticsProfile } = (set.properties?.virtualMachineProfile ??
    {}) as JsonObject;
  const zones = set.zones as readonly string[] | undefined;
  const prefix = textOf((osProfile as JsonObject | undefined)?.computerNamePrefix ?? set.name);
  await world.resources.put(
    parsed.id,
    {
      location: set.location ?? '',
      instanceId,
      sku: { name: (set.sku as JsonObject).name ?? '', tier: 'Standard' },
      ...(zones === undefined ? {} : { zones: [zones[Number(instanceId) % zones.length] ?? '1'] }),
      properties: {
        vmId: there?.properties?.vmId ?? randomUUID(),
        model: modelOf(set),
        hardwareProfile: { vmSize: (set.sku as JsonObject).name ?? '' },
        storageProfile: (storageProfile ?? {}) as Json,
        ...(osProfile === undefined
          ? {}
          : {
              osProfile: {
                ...(osProfile as JsonObject),
                computerName: `${prefix}${Number(instanceId).toString(36).padStart(6, '0').toUpperCase()}`,
              },
            }),
        networkProfileConfiguration: (networkProfile ?? {}) as Json,
        ...(diagnosticsProfile === undefined ? {} : { diagnosticsProfile }),
        timeCreated: there?.properties?.timeCreated ?? new Date(world.clock.now()).toISOString(),
        [powerMember]: there?.properties?.[powerMember] ?? 'running',
      },
    },
    options(world),
  );
}

export async function removeMachine(world: World, text: string): Promise<void> {
  const parsed = parseResourceId(text);
  if (parsed.ok) await world.resources.delete(parsed.id, options(world));
}

/** Machines of a set come and go with its capacity; clients may only protect them and delete them. */
function prepareMachine({ body, current, caller, id }: PrepareRequest): Prepared {
  if (current === undefined && !isSystem(caller))
    throw new ArmError(404, 'ResourceNotFound', `The scale set machine '${id.name}' was not found.`);
  if (current === undefined || isSystem(caller)) return { resource: body, references: {} };
  const { protectionPolicy } = (body.properties ?? {}) as JsonObject;
  const { resource } = current;
  return {
    resource: {
      ...resource,
      ...(body.tags === undefined ? {} : { tags: body.tags as { readonly [name: string]: string } }),
      properties: { ...resource.properties, ...(protectionPolicy === undefined ? {} : { protectionPolicy }) },
    },
    references: {},
  };
}

async function showMachine(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const set = (await world.resources.read(parentId(resource.id)))?.body.resource;
  const { [powerMember]: _, model, ...shown } = resource.properties ?? {};
  return {
    ...resource,
    // As Azure names them: the set's name and the number.
    name: `${set?.name ?? ''}_${resource.name}`,
    properties: { ...shown, latestModelApplied: set !== undefined && model === modelOf(set) },
  };
}

export const scaleSetMachines: ResourceType = {
  ...slowType,
  type: 'virtualMachineScaleSets/virtualMachines',
  asynchrony: { create: 'none', update: 'none', delete: 'none' },
  prepare: prepareMachine,
  show: showMachine,
  actions: powerActions,
  // A machine that was deleted on its own is one less of the set.
  async effect(world, { kind, record }) {
    if (kind === 'delete') await lower(world, parentId(record.resource.id));
    return undefined;
  },
};

/** Only while the set is at rest: what the set itself does to its capacity is counted there. */
async function lower(world: World, set: string): Promise<void> {
  await world.resources.change(set, (there) => {
    const { sku: size } = there.resource;
    const capacity = Number((size as JsonObject | undefined)?.capacity ?? 0);
    if (there.operation !== undefined || capacity === 0) return undefined;
    return { ...there, resource: { ...there.resource, sku: { ...(size as JsonObject), capacity: capacity - 1 } } };
  });
}
