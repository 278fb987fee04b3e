// What a directory starts with: the tenants' first-party principals, and the users, groups and applications that configuration
// names. Everything is created when it is missing and left as it is when it is there, so what people changed stays.
import { createHash, randomUUID, X509Certificate } from 'node:crypto';
import { foldCase } from '../../../arm/resource-id.ts';
import type { Secret } from '../../../kit/secret.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Cloud } from '../cloud.ts';
import type {
  Application,
  DirectoryObject,
  FederatedCredential,
  Group,
  KeyCredential,
  PasswordCredential,
  ServicePrincipal,
  Tenant,
  User,
} from './directory-objects.ts';
import { firstParties, graphAppId } from './first-party.ts';
import type { ObjectTable } from './object-table.ts';
import { hashPassword, hashSecret, isSecret } from './passwords.ts';

export interface SeedUser {
  readonly userPrincipalName: string;
  readonly displayName: string;
  readonly password?: Secret<string>;
  readonly objectId?: string;
  /** Global Administrator. */
  readonly admin?: boolean;
}

export interface SeedGroup {
  readonly displayName: string;
  readonly objectId?: string;
  /** User principal names of users that are seeded, or object ids. */
  readonly members: readonly string[];
}

export interface SeedApplication {
  readonly displayName: string;
  readonly appId: string;
  /** Of its service principal. */
  readonly objectId?: string;
  /** Replaces the one seeded before, when it differs. */
  readonly secret?: Secret<string>;
  /** PEM. */
  readonly certificate?: string;
  readonly identifierUris?: readonly string[];
  readonly redirectUris?: Partial<Application['redirectUris']>;
  readonly isFallbackPublicClient?: boolean;
  readonly federatedCredentials?: readonly Omit<FederatedCredential, 'id'>[];
  /** Application permissions on Graph, such as `Directory.ReadWrite.All`. */
  readonly graphRoles?: readonly string[];
}

export interface DirectorySeed {
  /** The first is the one that subscriptions are in. */
  readonly tenants: readonly [Tenant, ...Tenant[]];
  /** All of these are of the first tenant. */
  readonly users?: readonly SeedUser[];
  readonly groups?: readonly SeedGroup[];
  readonly applications?: readonly SeedApplication[];
}

export const globalAdministrator = '62e90394-69f5-4237-9190-012177145e10';

/** Credentials of configuration live as long as configuration says them. */
const noEnd = '2299-12-31T00:00:00Z';
const seededSecret = 'from configuration';

/** The same id for the same name, so that a directory made anew on another machine has the same ones. */
export function stableId(...names: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(names)).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export async function seedDirectory(
  objects: ObjectTable,
  seed: DirectorySeed,
  cloud: Pick<Cloud, 'origin' | 'suffix'>,
  now: () => number,
): Promise<void> {
  const [home] = seed.tenants;
  const createdDateTime = new Date(now()).toISOString();
  const missing = new Map<string, DirectoryObject[]>();
  const add = (object: DirectoryObject): void => {
    const list = missing.get(object.tenantId);
    if (list) list.push(object);
    else missing.set(object.tenantId, [object]);
  };

  for (const tenant of seed.tenants) {
    for (const party of firstParties) {
      // The origin has a port that may be another tomorrow; whoever asks by it is understood all the same (audiences.ts).
      const names = [party.appId, ...party.names(cloud).filter((name) => name !== cloud.origin)];
      if (!objects.servicePrincipal(tenant.id, party.appId)) {
        const id = stableId('sp', tenant.id, party.appId);
        add(servicePrincipal({ ...party, id, tenantId: tenant.id, createdDateTime, names }));
      }
    }
  }
  await Promise.all(
    (seed.users ?? [])
      .filter((user) => !objects.user(home.id, user.userPrincipalName))
      .map(async (user) => add(await seededUser(user, home.id, createdDateTime))),
  );
  for (const group of seed.groups ?? []) {
    const id = foldCase(group.objectId ?? stableId('group', home.id, group.displayName));
    if (!objects.get(id)) add(seededGroup(group, id, home.id, createdDateTime, seed.users ?? []));
  }
  for (const given of seed.applications ?? []) {
    const application = objects.application(given.appId);
    if (application) await renewCredentials(objects, application, given, createdDateTime);
    else add(seededApplication(given, home.id, createdDateTime));
    const principal = objects.servicePrincipal(home.id, given.appId);
    if (principal) await renewRoles(objects, principal, given.graphRoles);
    else {
      const appId = foldCase(given.appId);
      const id = foldCase(given.objectId ?? stableId('sp', home.id, appId));
      const names = [appId, ...(given.identifierUris ?? [])];
      const roles = given.graphRoles ? { [graphAppId]: given.graphRoles } : {};
      add(servicePrincipal({ ...given, appId, id, tenantId: home.id, createdDateTime, names, roles }));
    }
  }
  for (const [tenantId, list] of missing) await createMissing(objects, tenantId, list);
}

async function createMissing(objects: ObjectTable, tenantId: string, list: readonly DirectoryObject[]): Promise<void> {
  try {
    await objects.create(tenantId, list);
  } catch (error) {
    if (!isStoreError(error, 'Exists', 'UniqueKey')) throw error;
    throw new Error(
      'The directory cannot be seeded: two users, groups or applications of the configuration have the same name or id, or one that exists already.',
      { cause: error },
    );
  }
}

async function seededUser(given: SeedUser, tenantId: string, createdDateTime: string): Promise<User> {
  const upnKey = foldCase(given.userPrincipalName);
  return {
    kind: 'User',
    id: foldCase(given.objectId ?? stableId('user', tenantId, upnKey)),
    tenantId,
    displayName: given.displayName,
    createdDateTime,
    userPrincipalName: given.userPrincipalName,
    upnKey,
    accountEnabled: true,
    directoryRoles: given.admin ? [globalAdministrator] : [],
    ...(given.password === undefined ? {} : { passwordHash: await hashPassword(given.password) }),
  };
}

function seededGroup(
  given: SeedGroup,
  id: string,
  tenantId: string,
  createdDateTime: string,
  users: readonly SeedUser[],
): Group {
  const idOf = (member: string): string => {
    const user = users.find((one) => foldCase(one.userPrincipalName) === foldCase(member));
    return foldCase(user ? (user.objectId ?? stableId('user', tenantId, foldCase(member))) : member);
  };
  return {
    kind: 'Group',
    id,
    tenantId,
    displayName: given.displayName,
    createdDateTime,
    mailNickname: given.displayName.replaceAll(/[^A-Za-z0-9-]/g, ''),
    securityEnabled: true,
    members: given.members.map(idOf),
    owners: [],
  };
}

function seededApplication(given: SeedApplication, tenantId: string, createdDateTime: string): Application {
  const appId = foldCase(given.appId);
  return {
    kind: 'Application',
    id: stableId('application', tenantId, appId),
    tenantId,
    displayName: given.displayName,
    createdDateTime,
    appId,
    identifierUris: given.identifierUris ?? [],
    redirectUris: { web: [], spa: [], publicClient: [], ...given.redirectUris },
    isFallbackPublicClient: given.isFallbackPublicClient ?? false,
    accessTokenVersion: 1,
    passwordCredentials: given.secret === undefined ? [] : [seededPassword(given.secret, createdDateTime)],
    keyCredentials: given.certificate === undefined ? [] : [keyCredential(given.certificate)],
    federatedIdentityCredentials: (given.federatedCredentials ?? []).map((credential) => ({
      ...credential,
      id: stableId('federated', appId, credential.name),
    })),
    owners: [],
  };
}

/** The secret and certificate of configuration may have been made anew since. */
async function renewCredentials(
  objects: ObjectTable,
  application: Application,
  given: SeedApplication,
  createdDateTime: string,
): Promise<void> {
  const { secret, certificate } = given;
  const kept = application.passwordCredentials.filter((one) => one.displayName !== seededSecret);
  const current = application.passwordCredentials.find((one) => one.displayName === seededSecret);
  const newSecret = secret !== undefined && !(current && isSecret(current.hash, secret));
  const key = certificate === undefined ? undefined : keyCredential(certificate);
  const newKey = key && !application.keyCredentials.some((one) => one.certificate === key.certificate);
  if (!newSecret && !newKey) return;
  await objects.change<'Application'>(application, (now) => ({
    ...now,
    ...(newSecret ? { passwordCredentials: [...kept, seededPassword(secret, createdDateTime)] } : {}),
    ...(newKey ? { keyCredentials: [...now.keyCredentials, key] } : {}),
  }));
}

/** Permissions that configuration adds later. */
async function renewRoles(
  objects: ObjectTable,
  principal: ServicePrincipal,
  roles: readonly string[] | undefined,
): Promise<void> {
  const has = principal.grantedRoles[graphAppId] ?? [];
  if (!roles || roles.every((role) => has.includes(role))) return;
  await objects.change<'ServicePrincipal'>(principal, (now) => ({
    ...now,
    grantedRoles: { ...now.grantedRoles, [graphAppId]: [...new Set([...has, ...roles])] },
  }));
}

function seededPassword(secret: Secret<string>, startDateTime: string): PasswordCredential {
  return {
    keyId: randomUUID(),
    displayName: seededSecret,
    hint: secret.reveal().slice(0, 3),
    startDateTime,
    endDateTime: noEnd,
    hash: hashSecret(secret),
  };
}

/** What is kept of a certificate in PEM or DER. Throws when it is none. */
export function keyCredential(certificate: string | Buffer, displayName?: string): KeyCredential {
  const read = new X509Certificate(certificate);
  return {
    keyId: randomUUID(),
    ...(displayName === undefined ? {} : { displayName }),
    startDateTime: new Date(read.validFrom).toISOString(),
    endDateTime: new Date(read.validTo).toISOString(),
    certificate: read.raw.toString('base64'),
  };
}

export function servicePrincipal(given: {
  readonly id: string;
  readonly tenantId: string;
  readonly appId: string;
  readonly displayName: string;
  readonly createdDateTime: string;
  readonly names: readonly string[];
  readonly owners?: readonly string[];
  readonly roles?: ServicePrincipal['grantedRoles'];
  readonly resourceId?: string;
}): ServicePrincipal {
  return {
    kind: 'ServicePrincipal',
    id: given.id,
    tenantId: given.tenantId,
    displayName: given.displayName,
    createdDateTime: given.createdDateTime,
    appId: given.appId,
    servicePrincipalType: given.resourceId === undefined ? 'Application' : 'ManagedIdentity',
    servicePrincipalNames: given.names,
    accountEnabled: true,
    ...(given.resourceId === undefined
      ? {}
      : { resourceId: given.resourceId, resourceKey: foldCase(given.resourceId) }),
    grantedRoles: given.roles ?? {},
    owners: given.owners ?? [],
  };
}
