// Storage accounts as resources, with their keys.
import { randomBytes } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase, parseResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import { dataPlaneHost } from '../cloud.ts';
import type { ActionRequest, Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { Json, JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { dropIdentity, linkedIdentities, resolveIdentity } from '../managed-identity/resource-identity.ts';
import { accountSas, serviceSas } from './account-sas.ts';
import { apiVersions } from './api-versions.ts';
import { dropAll } from './containers.ts';
import { openContents } from './contents.ts';
import { openDocuments } from './documents.ts';

export const nameForm = /^[a-z0-9]{3,24}$/;
export const nameRule =
  'Storage account name must be between 3 and 24 characters in length and use numbers and lower-case letters only.';

export const skus = [
  'Standard_LRS',
  'Standard_GRS',
  'Standard_RAGRS',
  'Standard_ZRS',
  'Premium_LRS',
  'Premium_ZRS',
  'Standard_GZRS',
  'Standard_RAGZRS',
];

const maxNetworkRules = 400;

const kinds = ['Storage', 'StorageV2', 'BlobStorage', 'FileStorage', 'BlockBlobStorage'];

export const accounts: ResourceType = {
  type: 'storageAccounts',
  apiVersions,
  createdStatus: 202,
  scope: 'resourceGroup',
  location: 'required',
  name: { form: nameForm, rule: nameRule },
  globallyNamed: true,
  nameTaken: (name) =>
    new ArmError(409, 'StorageAccountAlreadyTaken', `The storage account named ${name} is already taken.`),
  schema: Type.Object({
    sku: Type.Optional(Type.Object({ name: Type.String() })),
    kind: Type.Optional(Type.String()),
    properties: Type.Optional(Type.Union([Type.Object({}), Type.Null()])),
  }),
  asynchrony: { create: 'operation', update: 'none', delete: 'none', headers: 'Location' },
  patch: 'merge',
  linkedAccess: (body) => [...linkedIdentities(body), ...linkedSubnets(body)],
  prepare: prepareAccount,
  async effect(world, { kind, record }) {
    const { name } = record.resource;
    if (kind === 'delete') {
      await dropIdentity(world, record);
      await dropAll(await openDocuments(world), await openContents(world, 'storage'), name, '');
      return undefined;
    }
    return undefined;
  },
  actions: {
    listkeys: { run: async ({ record, world }) => keysShape(world, record) },
    regeneratekey: { run: regenerateKey },
    listaccountsas: { run: accountSas },
    listservicesas: { run: serviceSas },
  },
};

async function prepareAccount({ world, id, body, current }: PrepareRequest): Promise<Prepared> {
  const sku = isRecord(body.sku) ? String(body.sku.name ?? '') : '';
  const known = skus.find((one) => foldCase(one) === foldCase(sku));
  if (known === undefined)
    throw new ArmError(
      400,
      'InvalidParameterValue',
      `The sku '${sku.slice(0, 64)}' of the storage account is not one of: ${skus.join(', ')}.`,
    );
  const asked = typeof body.kind === 'string' ? body.kind : 'StorageV2';
  const kind = kinds.find((one) => foldCase(one) === foldCase(asked));
  if (kind === undefined)
    throw new ArmError(
      400,
      'InvalidParameterValue',
      `The kind '${asked.slice(0, 64)}' of the storage account is not one of: ${kinds.join(', ')}.`,
    );
  if (current !== undefined && current.resource.kind !== kind && current.resource.kind !== 'Storage')
    throw new ArmError(
      409,
      'AccountPropertyCannotBeUpdated',
      "The property 'kind' was specified in the input, but it cannot be updated.",
    );
  const given: JsonObject = isRecord(body.properties) ? (body.properties as JsonObject) : {};
  const before = current?.resource.properties ?? {};
  const now = new Date(world.clock.now()).toISOString();
  const location = typeof body.location === 'string' ? body.location : '';
  const properties: JsonObject = {
    minimumTlsVersion: 'TLS1_2',
    allowBlobPublicAccess: false,
    allowSharedKeyAccess: true,
    supportsHttpsTrafficOnly: true,
    accessTier: 'Hot',
    networkAcls: { bypass: 'AzureServices', virtualNetworkRules: [], ipRules: [], defaultAction: 'Allow' },
    publicNetworkAccess: 'Enabled',
    encryption: {
      services: {
        file: { keyType: 'Account', enabled: true, lastEnabledTime: now },
        blob: { keyType: 'Account', enabled: true, lastEnabledTime: now },
      },
      keySource: 'Microsoft.Storage',
    },
    ...given,
    keyCreationTime: before.keyCreationTime ?? { key1: now, key2: now },
    creationTime: before.creationTime ?? now,
    primaryLocation: before.primaryLocation ?? location,
    statusOfPrimary: 'available',
    primaryEndpoints: endpoints(world, id.name),
  };
  const { tags, extendedLocation } = body;
  const identity = await resolveIdentity(world, id, body.identity, current?.resource.identity);
  return {
    resource: {
      location,
      ...(isRecord(tags) ? { tags: tags as { readonly [name: string]: string } } : {}),
      ...(identity === undefined ? {} : { identity }),
      ...(extendedLocation === undefined ? {} : { extendedLocation }),
      sku: { name: known, tier: known.startsWith('Premium') ? 'Premium' : 'Standard' },
      kind,
      properties,
    },
    secrets: current?.secrets ?? { key1: newKey(), key2: newKey(), delegation: newKey() },
    references: subnetsOf(properties.networkAcls),
    // The services of an account are there with it.
    ...(current === undefined
      ? {
          also: ['blobServices', 'fileServices'].map((type) => ({
            kind: 'put' as const,
            id: `${id.text}/${type}/default`,
            body: { properties: {} },
          })),
        }
      : {}),
  };
}

function newKey(): Secret<string> {
  return new Secret(randomBytes(64).toString('base64'));
}

function endpoints({ cloud }: World, name: string): JsonObject {
  const other = (service: string): string => `https://${name.toLowerCase()}.${service}.storage.${cloud.suffix}/`;
  return {
    dfs: other('dfs'),
    web: `https://${dataPlaneHost(cloud, 'web', name)}/`,
    blob: `https://${dataPlaneHost(cloud, 'blob', name)}/`,
    queue: other('queue'),
    table: other('table'),
    file: other('file'),
  };
}

/** Letting a subnet in takes a right on it. */
function linkedSubnets({ properties }: JsonObject): readonly { readonly id: string; readonly action: string }[] {
  const action = 'Microsoft.Network/virtualNetworks/subnets/joinViaServiceEndpoint/action';
  return Object.keys(subnetsOf(isRecord(properties) ? properties.networkAcls : undefined)).map((id) => ({
    id,
    action,
  }));
}

function subnetsOf(acls: unknown): { readonly [id: string]: string } {
  const rules = isRecord(acls) && Array.isArray(acls.virtualNetworkRules) ? acls.virtualNetworkRules : [];
  const found: { [id: string]: string } = {};
  if (rules.length > maxNetworkRules)
    throw new ArmError(
      400,
      'InvalidValuesForRequestParameters',
      `A storage account can have ${maxNetworkRules} virtual network rules at the most.`,
    );
  for (const rule of rules as readonly unknown[]) {
    const parsed = isRecord(rule) && typeof rule.id === 'string' ? parseResourceId(rule.id) : undefined;
    if (parsed?.ok) found[parsed.id.key] = 'properties.networkAcls.virtualNetworkRules.id';
  }
  return found;
}

function keysShape(_world: World, { resource, secrets = {} }: ActionRequest['record']): Json {
  const times = (resource.properties?.keyCreationTime ?? {}) as JsonObject;
  return {
    keys: ['key1', 'key2'].map((keyName) => ({
      keyName,
      value: secrets[keyName]?.reveal() ?? '',
      permissions: 'FULL',
      creationTime: times[keyName] ?? null,
    })),
  };
}

async function regenerateKey({ world, id, body }: ActionRequest): Promise<Json | undefined> {
  const keyName = typeof body?.keyName === 'string' ? body.keyName.toLowerCase() : '';
  if (keyName !== 'key1' && keyName !== 'key2')
    throw new ArmError(400, 'InvalidValues', 'The key name must be one of: key1, key2.');
  const changed = await world.resources.change(id.text, (record) => {
    const properties = record.resource.properties ?? {};
    const times = {
      ...(properties.keyCreationTime as JsonObject | undefined),
      [keyName]: new Date(world.clock.now()).toISOString(),
    };
    return {
      ...record,
      secrets: { ...record.secrets, [keyName]: newKey() },
      resource: { ...record.resource, properties: { ...properties, keyCreationTime: times } },
    };
  });
  return changed === undefined ? undefined : keysShape(world, changed);
}
