// Tokens as Entra makes them, of the older and the newer kind.
import { createHash, randomBytes } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { Secret } from '../../../kit/secret.ts';
import type { Audience } from './audiences.ts';
import type { ServicePrincipal, User } from './directory-objects.ts';
import { graphAppId } from './first-party.ts';
import type { ObjectTable } from './object-table.ts';
import type { SigningKeys } from './signing-keys.ts';

/** How the client proved itself: not at all, by a secret, by a certificate or another issuer's token. */
export type ClientProof = 'none' | 'secret' | 'certificate' | 'federated';

export interface AccessTokenRequest {
  /** Where the token endpoint was reached; the issuer is there too. */
  readonly base: string;
  readonly principal: User | ServicePrincipal;
  readonly audience: Audience;
  /** The application that gets the token. */
  readonly clientId: string;
  readonly proof: ClientProof;
  readonly lifeSeconds?: number;
}

export interface IssuedToken {
  readonly token: Secret<string>;
  /** Seconds since the epoch. */
  readonly notBefore: number;
  readonly expiresOn: number;
  readonly expiresIn: number;
}

export interface TokenIssuer {
  access(request: AccessTokenRequest): Promise<IssuedToken>;
  id(request: {
    readonly base: string;
    readonly user: User;
    readonly clientId: string;
    readonly nonce?: string;
  }): Promise<Secret<string>>;
}

const lifeSeconds = 3600;
/** A managed identity's token lives a day, so that a short outage of the directory is not felt. */
export const managedIdentityLifeSeconds = 86_400;
/** Tokens with more groups than this name none and say that there are some. */
const groupsMax = 200;

const proofLevel: Readonly<Record<ClientProof, '0' | '1' | '2'>> = {
  none: '0',
  secret: '1',
  certificate: '2',
  federated: '2',
};

export function issuerOf(base: string, tenantId: string, version: 1 | 2): string {
  return version === 2 ? `${base}/${tenantId}/v2.0` : `${base}/${tenantId}/`;
}

/**
 * Tokens live by the machine's clock, also where the cloud's time is ahead of it: clients keep them, and services check them, by no
 * other.
 */
export function createTokenIssuer(
  keys: SigningKeys,
  objects: Pick<ObjectTable, 'groupsOf'>,
  machineNow: () => number,
): TokenIssuer {
  const sign = async (claims: JWTPayload): Promise<Secret<string>> => {
    const { SignJWT } = await import('jose');
    const key = await keys.current();
    const header = { typ: 'JWT', alg: 'RS256', x5t: key.kid, kid: key.kid };
    return new Secret(await new SignJWT(claims).setProtectedHeader(header).sign(key.privateKey));
  };

  return {
    async access(request) {
      const { principal, audience, clientId } = request;
      const issuedAt = Math.floor(machineNow() / 1000);
      const expiresIn = request.lifeSeconds ?? lifeSeconds;
      const expiresOn = issuedAt + expiresIn;
      const issuer = issuerOf(request.base, principal.tenantId, audience.version);
      const level = proofLevel[request.proof];
      const token = await sign({
        aud: audience.aud,
        iss: issuer,
        iat: issuedAt,
        nbf: issuedAt,
        exp: expiresOn,
        ...(audience.version === 1
          ? { appid: clientId, appidacr: level, idp: issuer }
          : { azp: clientId, azpacr: level }),
        ...(principal.kind === 'User'
          ? userClaims(principal, objects.groupsOf(principal.id), audience, clientId)
          : appClaims(principal, audience)),
        oid: principal.id,
        tid: principal.tenantId,
        uti: randomBytes(16).toString('base64url'),
        ver: audience.version === 1 ? '1.0' : '2.0',
      });
      return { token, notBefore: issuedAt, expiresOn, expiresIn };
    },
    async id({ base, user, clientId, nonce }) {
      const issuedAt = Math.floor(machineNow() / 1000);
      return sign({
        aud: clientId,
        iss: issuerOf(base, user.tenantId, 2),
        iat: issuedAt,
        nbf: issuedAt,
        exp: issuedAt + lifeSeconds,
        name: user.displayName,
        preferred_username: user.userPrincipalName,
        ...groupClaims(objects.groupsOf(user.id)),
        ...(nonce === undefined ? {} : { nonce }),
        oid: user.id,
        sub: pairwise(user.id, clientId),
        tid: user.tenantId,
        uti: randomBytes(16).toString('base64url'),
        ver: '2.0',
        ...(user.directoryRoles.length === 0 ? {} : { wids: user.directoryRoles }),
      });
    },
  };
}

function appClaims(principal: ServicePrincipal, audience: Audience): JWTPayload {
  const roles = principal.grantedRoles[audience.appId] ?? [];
  return {
    idtyp: 'app',
    sub: principal.id,
    ...(roles.length === 0 ? {} : { roles }),
    ...(principal.resourceId === undefined ? {} : { xms_mirid: principal.resourceId }),
  };
}

function userClaims(user: User, groups: readonly string[], audience: Audience, clientId: string): JWTPayload {
  return {
    acr: '1',
    amr: ['pwd'],
    idtyp: 'user',
    name: user.displayName,
    scp: delegated(audience),
    sub: pairwise(user.id, clientId),
    ...groupClaims(groups),
    ...(audience.version === 1
      ? { unique_name: user.userPrincipalName, upn: user.userPrincipalName }
      : { preferred_username: user.userPrincipalName }),
    ...(user.directoryRoles.length === 0 ? {} : { wids: user.directoryRoles }),
  };
}

function groupClaims(groups: readonly string[]): JWTPayload {
  if (groups.length === 0) return {};
  return groups.length <= groupsMax ? { groups } : { hasgroups: true };
}

/** What a person lets an application do; nobody is asked for consent here, so `.default` is what the service has. */
function delegated(audience: Audience): string {
  const all = audience.appId === graphAppId ? 'Directory.AccessAsUser.All User.Read' : 'user_impersonation';
  const asked = audience.scopes.filter((scope) => scope !== '.default');
  return asked.length === 0 ? all : asked.join(' ');
}

/** The subject differs between applications, so that they cannot tell that they have the same user. */
function pairwise(objectId: string, clientId: string): string {
  return createHash('sha256').update(`${objectId} ${clientId}`).digest('base64url');
}
