// What the directory holds. One document each, whose partition is the tenant and whose id is the object id.
import type { Secret } from '../../../kit/secret.ts';
import type { JsonObject } from '../kernel/record.ts';

export interface Tenant {
  readonly id: string;
  readonly displayName: string;
  /** The domain that user names end with, such as `contoso.onmicrosoft.test`. Names the tenant as well as its id does. */
  readonly domain: string;
}

interface Common {
  readonly id: string;
  readonly tenantId: string;
  readonly displayName: string;
  readonly createdDateTime: string;
  /** What Graph keeps for its clients and nothing here looks at. */
  readonly more?: JsonObject;
}

export interface User extends Common {
  readonly kind: 'User';
  readonly userPrincipalName: string;
  /** The folded user principal name: unique in the tenant. */
  readonly upnKey: string;
  readonly accountEnabled: boolean;
  /** Sealed at rest. Users without one cannot sign in with a password. */
  readonly passwordHash?: Secret<string>;
  /** Template ids of directory roles, which tokens carry as `wids`. */
  readonly directoryRoles: readonly string[];
  /** Refresh tokens from before this time are revoked. */
  readonly sessionsValidFrom?: number;
}

export interface Group extends Common {
  readonly kind: 'Group';
  readonly mailNickname: string;
  readonly securityEnabled: boolean;
  /** Object ids of users, groups and service principals. */
  readonly members: readonly string[];
  readonly owners: readonly string[];
}

export interface PasswordCredential {
  readonly keyId: string;
  readonly displayName?: string;
  /** The first characters of the secret, for people to tell secrets apart. */
  readonly hint: string;
  readonly startDateTime: string;
  readonly endDateTime: string;
  /** Sealed at rest. */
  readonly hash: Secret<string>;
}

export interface KeyCredential {
  readonly keyId: string;
  readonly displayName?: string;
  readonly startDateTime: string;
  readonly endDateTime: string;
  /** The certificate, DER in base64. */
  readonly certificate: string;
}

export interface FederatedCredential {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly subject: string;
  readonly audiences: readonly string[];
  readonly description?: string;
}

export interface Application extends Common {
  readonly kind: 'Application';
  readonly appId: string;
  readonly identifierUris: readonly string[];
  readonly redirectUris: {
    readonly web: readonly string[];
    readonly spa: readonly string[];
    readonly publicClient: readonly string[];
  };
  /** Device code and password grants need no client credential. */
  readonly isFallbackPublicClient: boolean;
  /** Which tokens it takes as a resource. */
  readonly accessTokenVersion: 1 | 2;
  readonly passwordCredentials: readonly PasswordCredential[];
  readonly keyCredentials: readonly KeyCredential[];
  readonly federatedIdentityCredentials: readonly FederatedCredential[];
  readonly owners: readonly string[];
}

export interface ServicePrincipal extends Common {
  readonly kind: 'ServicePrincipal';
  readonly appId: string;
  readonly servicePrincipalType: 'Application' | 'ManagedIdentity';
  readonly servicePrincipalNames: readonly string[];
  readonly accountEnabled: boolean;
  /** Of the Azure resource that it is the identity of, as given, and folded: unique in the tenant. */
  readonly resourceId?: string;
  readonly resourceKey?: string;
  /** Application permissions by the resource's app id: what tokens for it carry as `roles`. */
  readonly grantedRoles: { readonly [resourceAppId: string]: readonly string[] };
  readonly owners: readonly string[];
}

export type DirectoryObject = User | Group | Application | ServicePrincipal;
export type ObjectKind = DirectoryObject['kind'];
export type ObjectOf<K extends ObjectKind> = Extract<DirectoryObject, { kind: K }>;
