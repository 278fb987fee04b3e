// Microsoft.ContainerRegistry: registries, who may use them, and what is kept about them.
import { randomBytes } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import { dataPlaneHost } from '../cloud.ts';
import type { ActionRequest, Prepared, PrepareRequest, Provider, ResourceType } from '../kernel/provider.ts';
import type { Json, JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { dropIdentity, linkedIdentities, resolveIdentity } from '../managed-identity/resource-identity.ts';
import { openContents, type Piece } from '../storage/contents.ts';
import { openDocuments, type RegistryBody } from './documents.ts';
import { importImage } from './import-image.ts';
import { registryType } from './registry.ts';

const apiVersions = [
  ...['2025-11-01', '2025-04-01', '2024-11-01-preview', '2023-11-01-preview', '2023-08-01-preview', '2023-07-01'],
  ...[
    '2023-06-01-preview',
    '2023-01-01-preview',
    '2022-12-01',
    '2021-09-01',
    '2021-08-01-preview',
    '2020-11-01-preview',
  ],
  ...['2019-12-01-preview', '2019-05-01', '2017-10-01'],
];
const nameForm = /^[a-zA-Z0-9]{5,50}$/;
const nameRule = 'Registry names may contain alpha numeric characters only and must be between 5 and 50 characters.';
const skus = ['Basic', 'Standard', 'Premium'];
const operation = { create: 'operation', update: 'operation', delete: 'operation' } as const;

const registries: ResourceType = {
  type: 'registries',
  apiVersions,
  scope: 'resourceGroup',
  location: 'required',
  name: { form: nameForm, rule: nameRule },
  globallyNamed: true,
  nameTaken: (name) =>
    new ArmError(
      409,
      'AlreadyInUse',
      `The registry DNS name ${name} is already in use. You can check if the name is already claimed using the name check.`,
    ),
  schema: Type.Object({
    sku: Type.Object({ name: Type.String() }),
    properties: Type.Optional(
      Type.Union([
        Type.Object({
          adminUserEnabled: Type.Optional(Type.Boolean()),
          anonymousPullEnabled: Type.Optional(Type.Boolean()),
        }),
        Type.Null(),
      ]),
    ),
  }),
  asynchrony: operation,
  patch: 'merge',
  linkedAccess: linkedIdentities,
  prepare: prepareRegistry,
  async effect(world, { kind, record }) {
    if (kind !== 'delete') return undefined;
    await dropIdentity(world, record);
    await dropRegistry(world, record.resource.name.toLowerCase());
    return undefined;
  },
  actions: {
    listcredentials: { run: async (request) => credentials(request.record) },
    regeneratecredential: { run: regenerateCredential },
    generatecredentials: { asynchronous: true, run: generateCredentials },
    importimage: { asynchronous: true, run: importImage },
  },
};

async function prepareRegistry({ world, id, body, current }: PrepareRequest): Promise<Prepared> {
  const asked = isRecord(body.sku) ? String(body.sku.name ?? '') : '';
  const sku = skus.find((one) => foldCase(one) === foldCase(asked));
  if (sku === undefined)
    throw new ArmError(400, 'InvalidSku', `The SKU '${asked.slice(0, 64)}' is not one of: ${skus.join(', ')}.`);
  const given: JsonObject = isRecord(body.properties) ? (body.properties as JsonObject) : {};
  if (given.anonymousPullEnabled === true && sku === 'Basic')
    throw new ArmError(
      400,
      'FeatureNotAllowed',
      'Anonymous pull is available in registries of SKU Standard and Premium.',
    );
  const before = current?.resource.properties ?? {};
  const identity = await resolveIdentity(world, id, body.identity, current?.resource.identity);
  const disabled = { status: 'disabled' };
  return {
    resource: {
      location: String(body.location ?? ''),
      ...(isRecord(body.tags) ? { tags: body.tags as { readonly [name: string]: string } } : {}),
      ...(identity === undefined ? {} : { identity }),
      sku: { name: sku, tier: sku },
      properties: {
        adminUserEnabled: false,
        policies: {
          quarantinePolicy: disabled,
          trustPolicy: { type: 'Notary', status: 'disabled' },
          retentionPolicy: { days: 7, status: 'disabled' },
          exportPolicy: { status: 'enabled' },
        },
        encryption: disabled,
        dataEndpointEnabled: false,
        publicNetworkAccess: 'Enabled',
        networkRuleBypassOptions: 'AzureServices',
        zoneRedundancy: 'Disabled',
        anonymousPullEnabled: false,
        ...given,
        loginServer: dataPlaneHost(world.cloud, 'registry', id.name),
        dataEndpointHostNames: [],
        creationDate: before.creationDate ?? new Date(world.clock.now()).toISOString(),
      },
    },
    secrets: current?.secrets ?? { password: newPassword(), password2: newPassword(), tokenKey: newPassword() },
    references: {},
  };
}

function newPassword(): Secret<string> {
  return new Secret(randomBytes(36).toString('base64'));
}

function credentials({ resource, secrets = {} }: ActionRequest['record']): Json {
  if (resource.properties?.adminUserEnabled !== true)
    throw new ArmError(
      400,
      'UnAuthorizedForCredentialOperations',
      `Admin user is not enabled for the registry '${resource.name}'.`,
    );
  return {
    username: resource.name,
    passwords: ['password', 'password2'].map((name) => ({ name, value: secrets[name]?.reveal() ?? '' })),
  };
}

async function regenerateCredential({ world, id, body, record }: ActionRequest): Promise<Json> {
  credentials(record);
  const name = body?.name;
  if (name !== 'password' && name !== 'password2')
    throw new ArmError(400, 'InvalidParameters', 'The password to regenerate must be one of: password, password2.');
  const changed = await world.resources.change(id.text, (kept) => ({
    ...kept,
    secrets: { ...kept.secrets, [name]: newPassword() },
  }));
  return credentials(changed ?? record);
}

async function generateCredentials({ world, id, body }: ActionRequest): Promise<Json> {
  const tokenId = typeof body?.tokenId === 'string' ? body.tokenId : '';
  if (!foldCase(tokenId).startsWith(`${id.key}/tokens/`))
    throw new ArmError(400, 'InvalidParameters', 'The token is not one of this registry.');
  const wanted = body?.name === undefined ? ['password1', 'password2'] : [String(body.name)];
  if (wanted.some((name) => name !== 'password1' && name !== 'password2'))
    throw new ArmError(400, 'InvalidParameters', 'The password to generate must be one of: password1, password2.');
  const made = new Map(wanted.map((name) => [name, newPassword()]));
  const creationTime = new Date(world.clock.now()).toISOString();
  const expiry = typeof body?.expiry === 'string' ? { expiry: body.expiry } : {};
  const changed = await world.resources.change(tokenId, (kept) => {
    const properties = kept.resource.properties ?? {};
    const before = ((properties.credentials as JsonObject | undefined)?.passwords ?? []) as readonly JsonObject[];
    const passwords = [
      ...before.filter(({ name }) => !made.has(String(name))),
      ...wanted.map((name) => ({ name, creationTime, ...expiry })),
    ];
    return {
      ...kept,
      secrets: { ...kept.secrets, ...Object.fromEntries(made) },
      resource: { ...kept.resource, properties: { ...properties, credentials: { passwords } } },
    };
  });
  if (changed === undefined) throw new ArmError(404, 'ResourceNotFound', 'The token was not found.');
  return {
    username: changed.resource.name,
    passwords: wanted.map((name) => ({ name, creationTime, ...expiry, value: made.get(name)?.reveal() ?? '' })),
  };
}

const tokens: ResourceType = {
  type: 'registries/tokens',
  apiVersions,
  scope: 'resourceGroup',
  location: 'none',
  name: { form: /^[a-zA-Z0-9-]{5,50}$/, rule: 'Token names have 5 to 50 letters, digits and hyphens.' },
  asynchrony: operation,
  patch: 'merge',
  prepare({ body, current, world }) {
    const given: JsonObject = isRecord(body.properties) ? (body.properties as JsonObject) : {};
    const { scopeMapId } = given;
    const before = current?.resource.properties ?? {};
    return {
      resource: {
        properties: {
          status: 'enabled',
          ...given,
          // Passwords are made by the registry, never written.
          ...(before.credentials === undefined ? {} : { credentials: before.credentials }),
          creationDate: before.creationDate ?? new Date(world.clock.now()).toISOString(),
        },
      },
      ...(current?.secrets === undefined ? {} : { secrets: current.secrets }),
      references: typeof scopeMapId === 'string' ? { [foldCase(scopeMapId)]: 'properties.scopeMapId' } : {},
    };
  },
};

const scopeMaps: ResourceType = {
  type: 'registries/scopeMaps',
  apiVersions,
  scope: 'resourceGroup',
  location: 'none',
  name: {
    form: /^[a-zA-Z0-9_-]{5,50}$/,
    rule: 'Scope map names have 5 to 50 letters, digits, hyphens and underscores.',
  },
  schema: Type.Object({
    properties: Type.Object({ actions: Type.Array(Type.String({ maxLength: 512 }), { maxItems: 500 }) }),
  }),
  asynchrony: operation,
  patch: 'merge',
  prepare: ({ body, current, world }) => ({
    resource: {
      properties: {
        ...(isRecord(body.properties) ? (body.properties as JsonObject) : {}),
        type: 'UserDefined',
        creationDate: current?.resource.properties?.creationDate ?? new Date(world.clock.now()).toISOString(),
      },
    },
    references: {},
  }),
};

/** Kept as written. */
function kept(type: string, location: 'required' | 'none'): ResourceType {
  return {
    type,
    apiVersions,
    scope: 'resourceGroup',
    location,
    asynchrony: operation,
    patch: 'merge',
    linkedAccess: linkedIdentities,
  };
}

async function dropRegistry(world: World, name: string): Promise<void> {
  const documents = await openDocuments(world);
  const contents = await openContents(world, 'container-registry');
  for (;;) {
    const page = await documents.query({ partition: name, limit: 90 });
    if (page.documents.length === 0) return;
    await documents.batch(
      name,
      page.documents.map((version) => ({ kind: 'delete', version })),
    );
    await contents.remove(page.documents.flatMap(({ body }) => piecesOf(body)));
  }
}

function piecesOf(body: RegistryBody): readonly Piece[] {
  return body.kind === 'blob' || body.kind === 'upload' ? body.pieces : [];
}

/** Files that no blob and no upload names are of uploads that a crash ended. */
async function sweep(world: World): Promise<void> {
  const contents = await openContents(world, 'container-registry');
  if (contents.before.length === 0) return;
  const documents = await openDocuments(world);
  const inUse = new Set<string>();
  let continuation: string | undefined;
  do {
    const page = await documents.query({ limit: 500, ...(continuation === undefined ? {} : { continuation }) });
    for (const { body } of page.documents)
      for (const piece of piecesOf(body)) if ('file' in piece) inUse.add(piece.file);
    ({ continuation } = page);
  } while (continuation !== undefined && !world.stopping.aborted);
  if (!world.stopping.aborted) await contents.sweep(inUse);
}

export const containerRegistryProvider: Provider = {
  namespace: 'Microsoft.ContainerRegistry',
  types: [
    registries,
    tokens,
    scopeMaps,
    kept('registries/replications', 'required'),
    kept('registries/webhooks', 'required'),
    kept('registries/cacheRules', 'none'),
    kept('registries/credentialSets', 'none'),
  ],
  routes: [
    {
      method: 'POST',
      scope: 'subscription',
      path: 'checkNameAvailability',
      apiVersions,
      action: 'Microsoft.ContainerRegistry/checkNameAvailability/read',
      async run({ world, body }) {
        const name = typeof body?.name === 'string' ? body.name : '';
        if (!nameForm.test(name)) return { nameAvailable: false, reason: 'Invalid', message: nameRule };
        const isTaken = (await world.resources.named(registryType, name)) !== undefined;
        return isTaken
          ? { nameAvailable: false, reason: 'AlreadyExists', message: `The registry ${name} is already in use.` }
          : { nameAvailable: true };
      },
    },
    {
      method: 'GET',
      scope: 'resourceGroup',
      path: 'registries/{name}/listUsages',
      apiVersions,
      action: 'Microsoft.ContainerRegistry/registries/listUsages/read',
      async run({ world, parameters }) {
        const documents = await openDocuments(world);
        let size = 0;
        let continuation: string | undefined;
        do {
          const page = await documents.query({
            partition: (parameters.name ?? '-').toLowerCase(),
            filter: { op: 'eq', field: ['list'], value: 'blobs' },
            limit: 500,
            ...(continuation === undefined ? {} : { continuation }),
          });
          for (const { body } of page.documents) if (body.kind === 'blob') size += body.length;
          ({ continuation } = page);
        } while (continuation !== undefined);
        return {
          value: [
            { name: 'Size', limit: 500 * 1024 ** 3, currentValue: size, unit: 'Bytes' },
            { name: 'Webhooks', limit: 500, currentValue: 0, unit: 'Count' },
          ],
        };
      },
    },
  ],
  start: sweep,
};
