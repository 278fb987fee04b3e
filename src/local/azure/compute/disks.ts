// Managed disks and snapshots.

import { randomUUID } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { demandReference } from '../network/references.ts';
import { withoutNulls } from '../network/request-body.ts';
import { zonesOf } from '../network/sku.ts';
import { textOf } from '../network/text.ts';
import { usersOf } from '../network/users.ts';
import { diskVersions } from './api-versions.ts';
import { slowType } from './base-type.ts';
import { invalidValue, missingParameter, shaped } from './request-body.ts';

const properties = Type.Object({
  creationData: Type.Optional(
    Type.Object({
      createOption: Type.String(),
      sourceResourceId: Type.Optional(Type.String()),
      sourceUri: Type.Optional(Type.String()),
      imageReference: Type.Optional(Type.Object({ id: Type.Optional(Type.String()) })),
    }),
  ),
  diskSizeGB: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
  encryption: Type.Optional(
    Type.Object({ type: Type.Optional(Type.String()), diskEncryptionSetId: Type.Optional(Type.String()) }),
  ),
});

const createOptions = [
  'Empty',
  'FromImage',
  'Copy',
  'CopyStart',
  'Import',
  'Restore',
  'Upload',
  'Attach',
  'ImportSecure',
];
const skus = [
  'Standard_LRS',
  'StandardSSD_LRS',
  'StandardSSD_ZRS',
  'Premium_LRS',
  'Premium_ZRS',
  'PremiumV2_LRS',
  'UltraSSD_LRS',
];
const snapshotSkus = ['Standard_LRS', 'Standard_ZRS', 'Premium_LRS'];
const readOnly = [
  'timeCreated',
  'uniqueId',
  'diskState',
  'diskSizeBytes',
  'provisioningState',
  'LastOwnershipUpdateTime',
];

async function prepare(
  { world, id, body, current }: PrepareRequest,
  names: readonly [string, ...string[]] | readonly string[],
): Promise<Prepared> {
  const { properties: _, managedBy: __, ...rest } = body;
  const plain: { [member: string]: JsonObject[string] } = {
    ...((withoutNulls(body) as { readonly properties?: JsonObject }).properties ?? {}),
  };
  for (const name of readOnly) delete plain[name];
  const given = shaped(properties, plain);
  const { creationData } = given;
  if (creationData === undefined) throw missingParameter('creationData');
  const createOption = createOptions.find((one) => foldCase(one) === foldCase(creationData.createOption));
  if (createOption === undefined) throw invalidValue('creationData.createOption', creationData.createOption);
  const before = current?.resource.properties ?? {};
  const sizeBefore = typeof before.diskSizeGB === 'number' ? before.diskSizeGB : undefined;
  const source = await sourceSize(world, id, createOption, creationData.sourceResourceId);
  const diskSizeGB = given.diskSizeGB ?? sizeBefore ?? source ?? (createOption === 'FromImage' ? 30 : undefined);
  if (diskSizeGB === undefined) throw missingParameter('disk.diskSizeGB');
  if (sizeBefore !== undefined && diskSizeGB < sizeBefore)
    throw new ArmError(
      409,
      'OperationNotAllowed',
      `Disk '${id.name}' cannot be made smaller: it has ${sizeBefore} GB and ${diskSizeGB} GB were asked for.`,
      { target: 'disk.diskSizeGB' },
    );
  const set = given.encryption?.diskEncryptionSetId;
  if (set !== undefined)
    await demandReference(world, set, {
      type: 'microsoft.compute/diskencryptionsets',
      by: id,
      location: textOf(body.location),
    });
  const kept: JsonObject = {
    ...plain,
    creationData: { ...(plain.creationData as JsonObject), createOption },
    diskSizeGB,
    timeCreated: before.timeCreated ?? new Date(world.clock.now()).toISOString(),
    uniqueId: before.uniqueId ?? randomUUID(),
    encryption: { type: 'EncryptionAtRestWithPlatformKey', ...given.encryption },
    networkAccessPolicy: plain.networkAccessPolicy ?? 'AllowAll',
    publicNetworkAccess: plain.publicNetworkAccess ?? 'Enabled',
    diskSizeBytes: diskSizeGB * 1_073_741_824,
  };
  return {
    resource: { ...rest, ...zonesOf(world, id, body), sku: skuOf(body, names), properties: kept },
    references: set === undefined ? {} : { [set]: 'properties.encryption.diskEncryptionSetId' },
  };
}

/** The size of what a disk is copied from. */
async function sourceSize(
  world: World,
  by: ResourceId,
  createOption: string,
  source: string | undefined,
): Promise<number | undefined> {
  if (!createOption.startsWith('Copy') && createOption !== 'Restore') return undefined;
  const parsed = parseResourceId(source ?? '');
  if (!parsed.ok) throw missingParameter('creationData.sourceResourceId');
  const document = await world.resources.read(parsed.id.key);
  if (document === undefined)
    throw new ArmError(
      404,
      'NotFound',
      `Resource ${parsed.id.text} that ${by.text} is to be copied from was not found.`,
    );
  const { diskSizeGB } = document.body.resource.properties ?? {};
  return typeof diskSizeGB === 'number' ? diskSizeGB : undefined;
}

function skuOf(body: JsonObject, names: readonly string[]): JsonObject {
  const asked = (body.sku as JsonObject | undefined)?.name ?? names[0];
  const name = names.find((one) => foldCase(one) === foldCase(textOf(asked)));
  if (name === undefined) throw invalidValue('sku.name', textOf(asked));
  return { name, tier: (name.split('_')[0] ?? name).replace(/SSD$/, '') };
}

const machineTypes: ReadonlySet<string> = new Set([
  'microsoft.compute/virtualmachines',
  'microsoft.compute/virtualmachinescalesets/virtualmachines',
]);

async function show(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const machine = (await usersOf(world, resource.id)).find(({ type }) => machineTypes.has(type));
  const isReserved = machine?.resource.properties?.powerState === 'deallocated';
  return {
    ...resource,
    ...(machine === undefined ? {} : { managedBy: machine.resource.id }),
    properties: {
      ...resource.properties,
      diskState: machine === undefined ? 'Unattached' : isReserved ? 'Reserved' : 'Attached',
    },
  };
}

export const disks: ResourceType = {
  ...slowType,
  type: 'disks',
  apiVersions: diskVersions,
  createdStatus: 202,
  prepare: (request) => prepare(request, skus),
  show,
  inUse: ({ name }, users) =>
    new ArmError(409, 'OperationNotAllowed', `Disk ${name} is attached to VM ${users[0]?.resource.id ?? ''}.`, {
      target: 'disk',
    }),
};

export const snapshots: ResourceType = {
  ...slowType,
  type: 'snapshots',
  apiVersions: diskVersions,
  createdStatus: 202,
  prepare: (request) => prepare(request, snapshotSkus),
};
