// Directory objects as Graph shows them.

import { createHash } from 'node:crypto';
import type {
  Application,
  DirectoryObject,
  FederatedCredential,
  Group,
  KeyCredential,
  ObjectKind,
  PasswordCredential,
  ServicePrincipal,
  User,
} from '../entra/directory-objects.ts';
import type { JsonObject } from '../kernel/record.ts';

/** Names of Graph's types. */
export const typeNames: Readonly<Record<ObjectKind, string>> = {
  User: 'user',
  Group: 'group',
  Application: 'application',
  ServicePrincipal: 'servicePrincipal',
};

export function shapeOf(object: DirectoryObject): JsonObject {
  switch (object.kind) {
    case 'User':
      return userShape(object);
    case 'Group':
      return groupShape(object);
    case 'Application':
      return applicationShape(object);
    case 'ServicePrincipal':
      return servicePrincipalShape(object);
  }
}

/** With its type, as in lists of objects of several types. */
export function typedShapeOf(object: DirectoryObject): JsonObject {
  return { '@odata.type': `#microsoft.graph.${typeNames[object.kind]}`, ...shapeOf(object) };
}

function userShape(user: User): JsonObject {
  return {
    ...user.more,
    id: user.id,
    accountEnabled: user.accountEnabled,
    businessPhones: user.more?.businessPhones ?? [],
    createdDateTime: user.createdDateTime,
    displayName: user.displayName,
    givenName: user.more?.givenName ?? null,
    jobTitle: user.more?.jobTitle ?? null,
    mail: user.more?.mail ?? null,
    mailNickname: user.more?.mailNickname ?? user.userPrincipalName.split('@')[0] ?? '',
    mobilePhone: user.more?.mobilePhone ?? null,
    officeLocation: user.more?.officeLocation ?? null,
    preferredLanguage: user.more?.preferredLanguage ?? null,
    surname: user.more?.surname ?? null,
    userPrincipalName: user.userPrincipalName,
    userType: 'Member',
  };
}

function groupShape(group: Group): JsonObject {
  return {
    ...group.more,
    id: group.id,
    createdDateTime: group.createdDateTime,
    description: group.more?.description ?? null,
    displayName: group.displayName,
    groupTypes: group.more?.groupTypes ?? [],
    mail: null,
    mailEnabled: false,
    mailNickname: group.mailNickname,
    securityEnabled: group.securityEnabled,
    visibility: group.more?.visibility ?? null,
  };
}

function applicationShape(application: Application): JsonObject {
  const { more, redirectUris } = application;
  const part = (name: string): JsonObject => {
    const value = more?.[name];
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  };
  return {
    ...more,
    id: application.id,
    appId: application.appId,
    createdDateTime: application.createdDateTime,
    displayName: application.displayName,
    description: more?.description ?? null,
    identifierUris: application.identifierUris,
    isFallbackPublicClient: application.isFallbackPublicClient,
    keyCredentials: application.keyCredentials.map(keyShape),
    notes: more?.notes ?? null,
    passwordCredentials: application.passwordCredentials.map(passwordShape),
    publisherDomain: more?.publisherDomain ?? null,
    requiredResourceAccess: more?.requiredResourceAccess ?? [],
    appRoles: more?.appRoles ?? [],
    signInAudience: more?.signInAudience ?? 'AzureADMyOrg',
    tags: more?.tags ?? [],
    api: {
      acceptMappedClaims: null,
      knownClientApplications: [],
      oauth2PermissionScopes: [],
      preAuthorizedApplications: [],
      ...part('api'),
      requestedAccessTokenVersion: application.accessTokenVersion === 2 ? 2 : null,
    },
    info: {},
    web: {
      homePageUrl: null,
      logoutUrl: null,
      implicitGrantSettings: { enableAccessTokenIssuance: false, enableIdTokenIssuance: false },
      ...part('web'),
      redirectUris: redirectUris.web,
    },
    spa: { redirectUris: redirectUris.spa },
    publicClient: { redirectUris: redirectUris.publicClient },
  };
}

function servicePrincipalShape(principal: ServicePrincipal): JsonObject {
  return {
    ...principal.more,
    id: principal.id,
    accountEnabled: principal.accountEnabled,
    alternativeNames:
      principal.resourceId === undefined
        ? (principal.more?.alternativeNames ?? [])
        : [
            `isExplicit=${principal.resourceId.toLowerCase().includes('/userassignedidentities/') ? 'True' : 'False'}`,
            principal.resourceId,
          ],
    appDisplayName: principal.displayName,
    appId: principal.appId,
    appOwnerOrganizationId: principal.more?.appOwnerOrganizationId ?? principal.tenantId,
    appRoleAssignmentRequired: principal.more?.appRoleAssignmentRequired ?? false,
    appRoles: principal.more?.appRoles ?? [],
    createdDateTime: principal.createdDateTime,
    displayName: principal.displayName,
    keyCredentials: [],
    oauth2PermissionScopes: [],
    passwordCredentials: [],
    servicePrincipalNames: principal.servicePrincipalNames,
    servicePrincipalType: principal.servicePrincipalType,
    signInAudience: principal.resourceId === undefined ? 'AzureADMyOrg' : null,
    tags: principal.more?.tags ?? [],
  };
}

/** The secret itself is shown once, by the call that made it. */
export function passwordShape(credential: PasswordCredential): JsonObject {
  return {
    customKeyIdentifier: null,
    displayName: credential.displayName ?? null,
    endDateTime: credential.endDateTime,
    hint: credential.hint,
    keyId: credential.keyId,
    secretText: null,
    startDateTime: credential.startDateTime,
  };
}

function keyShape(credential: KeyCredential): JsonObject {
  const der = Buffer.from(credential.certificate, 'base64');
  return {
    customKeyIdentifier: createHash('sha1').update(der).digest('hex').toUpperCase(),
    displayName: credential.displayName ?? null,
    endDateTime: credential.endDateTime,
    key: null,
    keyId: credential.keyId,
    startDateTime: credential.startDateTime,
    type: 'AsymmetricX509Cert',
    usage: 'Verify',
  };
}

export function federatedShape(credential: FederatedCredential): JsonObject {
  return {
    id: credential.id,
    name: credential.name,
    issuer: credential.issuer,
    subject: credential.subject,
    description: credential.description ?? null,
    audiences: credential.audiences,
  };
}
