// Microsoft.KeyVault: vaults, what templates put into them, and the names that are still theirs after deletion.
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase, parseResourceId } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import { dataPlaneHost } from '../cloud.ts';
import type { Prepared, PrepareRequest, Provider, ResourceType } from '../kernel/provider.ts';
import type { Json, JsonObject } from '../kernel/record.ts';
import { deletedVaultRoutes, forgetDeleted, readDeleted, rememberDeleted } from './deleted-vaults.ts';
import { agendaOf } from './upkeep.ts';
import { vaultChildren } from './vault-children.ts';

const apiVersions = [
  ...[
    '2026-02-01',
    '2025-05-01',
    '2024-11-01',
    '2024-04-01-preview',
    '2023-07-01',
    '2023-02-01',
    '2022-11-01',
    '2022-07-01',
  ],
  ...[
    '2021-11-01-preview',
    '2021-10-01',
    '2021-06-01-preview',
    '2021-04-01-preview',
    '2020-04-01-preview',
    '2019-09-01',
  ],
  ...['2018-02-14', '2016-10-01', '2015-06-01'],
];

const vaultType = 'Microsoft.KeyVault/vaults';

const nameRule =
  'Vault name must be between 3-24 alphanumeric characters. The name must begin with a letter, end with a letter or digit, and not contain consecutive hyphens.';
const nameForm = /^(?=.{3,24}$)[a-zA-Z](?:[a-zA-Z0-9]|-(?!-))*[a-zA-Z0-9]$/;

const permissions = Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 64 }));
const accessPolicy = Type.Object({
  tenantId: Type.String(),
  objectId: Type.String({ minLength: 1 }),
  applicationId: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  permissions: Type.Object({
    keys: permissions,
    secrets: permissions,
    certificates: permissions,
    storage: permissions,
  }),
});
const schema = Type.Object({
  properties: Type.Object({
    tenantId: Type.Optional(Type.String()),
    sku: Type.Optional(Type.Object({ family: Type.Optional(Type.String()), name: Type.String() })),
    accessPolicies: Type.Optional(Type.Union([Type.Array(accessPolicy, { maxItems: 1024 }), Type.Null()])),
    enableRbacAuthorization: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    enableSoftDelete: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    softDeleteRetentionInDays: Type.Optional(Type.Union([Type.Integer({ minimum: 7, maximum: 90 }), Type.Null()])),
    enablePurgeProtection: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    createMode: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
});

const vaults: ResourceType = {
  type: 'vaults',
  apiVersions,
  scope: 'resourceGroup',
  location: 'required',
  name: { form: nameForm, rule: nameRule },
  globallyNamed: true,
  nameTaken: (name) =>
    new ArmError(
      409,
      'VaultAlreadyExists',
      `The vault name '${name}' is already in use. Vault names are globally unique so it is possible that the name is already taken. ` +
        'If you are sure that the vault name was not taken then it is possible that a vault with the same name was recently deleted but not purged after being placed in a recoverable state.',
    ),
  schema,
  patch: 'merge',
  prepare: prepareVault,
  async effect(world, { kind, record }) {
    if (kind === 'delete') await rememberDeleted(world, record);
    else if (kind === 'create') await forgetDeleted(world, record.resource.name);
    return undefined;
  },
  linkedAccess: () => [],
};

async function prepareVault({ world, id, body, current, caller }: PrepareRequest): Promise<Prepared> {
  let given: JsonObject = isRecord(body.properties) ? (body.properties as JsonObject) : {};
  let tags = body.tags;
  const mode = foldCase(String(given.createMode ?? 'default'));
  if (current === undefined) {
    const deleted = await readDeleted(world, id.name);
    if (deleted !== undefined && (mode !== 'recover' || foldCase(deleted.body.vaultId) !== id.key))
      throw new ArmError(
        409,
        'ConflictError',
        `A vault with the same name already exists in deleted state. You need to either recover or purge existing key vault. ` +
          `Follow this link https://go.microsoft.com/fwlink/?linkid=2149745 for more information on soft delete.`,
      );
    if (mode === 'recover') {
      if (deleted === undefined)
        throw new ArmError(404, 'DeletedVaultNotFound', `There is no deleted vault '${id.name}' to recover.`);
      const kept = deleted.body.resource;
      given = {
        ...(kept.properties as JsonObject | undefined),
        ...(given.accessPolicies === undefined ? {} : { accessPolicies: given.accessPolicies }),
      };
      tags = tags ?? kept.tags;
    }
  }
  const before: JsonObject = current?.resource.properties ?? {};
  if (before.enablePurgeProtection === true && given.enablePurgeProtection === false)
    throw badRequest(
      'The property "enablePurgeProtection" cannot be set to false. Enabling the purge protection for a vault is an irreversible action.',
    );
  if (given.enableSoftDelete === false)
    throw badRequest(
      'The property "enableSoftDelete" can be set to false only for creating new vault, which is no longer supported.',
    );
  if (given.sku === undefined && before.sku === undefined) throw badRequest('The parameter sku is not specified.');
  const retention = given.softDeleteRetentionInDays ?? before.softDeleteRetentionInDays ?? 90;
  if (before.softDeleteRetentionInDays !== undefined && retention !== before.softDeleteRetentionInDays)
    throw badRequest('The property "softDeleteRetentionInDays" has been set already and it can\'t be modified.');
  const isRbac = given.enableRbacAuthorization === true;
  if (given.accessPolicies === undefined && !isRbac && before.accessPolicies === undefined && mode === 'default')
    throw badRequest(
      "The parameter accessPolicies is not specified. It is required when 'enableRbacAuthorization' is not true.",
    );
  const {
    createMode: _mode,
    vaultUri: _uri,
    provisioningState: _state,
    enablePurgeProtection: _purge,
    hsmPoolResourceId: _pool,
    ...rest
  } = given;
  const isProtected = given.enablePurgeProtection === true || before.enablePurgeProtection === true;
  const properties: JsonObject = {
    ...rest,
    sku: (given.sku ?? before.sku) as Json,
    tenantId: given.tenantId ?? before.tenantId ?? caller.tenantId,
    accessPolicies: given.accessPolicies ?? before.accessPolicies ?? [],
    enabledForDeployment: given.enabledForDeployment ?? false,
    enableSoftDelete: true,
    softDeleteRetentionInDays: retention,
    enableRbacAuthorization: isRbac,
    ...(isProtected ? { enablePurgeProtection: true } : {}),
    publicNetworkAccess: given.publicNetworkAccess ?? 'Enabled',
    vaultUri: `https://${dataPlaneHost(world.cloud, 'vault', id.name)}/`,
  };
  return {
    resource: {
      ...(body.location === undefined ? {} : { location: String(body.location) }),
      ...(isRecord(tags) ? { tags: tags as { readonly [name: string]: string } } : {}),
      properties,
    },
    references: subnetsOf(properties.networkAcls),
  };
}

/** Subnets that the vault lets in, as what it uses. */
function subnetsOf(acls: unknown): { readonly [id: string]: string } {
  const rules = isRecord(acls) && Array.isArray(acls.virtualNetworkRules) ? acls.virtualNetworkRules : [];
  const found: { [id: string]: string } = {};
  for (const rule of rules as readonly unknown[]) {
    const parsed = isRecord(rule) && typeof rule.id === 'string' ? parseResourceId(rule.id) : undefined;
    if (parsed?.ok) found[parsed.id.key] = 'properties.networkAcls.virtualNetworkRules.id';
  }
  return found;
}

function badRequest(message: string): ArmError {
  return new ArmError(400, 'VaultCreateOrUpdateBadRequest', message);
}

export const keyVaultProvider: Provider = {
  namespace: 'Microsoft.KeyVault',
  types: [vaults, ...vaultChildren(apiVersions)],
  routes: [
    {
      method: 'POST',
      scope: 'subscription',
      path: 'checkNameAvailability',
      apiVersions,
      action: 'Microsoft.KeyVault/checkNameAvailability/read',
      async run({ world, body }) {
        const name = typeof body?.name === 'string' ? body.name : '';
        if (!nameForm.test(name)) return { nameAvailable: false, reason: 'AccountNameInvalid', message: nameRule };
        const isTaken =
          (await world.resources.named(vaultType, name)) !== undefined ||
          (await readDeleted(world, name)) !== undefined;
        return isTaken
          ? { nameAvailable: false, reason: 'AlreadyExists', message: `The vault name '${name}' is already in use.` }
          : { nameAvailable: true };
      },
    },
    ...deletedVaultRoutes(apiVersions),
  ],
  async start(world) {
    agendaOf(world).wake();
  },
};
