// Vaults that were deleted and can be got back until they are purged, by hand or when their time is over.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Document } from '../../../store/store.ts';
import type { ProviderRoute, RouteRequest } from '../kernel/provider.ts';
import type { JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { cloudPartition, type DeletedVaultBody, openObjects, upsert } from './objects.ts';

function idOf(name: string): string {
  return `deleted-vaults/${name.toLowerCase()}`;
}

export async function readDeleted(world: World, name: string): Promise<Document<DeletedVaultBody> | undefined> {
  const objects = await openObjects(world);
  const document = await objects.read({ partition: cloudPartition, id: idOf(name) });
  return document?.body.kind === 'deletedVault' ? { ...document, body: document.body } : undefined;
}

/** Remembers a vault that is going. Asked again it does nothing new. */
export async function rememberDeleted(world: World, { resource }: ResourceRecord): Promise<void> {
  const objects = await openObjects(world);
  const { id, name, location = '', properties = {} } = resource;
  const days = properties.softDeleteRetentionInDays;
  const now = world.clock.now();
  const body: DeletedVaultBody = {
    kind: 'deletedVault',
    list: 'vaults',
    name,
    subscriptionId: id.split('/')[2] ?? '',
    vaultId: id,
    location,
    deletionDate: now,
    dueAt: now + (typeof days === 'number' ? days : 90) * 86_400_000,
    purgeProtection: properties.enablePurgeProtection === true,
    resource: { ...resource },
  };
  const there = await readDeleted(world, name);
  try {
    await objects.batch(cloudPartition, [upsert(there, idOf(name), body)]);
  } catch (error) {
    // Another run of the same was faster.
    if (!isStoreError(error, 'Changed', 'Exists', 'NotFound')) throw error;
  }
}

export async function forgetDeleted(world: World, name: string): Promise<void> {
  const there = await readDeleted(world, name);
  if (there === undefined) return;
  const objects = await openObjects(world);
  try {
    await objects.delete(there);
  } catch (error) {
    if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
  }
}

/** Takes away what is in the vault, then the memory of it. */
export async function purgeVault(world: World, name: string): Promise<void> {
  const objects = await openObjects(world);
  const partition = name.toLowerCase();
  for (;;) {
    const { documents } = await objects.query({ partition, limit: 90 });
    if (documents.length === 0) break;
    await objects.batch(
      partition,
      documents.map((version) => ({ kind: 'delete', version })),
    );
  }
  await forgetDeleted(world, name);
}

function shape({
  name,
  subscriptionId,
  vaultId,
  location,
  deletionDate,
  dueAt,
  purgeProtection,
  resource,
}: DeletedVaultBody): JsonObject {
  return {
    id: `/subscriptions/${subscriptionId}/providers/Microsoft.KeyVault/locations/${location}/deletedVaults/${name}`,
    name,
    type: 'Microsoft.KeyVault/deletedVaults',
    properties: {
      vaultId,
      location,
      tags: resource.tags ?? {},
      deletionDate: new Date(deletionDate).toISOString(),
      scheduledPurgeDate: new Date(dueAt).toISOString(),
      ...(purgeProtection ? { purgeProtectionEnabled: true } : {}),
    },
  };
}

async function demand({ world, parameters, subscriptionId }: RouteRequest): Promise<Document<DeletedVaultBody>> {
  const { name = '', location = '' } = parameters;
  const found = await readDeleted(world, name);
  if (
    found !== undefined &&
    foldCase(found.body.subscriptionId) === foldCase(subscriptionId ?? '') &&
    foldCase(found.body.location) === foldCase(location)
  )
    return found;
  throw new ArmError(404, 'DeletedVaultNotFound', `The specified deleted vault '${name.slice(0, 64)}' does not exist.`);
}

export function deletedVaultRoutes(apiVersions: readonly string[]): readonly ProviderRoute[] {
  return [
    {
      method: 'GET',
      scope: 'subscription',
      path: 'deletedVaults',
      apiVersions,
      action: 'Microsoft.KeyVault/deletedVaults/read',
      async run({ world, subscriptionId = '' }) {
        const objects = await openObjects(world);
        const value: JsonObject[] = [];
        let continuation: string | undefined;
        do {
          const page = await objects.query({
            partition: cloudPartition,
            filter: { op: 'eq', field: ['list'], value: 'vaults' },
            limit: 1000,
            ...(continuation === undefined ? {} : { continuation }),
          });
          for (const { body } of page.documents) {
            if (body.kind === 'deletedVault' && foldCase(body.subscriptionId) === foldCase(subscriptionId))
              value.push(shape(body));
          }
          ({ continuation } = page);
        } while (continuation !== undefined);
        return { value };
      },
    },
    {
      method: 'GET',
      scope: 'subscription',
      path: 'locations/{location}/deletedVaults/{name}',
      apiVersions,
      action: 'Microsoft.KeyVault/locations/deletedVaults/read',
      run: async (request) => shape((await demand(request)).body),
    },
    {
      method: 'POST',
      scope: 'subscription',
      path: 'locations/{location}/deletedVaults/{name}/purge',
      apiVersions,
      action: 'Microsoft.KeyVault/locations/deletedVaults/purge/action',
      async run(request) {
        const { body } = await demand(request);
        if (body.purgeProtection)
          throw new ArmError(
            400,
            'MethodNotAllowed',
            'Operation "DeletedVaultPurge" is not allowed because purge protection is enabled for this vault.',
          );
        await purgeVault(request.world, body.name);
        return undefined;
      },
    },
  ];
}
