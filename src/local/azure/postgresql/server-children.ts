// What belongs to a server: databases, firewall rules, settings and administrators from the directory.
import { isIPv4 } from 'node:net';
import type { Static } from 'typebox';
import { ArmError } from '../../../arm/errors.ts';
import { isGuid } from '../../../arm/resource-id.ts';
import { Enum } from '../../../arm/schema.ts';
import { Type } from '../../../arm/type.ts';
import { sentProperties, textOf } from '../kept-members.ts';
import type { ResourceType } from '../kernel/provider.ts';
import { isGoing } from '../network/going.ts';
import { postgresVersions } from './api-versions.ts';
import { systemDatabases } from './flexible-servers.ts';
import { serverSettings } from './server-settings.ts';

const child = {
  apiVersions: postgresVersions,
  scope: 'resourceGroup',
  location: 'none',
  etags: false,
  provisioningState: false,
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
} as const satisfies Omit<ResourceType, 'type'>;

const invalid = (message: string, target: string): ArmError =>
  new ArmError(400, 'InvalidParameterValue', message, { target });

const databases: ResourceType = {
  ...child,
  type: 'flexibleServers/databases',
  name: {
    form: /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/,
    rule: 'It has 1 to 63 letters, digits, hyphens and underscores.',
  },
  schema: Type.Object({
    properties: Type.Optional(
      Type.Object({ charset: Type.Optional(Type.String()), collation: Type.Optional(Type.String()) }),
    ),
  }),
  prepare: ({ body }) => ({
    resource: { properties: { charset: 'UTF8', collation: 'en_US.utf8', ...sentProperties(body) } },
  }),
  async beforeDelete(world, { resource }) {
    const server = resource.id.split('/').slice(0, -2).join('/');
    if (systemDatabases.some((name) => name === resource.name) && !(await isGoing(world, server)))
      throw new ArmError(
        400,
        'InvalidParameterValue',
        `The database '${resource.name}' is the server's own and cannot be deleted.`,
      );
  },
};

const ruleSchema = Type.Object({
  properties: Type.Object({ startIpAddress: Type.String(), endIpAddress: Type.String() }),
});

const firewallRules: ResourceType = {
  ...child,
  type: 'flexibleServers/firewallRules',
  name: { form: /^[A-Za-z0-9_-]{1,80}$/, rule: 'It has 1 to 80 letters, digits, hyphens and underscores.' },
  schema: ruleSchema,
  prepare({ body }) {
    const { startIpAddress, endIpAddress } = (body as Static<typeof ruleSchema>).properties;
    for (const [name, address] of Object.entries({ startIpAddress, endIpAddress })) {
      if (!isIPv4(address)) throw invalid(`'${address.slice(0, 64)}' is no IPv4 address.`, `properties.${name}`);
    }
    if (numberOf(startIpAddress) > numberOf(endIpAddress))
      throw invalid('The range of a firewall rule ends before it starts.', 'properties.endIpAddress');
    return { resource: { properties: { startIpAddress, endIpAddress } } };
  },
};

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

const configurations: ResourceType = {
  ...child,
  type: 'flexibleServers/configurations',
  patch: 'merge',
  name: { form: /^[a-z][a-z0-9_.]{0,62}$/, rule: "It is the name of one of the server's settings." },
  schema: Type.Object({
    properties: Type.Optional(
      Type.Object({ value: Type.Optional(Type.String()), source: Type.Optional(Type.String()) }),
    ),
  }),
  prepare({ id, body }) {
    const setting = Object.hasOwn(serverSettings, id.name) ? serverSettings[id.name] : undefined;
    if (!setting)
      throw new ArmError(404, 'ConfigurationNotExists', `The server configuration '${id.name}' does not exist.`);
    const sent = sentProperties(body);
    const value = textOf(sent.value) ?? setting.defaultValue;
    if (!setting.allowed.test(value))
      throw invalid(`'${value.slice(0, 64)}' is no value of '${id.name}'.`, 'properties.value');
    return {
      resource: {
        properties: {
          value,
          description: setting.description,
          defaultValue: setting.defaultValue,
          dataType: setting.dataType,
          source: value === setting.defaultValue ? 'system-default' : 'user-override',
          isDynamicConfig: setting.dynamic,
          isReadOnly: false,
          isConfigPendingRestart: false,
        },
      },
    };
  },
};

const administratorSchema = Type.Object({
  properties: Type.Object({
    principalType: Type.Optional(Enum(['User', 'Group', 'ServicePrincipal', 'Unknown'])),
    principalName: Type.Optional(Type.String({ minLength: 1 })),
    tenantId: Type.Optional(Type.String()),
  }),
});

const administrators: ResourceType = {
  ...child,
  type: 'flexibleServers/administrators',
  schema: administratorSchema,
  async prepare({ world, id, body }) {
    if (!isGuid(id.name)) throw invalid('The name of an administrator is the object id of a principal.', 'name');
    const { properties } = body as Static<typeof administratorSchema>;
    const server = await world.resources.read(id.text.slice(0, id.text.lastIndexOf('/administrators/')));
    const auth = server?.body.resource.properties?.authConfig as { readonly activeDirectoryAuth?: string } | undefined;
    if (auth?.activeDirectoryAuth !== 'Enabled')
      throw new ArmError(
        400,
        'AadAuthOperationCannotBePerformedWhenAadAuthDisabled',
        'The server does not let principals of the directory sign in: set authConfig.activeDirectoryAuth to Enabled first.',
      );
    return {
      resource: {
        properties: {
          principalType: 'User',
          ...properties,
          objectId: id.name,
          tenantId: properties.tenantId ?? world.directory.tenantId,
        },
      },
    };
  },
};

export const serverChildren: readonly ResourceType[] = [databases, firewallRules, configurations, administrators];
