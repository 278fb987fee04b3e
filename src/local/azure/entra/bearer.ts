// Who a bearer token is from. A token is verified once; until it expires, later checks find it by its hash.
import { hash } from 'node:crypto';
import { ArmError } from '../../../arm/errors.ts';
import { quotable } from '../../../arm/query.ts';
import { isRecord } from '../../../arm/record.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import { audienceKey } from './audience-key.ts';
import type { ObjectTable } from './object-table.ts';
import type { SigningKeys } from './signing-keys.ts';
import { issuerOf } from './tokens.ts';

/** Why a token does not say who calls. */
export type BearerProblem = 'missing' | 'malformed' | 'expired' | 'audience' | 'issuer' | 'gone';

export class BearerError extends Error {
  readonly problem: BearerProblem;

  constructor(problem: BearerProblem, message: string) {
    super(message);
    this.name = 'BearerError';
    this.problem = problem;
  }
}

export interface Bearer extends CallerIdentity {
  /** Application permissions, for an application. */
  readonly roles: readonly string[];
  /** Template ids of directory roles, for a user. */
  readonly directoryRoles: readonly string[];
}

export interface BearerCheck {
  /** Throws {@link BearerError}. Tokens of any tenant of the cloud. */
  check(authorization: string | undefined, audiences: readonly string[]): Promise<Bearer>;
}

interface Verified {
  readonly aud: string;
  readonly audKey: string;
  readonly exp: number;
  readonly oid: string;
  readonly appId: string | undefined;
  readonly roles: readonly string[];
  generation: number;
  bearer: Bearer | undefined;
}

const rememberedTokens = 20_000;
/** Headers found without a hash: those of the clients that are busy now. */
const recentHeaders = 64;
const tokenMaxLength = 16 * 1024;
const scheme = 'bearer ';

export function createBearerCheck(options: {
  /** Where issuers of this cloud are: its origin and its other names. */
  readonly bases: () => readonly string[];
  readonly tenantIds: readonly string[];
  readonly keys: SigningKeys;
  readonly objects: ObjectTable;
  /** As tokens are issued by it. */
  readonly machineNow: () => number;
}): BearerCheck {
  const { objects, machineNow } = options;
  const known = new Map<string, Verified>();
  const recent = new Map<string, Verified>();

  const verify = async (token: string): Promise<Verified> => {
    const claims = await verifiedClaims(token, options.keys);
    const { aud, iss, exp, oid } = claims;
    if (typeof aud !== 'string' || typeof exp !== 'number' || typeof oid !== 'string') throw malformed();
    const issuers = options
      .bases()
      .flatMap((base) => options.tenantIds.flatMap((id) => [issuerOf(base, id, 1), issuerOf(base, id, 2)]));
    if (typeof iss !== 'string' || !issuers.includes(iss)) {
      throw new BearerError('issuer', `The access token is from the wrong issuer '${quotable(String(iss), 200)}'.`);
    }
    const appId = claims.appid ?? claims.azp;
    const roles = Array.isArray(claims.roles) ? claims.roles.filter((role) => typeof role === 'string') : [];
    return {
      aud,
      audKey: audienceKey(aud),
      exp,
      oid,
      appId: typeof appId === 'string' ? appId : undefined,
      roles,
      generation: -1,
      bearer: undefined,
    };
  };

  const find = async (authorization: string | undefined): Promise<Verified> => {
    const token = bearerToken(authorization);
    const key = hash('sha256', token, 'base64url');
    const verified = known.get(key) ?? (await verify(token));
    remember(known, key, verified, rememberedTokens);
    if (authorization !== undefined) remember(recent, authorization, verified, recentHeaders);
    return verified;
  };

  return {
    async check(authorization, audiences) {
      const verified = recent.get(authorization ?? '') ?? (await find(authorization));
      const now = machineNow();
      if (verified.exp * 1000 <= now) throw expired(verified.exp, now);
      const { audKey } = verified;
      if (!audiences.some((audience) => audience === verified.aud || audienceKey(audience) === audKey)) {
        throw wrongAudience(verified.aud, audiences);
      }
      if (verified.generation !== objects.generation) {
        verified.bearer = bearerOf(verified, objects);
        verified.generation = objects.generation;
      }
      if (!verified.bearer) {
        throw new BearerError('gone', 'The access token is of a principal that is disabled or no longer exists.');
      }
      return verified.bearer;
    },
  };
}

/** Forgets the oldest beyond so many. */
function remember(map: Map<string, Verified>, key: string, verified: Verified, max: number): void {
  map.set(key, verified);
  if (map.size <= max) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** What follows the scheme. Whether it is a token at all is seen when it is verified. */
function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined || authorization === '') {
    throw new BearerError('missing', "Authentication failed. The 'Authorization' header is missing.");
  }
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme) {
    throw new BearerError(
      'malformed',
      "Authentication failed. The 'Authorization' header is provided in an invalid format.",
    );
  }
  const token = authorization.slice(scheme.length).trim();
  if (token.length > tokenMaxLength) throw malformed();
  return token;
}

async function verifiedClaims(token: string, keys: SigningKeys): Promise<Readonly<Record<string, unknown>>> {
  const { compactVerify, decodeProtectedHeader } = await import('jose');
  try {
    const { kid } = decodeProtectedHeader(token);
    const key = kid === undefined ? undefined : await keys.find(kid);
    if (!key) throw malformed();
    const { payload } = await compactVerify(token, key.publicKey, { algorithms: ['RS256'] });
    const claims: unknown = JSON.parse(Buffer.from(payload).toString('utf8'));
    if (isRecord(claims)) return claims;
  } catch {
    throw malformed();
  }
  throw malformed();
}

function malformed(): BearerError {
  return new BearerError('malformed', 'The access token is invalid.');
}

function expired(exp: number, now: number): BearerError {
  return new BearerError(
    'expired',
    `The access token expiry UTC time '${new Date(exp * 1000).toISOString()}' is earlier than current UTC time '${new Date(now).toISOString()}'.`,
  );
}

function wrongAudience(aud: string, audiences: readonly string[]): BearerError {
  const allowed = audiences.map((audience) => `'${audience}'`).join(',');
  return new BearerError(
    'audience',
    `The access token has been obtained for wrong audience or resource '${quotable(aud, 200)}'. It should exactly match with one of the allowed audiences ${allowed}.`,
  );
}

function bearerOf(token: Verified, objects: ObjectTable): Bearer | undefined {
  const principal = objects.get(token.oid);
  if (!principal || principal.kind === 'Group' || principal.kind === 'Application') return undefined;
  if (!principal.accountEnabled) return undefined;
  return {
    tenantId: principal.tenantId,
    objectId: principal.id,
    kind:
      principal.kind === 'User'
        ? 'User'
        : principal.servicePrincipalType === 'ManagedIdentity'
          ? 'ManagedIdentity'
          : 'ServicePrincipal',
    ...(token.appId === undefined ? {} : { appId: token.appId }),
    name: principal.kind === 'User' ? principal.userPrincipalName : principal.displayName,
    groups: objects.groupsOf(principal.id),
    roles: principal.kind === 'User' ? [] : token.roles,
    directoryRoles: principal.kind === 'User' ? principal.directoryRoles : [],
  };
}

const armCodes: Readonly<Record<BearerProblem, string>> = {
  missing: 'AuthenticationFailed',
  malformed: 'InvalidAuthenticationToken',
  expired: 'ExpiredAuthenticationToken',
  audience: 'InvalidAuthenticationTokenAudience',
  issuer: 'InvalidAuthenticationTokenTenant',
  gone: 'InvalidAuthenticationToken',
};

/** The 401 that Resource Manager gives, with the challenge that tells clients where tokens are made. */
export function armUnauthorized(error: BearerError, authority: string): ArmError {
  const description = error.message.replace(/["\\]/g, "'");
  const challenge =
    error.problem === 'missing'
      ? `Bearer authorization_uri="${authority}"`
      : `Bearer authorization_uri="${authority}", error="invalid_token", error_description="${description}"`;
  return new ArmError(401, armCodes[error.problem], error.message, {
    headers: { 'www-authenticate': challenge.replace(/[^\x20-\x7e]/g, '?') },
  });
}
