// Databases, containers and what is in them, as Resource Manager sees them.
import { randomBytes } from 'node:crypto';
import type { Static } from 'typebox';
import { Type } from '../../../arm/type.ts';
import { objectOf, textOf } from '../kept-members.ts';
import type { Prepared, PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import { documentVersions } from './api-versions.ts';
import { badRequest } from './errors.ts';

const child = {
  apiVersions: documentVersions,
  scope: 'resourceGroup',
  location: 'none',
  etags: false,
  createdStatus: 202,
  provisioningState: false,
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
} as const satisfies Omit<ResourceType, 'type'>;

const name = { form: /^[^/\\#?]{1,255}$/, rule: "It has 1 to 255 characters, none of them '/', '\\', '#' or '?'." };

const partitionKey = Type.Object({
  paths: Type.Array(Type.String({ pattern: '^/' }), { minItems: 1, maxItems: 3 }),
  kind: Type.Optional(Type.String()),
  version: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 })),
});

const schema = Type.Object({
  properties: Type.Object({
    resource: Type.Object({
      id: Type.String(),
      partitionKey: Type.Optional(partitionKey),
      defaultTtl: Type.Optional(Type.Integer({ minimum: -1 })),
    }),
    options: Type.Optional(
      Type.Object({
        throughput: Type.Optional(Type.Integer({ minimum: 400 })),
        autoscaleSettings: Type.Optional(
          Type.Object({ maxThroughput: Type.Optional(Type.Integer({ minimum: 1000 })) }),
        ),
      }),
    ),
  }),
});

/** The members that the database adds to whatever is kept in it; new with every write. */
function written({ world, current }: PrepareRequest): JsonObject {
  const before = objectOf(current?.resource.properties?.resource);
  return {
    _rid: textOf(before._rid) ?? randomBytes(6).toString('base64'),
    _ts: Math.floor(world.clock.now() / 1000),
    _etag: `"${randomBytes(8).toString('hex')}-0000-0000-0000-000000000000"`,
  };
}

function resourceOf(request: PrepareRequest, more: JsonObject = {}): Prepared {
  const { id, body } = request;
  const { resource } = (body as Static<typeof schema>).properties;
  if (resource.id !== id.name)
    throw badRequest(
      `The id in the body, '${resource.id.slice(0, 255)}', is not the name in the address, '${id.name}'.`,
    );
  return {
    resource: { properties: { resource: { ...more, ...objectOf(resource), ...written(request) } } },
    references: {},
    also: throughputOf(request),
  };
}

/** Throughput that is given with a database or container stands beside it. */
function throughputOf({ id, body }: PrepareRequest): NonNullable<Prepared['also']> {
  const { options } = (body as Static<typeof schema>).properties;
  if (options?.throughput === undefined && options?.autoscaleSettings === undefined) return [];
  return [{ kind: 'put', id: `${id.text}/throughputSettings/default`, body: { properties: { resource: options } } }];
}

const sqlDatabases: ResourceType = {
  ...child,
  type: 'databaseAccounts/sqlDatabases',
  name,
  schema,
  prepare: (request) => resourceOf(request, { _colls: 'colls/', _users: 'users/' }),
};

const everythingIndexed = {
  indexingMode: 'consistent',
  automatic: true,
  includedPaths: [{ path: '/*' }],
  excludedPaths: [{ path: '/"_etag"/?' }],
};

const containers: ResourceType = {
  ...child,
  type: 'databaseAccounts/sqlDatabases/containers',
  name,
  schema,
  prepare(request) {
    const { partitionKey: wanted } = (request.body as Static<typeof schema>).properties.resource;
    if (wanted === undefined)
      throw badRequest('A container needs a partition key.', 'properties.resource.partitionKey');
    const before = objectOf(objectOf(request.current?.resource.properties?.resource).partitionKey);
    if (request.current && JSON.stringify(before.paths) !== JSON.stringify(wanted.paths))
      throw badRequest('The partition key of a container cannot be changed.', 'properties.resource.partitionKey');
    return resourceOf(request, {
      indexingPolicy: everythingIndexed,
      conflictResolutionPolicy: {
        mode: 'LastWriterWins',
        conflictResolutionPath: '/_ts',
        conflictResolutionProcedure: '',
      },
    });
  },
};

const throughputSchema = Type.Object({
  properties: Type.Object({
    resource: Type.Object({
      throughput: Type.Optional(Type.Integer({ minimum: 400 })),
      autoscaleSettings: Type.Optional(Type.Object({ maxThroughput: Type.Integer({ minimum: 1000 }) })),
    }),
  }),
});

const throughput = (type: string): ResourceType => ({
  ...child,
  type: `${type}/throughputSettings`,
  name: { form: /^default$/, rule: "It is 'default'." },
  schema: throughputSchema,
  prepare(request) {
    const { throughput: manual, autoscaleSettings } = (request.body as Static<typeof throughputSchema>).properties
      .resource;
    if ((manual === undefined) === (autoscaleSettings === undefined))
      throw badRequest(
        'Throughput is either manual or scales by itself: give one of throughput and autoscaleSettings.',
      );
    const shown = autoscaleSettings
      ? { autoscaleSettings, throughput: autoscaleSettings.maxThroughput / 10 }
      : { throughput: manual ?? 400 };
    return { resource: { properties: { resource: { ...shown, minimumThroughput: '400', ...written(request) } } } };
  },
});

const script = (type: string): ResourceType => ({
  ...child,
  type: `databaseAccounts/sqlDatabases/containers/${type}`,
  name,
  schema: Type.Object({
    properties: Type.Object({ resource: Type.Object({ id: Type.String(), body: Type.Optional(Type.String()) }) }),
  }),
  prepare: (request) => resourceOf(request),
});

const database = 'databaseAccounts/sqlDatabases';

export const sqlResources: readonly ResourceType[] = [
  sqlDatabases,
  throughput(database),
  containers,
  throughput(`${database}/containers`),
  script('storedProcedures'),
  script('triggers'),
  script('userDefinedFunctions'),
];
