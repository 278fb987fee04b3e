// The disks of a machine: those it brings along are made with it, others are attached.
import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, idKey, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { AlsoWrite } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { demandReference } from '../network/references.ts';
import { usersOf } from '../network/users.ts';
import { invalidValue, missingParameter, shaped } from './request-body.ts';

const disk = {
  name: Type.Optional(Type.String()),
  createOption: Type.String(),
  caching: Type.Optional(Type.String()),
  diskSizeGB: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
  deleteOption: Type.Optional(Type.String()),
  managedDisk: Type.Optional(
    Type.Object({
      id: Type.Optional(Type.String()),
      storageAccountType: Type.Optional(Type.String()),
      diskEncryptionSet: Type.Optional(Type.Object({ id: Type.Optional(Type.String()) })),
    }),
  ),
};

const profile = Type.Object({
  imageReference: Type.Optional(
    Type.Object({
      id: Type.Optional(Type.String()),
      publisher: Type.Optional(Type.String()),
      offer: Type.Optional(Type.String()),
      sku: Type.Optional(Type.String()),
      version: Type.Optional(Type.String()),
    }),
  ),
  osDisk: Type.Optional(
    Type.Object({
      ...disk,
      osType: Type.Optional(Type.String()),
      diffDiskSettings: Type.Optional(Type.Object({ option: Type.Optional(Type.String()) })),
    }),
  ),
  dataDisks: Type.Optional(Type.Array(Type.Object({ ...disk, lun: Type.Integer({ minimum: 0, maximum: 63 }) }))),
});

type Profile = Static<typeof profile>;
type Disk = NonNullable<Profile['osDisk']>;

export interface StoragePlace {
  readonly id: ResourceId;
  readonly location: string;
  readonly zones?: readonly string[];
  /** What is kept of the machine. */
  readonly before: JsonObject | undefined;
  readonly maxDataDisks: number;
}

export interface Storage {
  readonly kept: JsonObject;
  readonly also: readonly AlsoWrite[];
  readonly osType: string;
  /** Whether the machine starts from an image that wants an osProfile. */
  readonly isFromImage: boolean;
}

/** What is kept of a storage profile, and the disks that are made with it. */
export async function planStorage(world: World, place: StoragePlace, given: JsonObject | undefined): Promise<Storage> {
  if (given === undefined) throw missingParameter('storageProfile');
  const { imageReference, osDisk, dataDisks = [] } = shaped(profile, given);
  if (osDisk === undefined) throw missingParameter('storageProfile.osDisk');
  const osType = spelt('osDisk.osType', osDisk.osType ?? 'Linux', ['Linux', 'Windows']);
  const option = spelt('osDisk.createOption', osDisk.createOption, ['FromImage', 'Attach', 'Empty']);
  if (option === 'FromImage') await checkImage(world, place, imageReference);
  if (dataDisks.length > place.maxDataDisks)
    throw new ArmError(
      409,
      'OperationNotAllowed',
      `The maximum number of data disks allowed to be attached to a VM of this size is ${place.maxDataDisks}.`,
      { target: 'dataDisks' },
    );
  const luns = new Set(dataDisks.map(({ lun }) => lun));
  if (luns.size < dataDisks.length)
    throw new ArmError(400, 'InvalidParameter', 'Two data disks have the same logical unit number.', {
      target: 'dataDisk.lun',
    });
  const also: AlsoWrite[] = [];
  const before = place.before?.storageProfile as JsonObject | undefined;
  const osBefore = before?.osDisk as JsonObject | undefined;
  const os = await settleDisk(
    world,
    place,
    { ...osDisk, createOption: option },
    osBefore,
    `${place.id.name}_OsDisk_1_`,
    {
      osType,
      ...(imageReference === undefined ? {} : { imageReference }),
    },
  );
  also.push(...os.also);
  const data: JsonObject[] = [];
  for (const item of dataDisks) {
    const list = (before?.dataDisks ?? []) as readonly JsonObject[];
    const there = list.find(({ lun }) => lun === item.lun);
    const settled = await settleDisk(world, place, item, there, `${place.id.name}_disk${item.lun + 1}_`, {});
    also.push(...settled.also);
    data.push({ ...settled.kept, lun: item.lun });
  }
  return {
    kept: {
      ...given,
      ...(imageReference === undefined ? {} : { imageReference: exactImage(imageReference) }),
      osDisk: { ...os.kept, osType },
      dataDisks: data,
    },
    also,
    osType,
    isFromImage: option === 'FromImage',
  };
}

async function settleDisk(
  world: World,
  { id, location, zones }: StoragePlace,
  given: Disk,
  before: JsonObject | undefined,
  prefix: string,
  more: JsonObject,
): Promise<{ readonly kept: JsonObject; readonly also: readonly AlsoWrite[] }> {
  const defaults = { caching: given.caching ?? 'None', deleteOption: given.deleteOption ?? 'Detach' };
  const isEphemeral = given.diffDiskSettings?.option !== undefined;
  const attached = (before?.managedDisk as JsonObject | undefined)?.id;
  const asked = given.managedDisk?.id;
  if (typeof attached === 'string' && (asked === undefined || idKey(asked) === idKey(attached))) {
    const kept = (await world.resources.read(attached))?.body.resource;
    const size = given.diskSizeGB ?? kept?.properties?.diskSizeGB ?? before?.diskSizeGB;
    return {
      kept: {
        ...given,
        ...defaults,
        name: before?.name ?? given.name,
        ...(size === undefined ? {} : { diskSizeGB: size }),
        managedDisk: { ...(before?.managedDisk as JsonObject), ...given.managedDisk, id: attached },
      },
      also: [],
    };
  }
  if (foldCase(given.createOption) === 'attach' || asked !== undefined) {
    const text = asked ?? '';
    if (text === '') throw missingParameter('managedDisk.id');
    const { resource } = await demandReference(world, text, { type: 'microsoft.compute/disks', by: id, location });
    await demandFree(world, id, resource.id);
    const { diskSizeGB = 0 } = resource.properties ?? {};
    return {
      kept: {
        ...given,
        ...defaults,
        name: resource.name,
        diskSizeGB,
        managedDisk: {
          ...given.managedDisk,
          id: resource.id,
          storageAccountType: (resource.sku as JsonObject | undefined)?.name ?? 'Standard_LRS',
        },
      },
      also: [],
    };
  }
  const diskSizeGB = given.diskSizeGB ?? (foldCase(given.createOption) === 'fromimage' ? 30 : undefined);
  if (diskSizeGB === undefined) throw missingParameter('disk.diskSizeGB');
  const name = given.name ?? `${prefix}${randomUUID().replaceAll('-', '')}`;
  const storageAccountType = given.managedDisk?.storageAccountType ?? 'Standard_LRS';
  if (isEphemeral)
    return { kept: { ...given, ...defaults, name, diskSizeGB, managedDisk: { storageAccountType } }, also: [] };
  const group = id.text.split('/').slice(0, 5).join('/');
  const diskId = `${group}/providers/Microsoft.Compute/disks/${name}`;
  if (!parseResourceId(diskId).ok) throw invalidValue('disk.name', name);
  const set = given.managedDisk?.diskEncryptionSet?.id;
  return {
    kept: {
      ...given,
      ...defaults,
      name,
      diskSizeGB,
      managedDisk: { ...given.managedDisk, id: diskId, storageAccountType },
    },
    also: [
      {
        kind: 'put',
        id: diskId,
        body: {
          location,
          ...(zones === undefined ? {} : { zones }),
          sku: { name: storageAccountType },
          properties: {
            ...more,
            creationData: { createOption: foldCase(given.createOption) === 'fromimage' ? 'FromImage' : 'Empty' },
            diskSizeGB,
            ...(set === undefined
              ? {}
              : { encryption: { type: 'EncryptionAtRestWithCustomerKey', diskEncryptionSetId: set } }),
          },
        },
      },
    ],
  };
}

async function demandFree(world: World, id: ResourceId, diskId: string): Promise<void> {
  for (const { type, resource } of await usersOf(world, diskId)) {
    if (!type.startsWith('microsoft.compute/virtualmachine') || idKey(resource.id) === id.key) continue;
    throw new ArmError(
      409,
      'ConflictingUserInput',
      `Disk '${diskId}' cannot be attached as the disk is already owned by VM '${resource.id}'.`,
      { target: diskId },
    );
  }
}

async function checkImage(world: World, { id }: StoragePlace, image: Profile['imageReference']): Promise<void> {
  if (image === undefined) throw missingParameter('imageReference');
  if (image.id === undefined) {
    const missing = (['publisher', 'offer', 'sku', 'version'] as const).find((name) => image[name] === undefined);
    if (missing !== undefined) throw missingParameter(`imageReference.${missing}`);
    return;
  }
  const parsed = parseResourceId(image.id);
  const isOurs = parsed.ok && /^microsoft\.compute\/(images|galleries\/images(\/versions)?)$/i.test(parsed.id.type);
  if (!parsed.ok || !isOurs)
    throw new ArmError(
      400,
      'InvalidParameter',
      `The image reference '${image.id.slice(0, 200)}' of ${id.text} is not valid.`,
      {
        target: 'imageReference.id',
      },
    );
  if ((await world.resources.read(parsed.id.key)) === undefined)
    throw new ArmError(
      404,
      'GalleryImageNotFound',
      `The gallery image ${image.id} is not available or could not be found.`,
      { target: 'imageReference' },
    );
}

function exactImage(image: NonNullable<Profile['imageReference']>): JsonObject {
  const { version } = image;
  return version === undefined ? image : { ...image, exactVersion: version === 'latest' ? '1.0.0' : version };
}

export function spelt(name: string, value: string, values: readonly string[]): string {
  const fit = values.find((one) => foldCase(one) === foldCase(value));
  if (fit === undefined) throw invalidValue(name, value);
  return fit;
}
