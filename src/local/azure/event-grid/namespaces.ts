// Microsoft.EventGrid/namespaces: an MQTT broker's settings and host names.
import { randomBytes } from 'node:crypto';
import type { Static } from 'typebox';
import { Enum, MapOf } from '../../../arm/schema.ts';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import type { Cloud } from '../cloud.ts';
import { membersBeside, objectOf, sentProperties } from '../kept-members.ts';
import type { ResourceType } from '../kernel/provider.ts';
import { dropIdentity, linkedIdentities, resolveIdentity } from '../managed-identity/resource-identity.ts';
import { eventGridVersions } from './api-versions.ts';
import { badRequest } from './errors.ts';

const topicSpacesConfiguration = Type.Object({
  state: Type.Optional(Enum(['Enabled', 'Disabled'])),
  routeTopicResourceId: Type.Optional(Type.String()),
  maximumSessionExpiryInHours: Type.Optional(Type.Integer({ minimum: 1, maximum: 8 })),
  maximumClientSessionsPerAuthenticationName: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  clientAuthentication: Type.Optional(
    Type.Object({
      alternativeAuthenticationNameSources: Type.Optional(
        Type.Array(
          Enum([
            'ClientCertificateSubject',
            'ClientCertificateDns',
            'ClientCertificateUri',
            'ClientCertificateIp',
            'ClientCertificateEmail',
          ]),
        ),
      ),
    }),
  ),
});

const schema = Type.Object({
  sku: Type.Optional(
    Type.Object({
      name: Type.Optional(Enum(['Standard'])),
      capacity: Type.Optional(Type.Integer({ minimum: 1, maximum: 40 })),
    }),
  ),
  tags: Type.Optional(MapOf(Type.String())),
  properties: Type.Optional(
    Type.Object({
      topicSpacesConfiguration: Type.Optional(topicSpacesConfiguration),
      isZoneRedundant: Type.Optional(Type.Boolean()),
      publicNetworkAccess: Type.Optional(Enum(['Enabled', 'Disabled', 'SecuredByPerimeter'])),
      minimumTlsVersionAllowed: Type.Optional(Enum(['1.0', '1.1', '1.2', '1.3'])),
      inboundIpRules: Type.Optional(Type.Array(Type.Object({}))),
    }),
  ),
});

export const namespaceName = {
  form: /^[A-Za-z0-9-]{3,50}$/,
  rule: 'It has 3 to 50 letters, digits and hyphens.',
};

/** `<namespace>.<location>-1.ts.eventgrid.<suffix>`: where MQTT clients connect. */
export function mqttHost(cloud: Pick<Cloud, 'suffix'>, namespace: string, location: string): string {
  return `${namespace.toLowerCase()}.${location}-1.ts.eventgrid.${cloud.suffix}`;
}

export const namespaces: ResourceType = {
  type: 'namespaces',
  apiVersions: eventGridVersions,
  scope: 'resourceGroup',
  location: 'required',
  name: namespaceName,
  globallyNamed: true,
  schema,
  patch: 'merge',
  etags: false,
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
  linkedAccess: linkedIdentities,
  async prepare({ world, id, body, current }) {
    const { properties: given = {} } = body as Static<typeof schema>;
    const location = typeof body.location === 'string' ? body.location : (current?.resource.location ?? '');
    const spaces = given.topicSpacesConfiguration;
    const before = objectOf(current?.resource.properties?.topicSpacesConfiguration);
    if (before.state === 'Enabled' && spaces?.state === 'Disabled')
      throw badRequest('The MQTT broker of a namespace cannot be disabled once it is enabled.');
    const identity = await resolveIdentity(world, id, body.identity, current?.resource.identity);
    const enabled = spaces?.state === 'Enabled';
    return {
      resource: {
        ...membersBeside(body),
        sku: { name: 'Standard', capacity: 1, ...objectOf(body.sku) },
        ...(identity === undefined ? {} : { identity }),
        properties: {
          isZoneRedundant: true,
          publicNetworkAccess: 'Enabled',
          minimumTlsVersionAllowed: '1.2',
          inboundIpRules: [],
          ...sentProperties(body, ['privateEndpointConnections']),
          topicsConfiguration: {
            ...objectOf(objectOf(body.properties).topicsConfiguration),
            hostname: `${id.name.toLowerCase()}.${location}-1.eventgrid.${world.cloud.suffix}`,
          },
          topicSpacesConfiguration: {
            state: 'Disabled',
            ...objectOf(spaces),
            ...(enabled
              ? {
                  hostname: mqttHost(world.cloud, id.name, location),
                  maximumSessionExpiryInHours: spaces.maximumSessionExpiryInHours ?? 1,
                  maximumClientSessionsPerAuthenticationName: spaces.maximumClientSessionsPerAuthenticationName ?? 1,
                }
              : {}),
          },
          privateEndpointConnections: [],
        },
      },
      secrets: current?.secrets ?? { key1: newKey(), key2: newKey() },
      references: {},
      // Every namespace has a group of all its clients.
      also: current
        ? []
        : [{ kind: 'put', id: `${id.text}/clientGroups/$all`, body: { properties: { query: 'true' } } }],
    };
  },
  async effect(world, { kind, record }) {
    if (kind === 'delete') await dropIdentity(world, record);
    return undefined;
  },
  actions: {
    listkeys: {
      run: async ({ record }) => ({
        key1: record.secrets?.key1?.reveal() ?? '',
        key2: record.secrets?.key2?.reveal() ?? '',
      }),
    },
    regeneratekey: {
      async run({ world, id, body }) {
        const name = body?.keyName;
        if (name !== 'key1' && name !== 'key2') throw badRequest("The keyName must be 'key1' or 'key2'.");
        const changed = await world.resources.change(id.key, (record) => ({
          ...record,
          secrets: { ...record.secrets, [name]: newKey() },
        }));
        return {
          key1: changed?.secrets?.key1?.reveal() ?? '',
          key2: changed?.secrets?.key2?.reveal() ?? '',
        };
      },
    },
  },
};

function newKey(): Secret<string> {
  return new Secret(randomBytes(32).toString('base64'));
}
