// Disk encryption sets: a key of a vault, and the identity that reads it.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import { dataPlaneHost } from '../cloud.ts';
import type { Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { linkedIdentities } from '../managed-identity/resource-identity.ts';
import { joinRights } from '../network/linked-rights.ts';
import { withoutNulls } from '../network/request-body.ts';
import { inUseError, referencesOf } from '../network/users.ts';
import { diskVersions } from './api-versions.ts';
import { slowType } from './base-type.ts';
import { ownIdentity, settleIdentity, shownIdentity } from './identities.ts';
import { spelt } from './machine-storage.ts';
import { missingParameter, shaped } from './request-body.ts';

const properties = Type.Object({
  activeKey: Type.Optional(
    Type.Object({
      keyUrl: Type.String(),
      sourceVault: Type.Optional(Type.Object({ id: Type.Optional(Type.String()) })),
    }),
  ),
  encryptionType: Type.Optional(Type.String()),
  rotationToLatestKeyVersionEnabled: Type.Optional(Type.Boolean()),
});

const types = [
  'EncryptionAtRestWithCustomerKey',
  'EncryptionAtRestWithPlatformAndCustomerKeys',
  'ConfidentialVmEncryptedWithCustomerKey',
];

async function prepare({ world, id, body, current }: PrepareRequest): Promise<Prepared> {
  const { properties: _, ...rest } = body;
  const {
    previousKeys: __,
    lastKeyRotationTimestamp: ___,
    provisioningState: ____,
    [ownIdentity]: _____,
    ...plain
  } = (withoutNulls(body) as { readonly properties?: JsonObject }).properties ?? {};
  const given = shaped(properties, plain);
  if (given.activeKey === undefined) throw missingParameter('activeKey');
  await checkKey(world, id, given.activeKey.keyUrl, given.activeKey.sourceVault?.id);
  const kept: JsonObject = {
    ...plain,
    encryptionType: spelt('encryptionType', given.encryptionType ?? 'EncryptionAtRestWithCustomerKey', types),
    rotationToLatestKeyVersionEnabled: given.rotationToLatestKeyVersionEnabled ?? false,
    previousKeys: current?.resource.properties?.previousKeys ?? [],
    ...(current?.resource.properties?.[ownIdentity] === undefined
      ? {}
      : { [ownIdentity]: current.resource.properties[ownIdentity] }),
  };
  return { resource: { ...rest, properties: kept }, references: referencesOf(id, kept) };
}

/** A key of a vault of this cloud must be of the vault that is named; vaults elsewhere are not looked at. */
async function checkKey(world: World, id: ResourceId, keyUrl: string, vault: string | undefined): Promise<void> {
  if (!URL.canParse(keyUrl) || !/^\/keys\/[^/]+(\/[^/]*)?$/.test(new URL(keyUrl).pathname))
    throw new ArmError(400, 'InvalidParameter', `The key URL of disk encryption set ${id.name} is not valid.`, {
      target: 'activeKey.keyUrl',
    });
  const host = new URL(keyUrl).hostname.toLowerCase();
  if (vault === undefined) return;
  const parsed = parseResourceId(vault);
  if (!parsed.ok || foldCase(parsed.id.type) !== 'microsoft.keyvault/vaults')
    throw new ArmError(400, 'InvalidParameter', `The source vault of disk encryption set ${id.name} is not valid.`, {
      target: 'activeKey.sourceVault.id',
    });
  const isLocal = host.endsWith(`.${world.cloud.suffix}`);
  if (!isLocal) return;
  if ((await world.resources.read(parsed.id.key)) === undefined)
    throw new ArmError(
      404,
      'KeyVaultNotFound',
      `The key vault ${vault} of disk encryption set ${id.name} was not found.`,
    );
  if (host !== dataPlaneHost(world.cloud, 'vault', parsed.id.name))
    throw new ArmError(
      400,
      'InvalidParameter',
      `The key URL of disk encryption set ${id.name} is not one of the key vault ${parsed.id.name}.`,
      { target: 'activeKey.keyUrl' },
    );
}

async function show(world: World, { resource }: ResourceRecord): Promise<ArmResource> {
  const { [ownIdentity]: _, ...shown } = resource.properties ?? {};
  return { ...resource, ...(await shownIdentity(world, resource)), properties: shown };
}

export const diskEncryptionSets: ResourceType = {
  ...slowType,
  type: 'diskEncryptionSets',
  apiVersions: diskVersions,
  createdStatus: 202,
  prepare,
  show,
  effect: (world, event) => settleIdentity(world, event),
  linkedAccess: (body, id) => [...joinRights(body, id), ...linkedIdentities(body)],
  inUse: inUseError(
    'OperationNotAllowed',
    'Disk encryption set',
    'Delete these disks or encrypt them otherwise first.',
  ),
  // A vault may go although sets name it; their disks are lost then, as in Azure.
  holds: () => false,
};
