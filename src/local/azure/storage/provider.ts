// Microsoft.Storage: accounts with their keys, blob containers as resources.
import { randomBytes } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase, parseResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import { dataPlaneHost } from '../cloud.ts';
import type { ActionRequest, Prepared, PrepareRequest, Provider, ResourceType } from '../kernel/provider.ts';
import type { Json, JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { accountType } from './account.ts';
import { accountSas, serviceSas } from './account-sas.ts';
import { dropAll, dropContainer, makeContainer, piecesOf } from './containers.ts';
import { openContents } from './contents.ts';
import { openDocuments, readContainer } from './documents.ts';

const apiVersions = [
  ...[
    '2025-08-01',
    '2025-06-01',
    '2025-01-01',
    '2024-01-01',
    '2023-05-01',
    '2023-04-01',
    '2023-01-01',
    '2022-09-01',
    '2022-05-01',
  ],
  ...[
    '2021-09-01',
    '2021-08-01',
    '2021-06-01',
    '2021-05-01',
    '2021-04-01',
    '2021-02-01',
    '2021-01-01',
    '2020-08-01-preview',
  ],
  ...['2019-06-01', '2019-04-01', '2018-11-01', '2018-07-01', '2018-02-01', '2017-10-01', '2017-06-01', '2016-12-01'],
  ...['2016-05-01', '2016-01-01', '2015-06-15'],
];

const nameForm = /^[a-z0-9]{3,24}$/;
const nameRule =
  'Storage account name must be between 3 and 24 characters in length and use numbers and lower-case letters only.';
const skus = [
  'Standard_LRS',
  'Standard_GRS',
  'Standard_RAGRS',
  'Standard_ZRS',
  'Premium_LRS',
  'Premium_ZRS',
  'Standard_GZRS',
  'Standard_RAGZRS',
];
const kinds = ['Storage', 'StorageV2', 'BlobStorage', 'FileStorage', 'BlockBlobStorage'];

const accounts: ResourceType = {
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
  prepare: prepareAccount,
  async effect(world, { kind, record }) {
    const { name } = record.resource;
    if (kind === 'delete') {
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

function prepareAccount({ world, id, body, current }: PrepareRequest): Prepared {
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
  const { identity, tags, extendedLocation } = body;
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

function subnetsOf(acls: unknown): { readonly [id: string]: string } {
  const rules = isRecord(acls) && Array.isArray(acls.virtualNetworkRules) ? acls.virtualNetworkRules : [];
  const found: { [id: string]: string } = {};
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

/** `default` is there without being written. */
function service(type: string, defaults: JsonObject): ResourceType {
  return {
    type,
    apiVersions,
    scope: 'resourceGroup',
    location: 'none',
    name: { form: /^default$/i, rule: "The name is 'default'." },
    provisioningState: false,
    patch: 'merge',
    prepare({ body }) {
      const given = isRecord(body.properties) ? (body.properties as JsonObject) : {};
      return { resource: { properties: { ...defaults, ...given } }, references: {} };
    },
  };
}

const containers: ResourceType = {
  type: 'storageAccounts/blobServices/containers',
  apiVersions,
  scope: 'resourceGroup',
  location: 'none',
  name: {
    form: /^(?:\$root|\$web|[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9])){2,62})$/,
    rule: 'Container names have 3 to 63 lower-case letters, digits and single hyphens.',
  },
  provisioningState: false,
  patch: 'merge',
  prepare({ body }) {
    const given = isRecord(body.properties) ? (body.properties as JsonObject) : {};
    return {
      resource: {
        properties: {
          defaultEncryptionScope: '$account-encryption-key',
          denyEncryptionScopeOverride: false,
          publicAccess: 'None',
          leaseStatus: 'Unlocked',
          leaseState: 'Available',
          hasImmutabilityPolicy: false,
          hasLegalHold: false,
          ...given,
        },
      },
      references: {},
    };
  },
  async effect(world, { kind, id, record }) {
    const [account = '', , container = ''] = id.names;
    const documents = await openDocuments(world);
    const name = account.toLowerCase();
    if (kind === 'delete') {
      await dropContainer(documents, await openContents(world, 'storage'), name, container);
      return undefined;
    }
    await makeContainer(documents, name, container, world.clock.now());
    const access = foldCase(String(record.resource.properties?.publicAccess ?? 'none'));
    const found = await readContainer(documents, name, container);
    if (found !== undefined) {
      const { publicAccess: _before, ...rest } = found.body;
      await documents.replace(
        found,
        access === 'blob' || access === 'container' ? { ...rest, publicAccess: access } : rest,
      );
    }
    return undefined;
  },
};

/** Removes files that a crash left behind: written, and then named by no blob. */
async function sweepContents(world: World): Promise<void> {
  const documents = await openDocuments(world);
  const contents = await openContents(world, 'storage');
  if (contents.before.length === 0) return;
  const inUse = new Set<string>();
  let continuation: string | undefined;
  do {
    const page = await documents.query({ limit: 500, ...(continuation === undefined ? {} : { continuation }) });
    for (const { body } of page.documents)
      for (const piece of piecesOf(body)) if ('file' in piece) inUse.add(piece.file);
    ({ continuation } = page);
    if (world.stopping.aborted) return;
  } while (continuation !== undefined);
  const removed = await contents.sweep(inUse);
  if (removed > 0) world.logger.info({ removed }, 'contents that no blob has were removed');
}

export const storageProvider: Provider = {
  namespace: 'Microsoft.Storage',
  types: [
    accounts,
    service('storageAccounts/blobServices', { cors: { corsRules: [] }, deleteRetentionPolicy: { enabled: false } }),
    service('storageAccounts/fileServices', {
      protocolSettings: { smb: {} },
      shareDeleteRetentionPolicy: { enabled: true, days: 7 },
    }),
    containers,
    {
      type: 'storageAccounts/managementPolicies',
      apiVersions,
      scope: 'resourceGroup',
      location: 'none',
      provisioningState: false,
    },
  ],
  routes: [
    {
      method: 'POST',
      scope: 'subscription',
      path: 'checkNameAvailability',
      apiVersions,
      action: 'Microsoft.Storage/checknameavailability/read',
      async run({ world, body }) {
        const name = typeof body?.name === 'string' ? body.name : '';
        if (!nameForm.test(name))
          return {
            nameAvailable: false,
            reason: 'AccountNameInvalid',
            message: `${name.slice(0, 64)} is not a valid storage account name. ${nameRule}`,
          };
        const isTaken = (await world.resources.named(accountType, name)) !== undefined;
        return isTaken
          ? {
              nameAvailable: false,
              reason: 'AlreadyExists',
              message: `The storage account named ${name} is already taken.`,
            }
          : { nameAvailable: true };
      },
    },
    {
      method: 'GET',
      scope: 'subscription',
      path: 'skus',
      apiVersions,
      action: 'Microsoft.Storage/skus/read',
      run: async ({ world }) => ({
        value: skus.map((name) => ({
          resourceType: 'storageAccounts',
          name,
          tier: name.startsWith('Premium') ? 'Premium' : 'Standard',
          kind: 'StorageV2',
          locations: world.cloud.locations.map((location) => location.name),
          capabilities: [],
          restrictions: [],
        })),
      }),
    },
    {
      method: 'GET',
      scope: 'subscription',
      path: 'locations/{location}/usages',
      apiVersions,
      action: 'Microsoft.Storage/locations/usages/read',
      async run({ world, subscriptionId, parameters }) {
        const all = await world.resources.list({
          type: accountType,
          ...(subscriptionId === undefined ? {} : { subscriptionId }),
        });
        const here = all.filter(
          ({ resource }) => foldCase(resource.location ?? '') === foldCase(parameters.location ?? ''),
        );
        return {
          value: [
            {
              unit: 'Count',
              currentValue: here.length,
              limit: 250,
              name: { value: 'StorageAccounts', localizedValue: 'Storage Accounts' },
            },
          ],
        };
      },
    },
  ],
  async start(world) {
    await sweepContents(world);
  },
};
