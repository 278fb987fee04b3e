// Microsoft.DBforPostgreSQL/flexibleServers as a resource with state. No database runs behind it: its name is one of this cloud.
import type { Static } from 'typebox';
import { ArmError } from '../../../arm/errors.ts';
import { Enum, SecretText } from '../../../arm/schema.ts';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import { dataPlaneHost } from '../cloud.ts';
import { membersBeside, objectOf, sentProperties, textOf } from '../kept-members.ts';
import type { Action, ResourceType } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import { dropIdentity, linkedIdentities, resolveIdentity } from '../managed-identity/resource-identity.ts';
import { postgresVersions } from './api-versions.ts';

const authConfig = Type.Object({
  activeDirectoryAuth: Type.Optional(Enum(['Enabled', 'Disabled'])),
  passwordAuth: Type.Optional(Enum(['Enabled', 'Disabled'])),
  tenantId: Type.Optional(Type.String()),
});

const schema = Type.Object({
  sku: Type.Optional(
    Type.Object({
      name: Type.String({ minLength: 1 }),
      tier: Enum(['Burstable', 'GeneralPurpose', 'MemoryOptimized']),
    }),
  ),
  properties: Type.Optional(
    Type.Object({
      version: Type.Optional(Enum(['11', '12', '13', '14', '15', '16', '17', '18'])),
      administratorLogin: Type.Optional(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,62}$' })),
      administratorLoginPassword: Type.Optional(SecretText()),
      createMode: Type.Optional(Type.String()),
      authConfig: Type.Optional(authConfig),
      storage: Type.Optional(
        Type.Object({ storageSizeGB: Type.Optional(Type.Integer({ minimum: 32, maximum: 65_536 })) }),
      ),
      backup: Type.Optional(
        Type.Object({ backupRetentionDays: Type.Optional(Type.Integer({ minimum: 7, maximum: 35 })) }),
      ),
      highAvailability: Type.Optional(
        Type.Object({ mode: Type.Optional(Enum(['Disabled', 'ZoneRedundant', 'SameZone'])) }),
      ),
    }),
  ),
});

export const serverName = {
  form: /^[a-z0-9](?:[a-z0-9-]{1,61}[a-z0-9])$/,
  rule: 'It has 3 to 63 lower-case letters, digits and hyphens and neither begins nor ends with a hyphen.',
};

const reservedLogins = new Set([
  'azure_superuser',
  'azure_pg_admin',
  'admin',
  'administrator',
  'root',
  'guest',
  'public',
]);
/** Of every server from the start. */
export const systemDatabases = ['azure_maintenance', 'azure_sys', 'postgres'] as const;

/** `restart` and others: refused while the server is in another state than these. */
const power = (from: readonly string[], to: string): Action => ({
  asynchronous: true,
  async run({ world, id, record }) {
    const state = textOf(record.resource.properties?.state) ?? 'Ready';
    if (!from.includes(state))
      throw new ArmError(
        409,
        'ServerStateInvalid',
        `The server '${id.name}' is ${state}; this needs ${from.join(' or ')}.`,
      );
    await world.resources.change(id.key, (now) => ({
      ...now,
      resource: { ...now.resource, properties: { ...now.resource.properties, state: to } },
    }));
    return undefined;
  },
});

export const flexibleServers: ResourceType = {
  type: 'flexibleServers',
  apiVersions: postgresVersions,
  scope: 'resourceGroup',
  location: 'required',
  name: serverName,
  globallyNamed: true,
  nameTaken: (name) => new ArmError(409, 'ServerNameAlreadyExists', `Specified server name '${name}' is already used.`),
  schema,
  patch: 'merge',
  etags: false,
  provisioningState: false,
  asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
  linkedAccess: linkedIdentities,
  async prepare({ world, id, body, current }) {
    const given = objectOf(body.properties) as Static<typeof schema>['properties'] & JsonObject;
    const before = objectOf(current?.resource.properties);
    const sku = body.sku ?? current?.resource.sku;
    if (sku === undefined)
      throw new ArmError(400, 'InvalidParameterValue', 'The sku of a server is required.', { target: 'sku' });
    const auth = {
      activeDirectoryAuth: 'Disabled',
      passwordAuth: 'Enabled',
      ...objectOf(before.authConfig),
      ...objectOf(given.authConfig),
    };
    const login = given.administratorLogin ?? textOf(before.administratorLogin);
    const password = given.administratorLoginPassword;
    checkLogin(id.name, auth.passwordAuth, login, password, before, current?.secrets?.password);
    const identity = await resolveIdentity(world, id, body.identity, current?.resource.identity);
    const { administratorLoginPassword: _password, createMode: _mode, ...sent } = sentProperties(body, readOnly);
    const secret = password === undefined ? current?.secrets?.password : new Secret(password);
    return {
      resource: {
        ...membersBeside(body),
        sku,
        ...(identity === undefined ? {} : { identity }),
        properties: {
          version: '16',
          availabilityZone: '1',
          replicationRole: 'Primary',
          ...sent,
          ...(login === undefined ? {} : { administratorLogin: login }),
          authConfig: auth,
          storage: {
            storageSizeGB: 32,
            autoGrow: 'Disabled',
            type: '',
            iops: 120,
            tier: 'P4',
            ...objectOf(given.storage),
          },
          backup: {
            backupRetentionDays: 7,
            geoRedundantBackup: 'Disabled',
            ...objectOf(given.backup),
            earliestRestoreDate:
              textOf(objectOf(before.backup).earliestRestoreDate) ?? new Date(world.clock.now()).toISOString(),
          },
          network: { publicNetworkAccess: 'Enabled', ...objectOf(sent.network) },
          highAvailability: { mode: 'Disabled', state: 'NotEnabled', ...objectOf(given.highAvailability) },
          maintenanceWindow: {
            customWindow: 'Disabled',
            dayOfWeek: 0,
            startHour: 0,
            startMinute: 0,
            ...objectOf(sent.maintenanceWindow),
          },
          dataEncryption: { type: 'SystemManaged', ...objectOf(sent.dataEncryption) },
          state: textOf(before.state) ?? 'Ready',
          minorVersion: '4',
          fullyQualifiedDomainName: dataPlaneHost(world.cloud, 'postgres', id.name),
          replicaCapacity: 5,
          privateEndpointConnections: [],
        },
      },
      ...(secret === undefined ? {} : { secrets: { password: secret } }),
      also: current
        ? []
        : systemDatabases.map((name) => ({
            kind: 'put',
            id: `${id.text}/databases/${name}`,
            body: { properties: { charset: 'UTF8', collation: 'en_US.utf8' } },
          })),
    };
  },
  async effect(world, { kind, record }) {
    if (kind === 'delete') await dropIdentity(world, record);
    return undefined;
  },
  actions: {
    start: power(['Stopped'], 'Ready'),
    stop: power(['Ready'], 'Stopped'),
    restart: power(['Ready'], 'Ready'),
  },
};

const readOnly = [
  'state',
  'minorVersion',
  'fullyQualifiedDomainName',
  'replicaCapacity',
  'privateEndpointConnections',
] as const;

function checkLogin(
  server: string,
  passwordAuth: unknown,
  login: string | undefined,
  password: string | undefined,
  before: JsonObject,
  kept: Secret<string> | undefined,
): void {
  const invalid = (message: string, target: string): ArmError =>
    new ArmError(400, 'InvalidParameterValue', message, { target });
  if (passwordAuth === 'Enabled' && (login === undefined || (password === undefined && kept === undefined)))
    throw invalid(
      `The server '${server}' lets its users sign in by password, so it needs administratorLogin and administratorLoginPassword.`,
      'properties.administratorLogin',
    );
  const former = textOf(before.administratorLogin);
  if (former !== undefined && login !== former)
    throw invalid('The administratorLogin of a server cannot be changed.', 'properties.administratorLogin');
  if (login !== undefined && (reservedLogins.has(login.toLowerCase()) || /^pg_/i.test(login)))
    throw invalid(`The administratorLogin '${login}' is reserved.`, 'properties.administratorLogin');
  if (password === undefined) return;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((form) => form.test(password)).length;
  if (password.length < 8 || password.length > 128 || kinds < 3)
    throw invalid(
      'The password has 8 to 128 characters of at least three kinds: lower case, upper case, digits and others.',
      'properties.administratorLoginPassword',
    );
}
