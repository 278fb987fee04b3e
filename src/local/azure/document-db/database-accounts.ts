// Microsoft.DocumentDB/databaseAccounts: a Cosmos DB account as a resource with keys and names of this cloud.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { ArmError } from '../../../arm/errors.ts';
import { Enum } from '../../../arm/schema.ts';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import { dataPlaneHost } from '../cloud.ts';
import { membersBeside, objectOf, sentProperties, textOf } from '../kept-members.ts';
import type { Action, ResourceType } from '../kernel/provider.ts';
import type { Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { dropIdentity, linkedIdentities, resolveIdentity } from '../managed-identity/resource-identity.ts';
import { documentVersions } from './api-versions.ts';
import { badRequest } from './errors.ts';
import { builtInRoles } from './sql-roles.ts';

const location = Type.Object({
  locationName: Type.String({ minLength: 1 }),
  failoverPriority: Type.Optional(Type.Integer({ minimum: 0 })),
  isZoneRedundant: Type.Optional(Type.Boolean()),
});

const consistency = Type.Object({
  defaultConsistencyLevel: Enum(['Eventual', 'Session', 'BoundedStaleness', 'Strong', 'ConsistentPrefix']),
  maxStalenessPrefix: Type.Optional(Type.Integer({ minimum: 1 })),
  maxIntervalInSeconds: Type.Optional(Type.Integer({ minimum: 5, maximum: 86_400 })),
});

const schema = Type.Object({
  kind: Type.Optional(Enum(['GlobalDocumentDB', 'MongoDB', 'Parse'])),
  properties: Type.Object({
    databaseAccountOfferType: Type.Optional(Enum(['Standard'])),
    locations: Type.Array(location, { minItems: 1 }),
    consistencyPolicy: Type.Optional(consistency),
    disableLocalAuth: Type.Optional(Type.Boolean()),
    publicNetworkAccess: Type.Optional(Enum(['Enabled', 'Disabled', 'SecuredByPerimeter'])),
  }),
});

export const accountName = {
  form: /^[a-z0-9][a-z0-9-]{1,42}[a-z0-9]$/,
  rule: 'It has 3 to 44 lower-case letters, digits and hyphens and neither begins nor ends with a hyphen.',
};

const keyNames = {
  primary: 'primaryMasterKey',
  secondary: 'secondaryMasterKey',
  primaryReadonly: 'primaryReadonlyMasterKey',
  secondaryReadonly: 'secondaryReadonlyMasterKey',
} as const;
type KeyKind = keyof typeof keyNames;

const readOnly = [
  'documentEndpoint',
  'readLocations',
  'writeLocations',
  'failoverPolicies',
  'instanceId',
  'keysMetadata',
  'privateEndpointConnections',
] as const;

export const databaseAccounts: ResourceType = {
  type: 'databaseAccounts',
  apiVersions: documentVersions,
  scope: 'resourceGroup',
  location: 'required',
  name: accountName,
  globallyNamed: true,
  nameTaken: (name) => new ArmError(409, 'Conflict', `Dns record for ${name} under zone Document is already taken.`),
  schema,
  patch: 'merge',
  etags: false,
  createdStatus: 200,
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
  linkedAccess: linkedIdentities,
  async prepare({ world, id, body, current }) {
    const { locations, consistencyPolicy } = (body as Static<typeof schema>).properties;
    const places = placesOf(world, id.name, locations);
    const before = objectOf(current?.resource.properties);
    const identity = await resolveIdentity(world, id, body.identity, current?.resource.identity);
    return {
      resource: {
        kind: 'GlobalDocumentDB',
        ...membersBeside(body),
        ...(identity === undefined ? {} : { identity }),
        properties: {
          publicNetworkAccess: 'Enabled',
          enableAutomaticFailover: false,
          enableMultipleWriteLocations: false,
          isVirtualNetworkFilterEnabled: false,
          virtualNetworkRules: [],
          disableKeyBasedMetadataWriteAccess: false,
          enableFreeTier: false,
          enableAnalyticalStorage: false,
          disableLocalAuth: false,
          minimalTlsVersion: 'Tls12',
          capabilities: [],
          ipRules: [],
          cors: [],
          networkAclBypass: 'None',
          networkAclBypassResourceIds: [],
          backupPolicy: {
            type: 'Periodic',
            periodicModeProperties: {
              backupIntervalInMinutes: 240,
              backupRetentionIntervalInHours: 8,
              backupStorageRedundancy: 'Geo',
            },
          },
          ...sentProperties(body, readOnly),
          databaseAccountOfferType: 'Standard',
          consistencyPolicy: {
            defaultConsistencyLevel: 'Session',
            maxIntervalInSeconds: 5,
            maxStalenessPrefix: 100,
            ...consistencyPolicy,
          },
          documentEndpoint: `https://${dataPlaneHost(world.cloud, 'documents', id.name)}:443/`,
          instanceId: textOf(before.instanceId) ?? randomUUID(),
          locations: places,
          readLocations: places,
          writeLocations: places.slice(0, 1),
          failoverPolicies: places.map(({ id: placeId, locationName, failoverPriority }) => ({
            id: placeId,
            locationName,
            failoverPriority,
          })),
          keysMetadata: current
            ? objectOf(before.keysMetadata)
            : keysMetadata(new Date(world.clock.now()).toISOString()),
          privateEndpointConnections: [],
        },
      },
      secrets: current?.secrets ?? Object.fromEntries(Object.keys(keyNames).map((kind) => [kind, newKey()])),
      also: current
        ? []
        : builtInRoles.map(({ name, properties }) => ({
            kind: 'put',
            id: `${id.text}/sqlRoleDefinitions/${name}`,
            body: { properties: { ...properties, assignableScopes: [id.text] } },
          })),
    };
  },
  async effect(world, { kind, record }) {
    if (kind === 'delete') await dropIdentity(world, record);
    return undefined;
  },
  actions: {
    listkeys: { run: async ({ record }) => keysOf(record, Object.keys(keyNames) as KeyKind[]) },
    readonlykeys: { run: async ({ record }) => keysOf(record, ['primaryReadonly', 'secondaryReadonly']) },
    listconnectionstrings: { run: async ({ record }) => ({ connectionStrings: connectionStrings(record) }) },
    regeneratekey: regenerateKey(),
    failoverprioritychange: { asynchronous: true, run: async () => undefined },
  },
};

function placesOf(
  world: World,
  account: string,
  locations: readonly Static<typeof location>[],
): readonly (JsonObject & { readonly id: string; readonly locationName: string; readonly failoverPriority: number })[] {
  const found = locations.map(({ locationName, failoverPriority, isZoneRedundant }, at) => {
    const name = locationName.replaceAll(' ', '').toLowerCase();
    const known = world.cloud.locations.find((one) => one.name === name);
    if (!known)
      throw badRequest(`The location '${locationName.slice(0, 64)}' is not available.`, 'properties.locations');
    const id = `${account}-${name}`;
    return {
      id,
      locationName: known.displayName,
      documentEndpoint: `https://${dataPlaneHost(world.cloud, 'documents', id)}:443/`,
      provisioningState: 'Succeeded',
      failoverPriority: failoverPriority ?? at,
      isZoneRedundant: isZoneRedundant ?? false,
    };
  });
  const priorities = found.map(({ failoverPriority }) => failoverPriority).sort((a, b) => a - b);
  if (new Set(found.map(({ id }) => id)).size < found.length || priorities.some((priority, at) => priority !== at))
    throw badRequest(
      'Every location is named once, and their failover priorities are 0, 1, 2 and so on.',
      'properties.locations',
    );
  return found.sort((one, other) => one.failoverPriority - other.failoverPriority);
}

function keysOf({ secrets }: ResourceRecord, kinds: readonly KeyKind[]): JsonObject {
  return Object.fromEntries(kinds.map((kind) => [keyNames[kind], secrets?.[kind]?.reveal() ?? '']));
}

function connectionStrings({ resource, secrets }: ResourceRecord): readonly Json[] {
  const endpoint = textOf(resource.properties?.documentEndpoint) ?? '';
  const described: { readonly [kind in KeyKind]: string } = {
    primary: 'Primary SQL Connection String',
    secondary: 'Secondary SQL Connection String',
    primaryReadonly: 'Primary Read-Only SQL Connection String',
    secondaryReadonly: 'Secondary Read-Only SQL Connection String',
  };
  return (Object.keys(keyNames) as KeyKind[]).map((kind) => ({
    connectionString: `AccountEndpoint=${endpoint};AccountKey=${secrets?.[kind]?.reveal() ?? ''};`,
    description: described[kind],
    keyKind: kind[0]?.toUpperCase() + kind.slice(1),
    type: 'Sql',
  }));
}

function regenerateKey(): Action {
  return {
    asynchronous: true,
    async run({ world, id, body }) {
      const kind = (Object.keys(keyNames) as KeyKind[]).find((one) => one === body?.keyKind);
      if (!kind) throw badRequest(`The keyKind must be one of ${Object.keys(keyNames).join(', ')}.`, 'keyKind');
      await world.resources.change(id.key, (record) => ({
        ...record,
        secrets: { ...record.secrets, [kind]: newKey() },
      }));
      return undefined;
    },
  };
}

function keysMetadata(generationTime: string): JsonObject {
  return Object.fromEntries(Object.values(keyNames).map((name) => [name, { generationTime }]));
}

function newKey(): Secret<string> {
  return new Secret(randomBytes(64).toString('base64'));
}
