// Users of an OpenID Connect issuer that a cluster trusts.
import { createRemoteJWKSet, customFetch, decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { createGuardedClient, type GuardedClient } from '../../../kit/guarded-client.ts';
import type { User } from './user.ts';

/** An issuer as a cluster is configured with it. */
export interface OidcIssuer {
  /** https, exactly as in the tokens' `iss`. */
  readonly url: string;
  /** A token must be for one of these. */
  readonly audiences: readonly string[];
  /** `sub` unless given. */
  readonly usernameClaim?: string;
  /** Left out: the issuer's URL and `#`, or nothing for the claim `email`. `-` is none. */
  readonly usernamePrefix?: string;
  readonly groupsClaim?: string;
  readonly groupsPrefix?: string;
  readonly requiredClaims?: Readonly<Record<string, string>>;
  /** PEM of authorities to trust besides the public ones. */
  readonly ca?: string;
  /** Whether the issuer may be on this machine or a private network. */
  readonly allowPrivateAddress?: boolean;
}

/** Issuers' keys, for all clusters of a host together. */
export interface OidcKeys {
  /** The user of a token of this issuer; undefined when the token is not good, or the issuer cannot be asked for its keys. */
  check(token: string, issuer: OidcIssuer, now: number): Promise<User | undefined>;
  close(): Promise<void>;
}

const timeoutSeconds = 10;
const largestAnswer = 1024 * 1024;
/** Keys are asked for again after this, or earlier for a token with an unknown key, but not more often than below. */
const keysLastMs = 3_600_000;
const leastBetweenMs = 10_000;
/** Asymmetric ones only: with a shared secret, whoever can check a token can make one. */
const algorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'];

type KeySet = ReturnType<typeof createRemoteJWKSet>;

interface Known {
  readonly client: GuardedClient;
  keys: Promise<KeySet> | undefined;
  /** When the issuer was last asked where its keys are, in vain; epoch milliseconds. */
  failedAt: number;
}

export function createOidcKeys(): OidcKeys {
  const issuers = new Map<string, Known>();

  function known(issuer: OidcIssuer): Known {
    const id = JSON.stringify([issuer.url, issuer.ca ?? '', issuer.allowPrivateAddress === true]);
    let entry = issuers.get(id);
    if (!entry) {
      entry = { client: clientFor(issuer), keys: undefined, failedAt: Number.NEGATIVE_INFINITY };
      issuers.set(id, entry);
    }
    return entry;
  }

  async function keysOf(issuer: OidcIssuer, now: number): Promise<KeySet> {
    const entry = known(issuer);
    if (!entry.keys && now - entry.failedAt < leastBetweenMs) throw new Error('the issuer did not answer a moment ago');
    entry.keys ??= discover(entry.client, issuer.url);
    try {
      return await entry.keys;
    } catch (error) {
      entry.keys = undefined;
      entry.failedAt = now;
      throw error;
    }
  }

  return {
    async check(token, issuer, now) {
      try {
        if (token.length > longestToken || decodeJwt(token).iss !== issuer.url) return undefined;
        const { payload } = await jwtVerify(token, await keysOf(issuer, now), {
          algorithms,
          issuer: issuer.url,
          audience: [...issuer.audiences],
          currentDate: new Date(now),
          requiredClaims: ['exp'],
        });
        return claimedUser(payload, issuer);
      } catch {
        return undefined;
      }
    },
    async close() {
      await Promise.all([...issuers.values()].map(({ client }) => client.close()));
    },
  };
}

const longestToken = 32 * 1024;

function clientFor(issuer: OidcIssuer): GuardedClient {
  const url = new URL(issuer.url);
  return createGuardedClient({
    allowedHosts: [url.hostname],
    allowedPorts: [url.port === '' ? 443 : Number(url.port)],
    ...(issuer.allowPrivateAddress ? { privateHosts: [url.hostname] } : {}),
    ...(issuer.ca === undefined ? {} : { ca: issuer.ca }),
    timeoutSeconds,
    maxResponseBytes: largestAnswer,
  });
}

async function discover(client: GuardedClient, issuer: string): Promise<KeySet> {
  const base = issuer.endsWith('/') ? issuer.slice(0, -1) : issuer;
  const about = await getJson(client, `${base}/.well-known/openid-configuration`);
  if (about.issuer !== issuer || typeof about.jwks_uri !== 'string') {
    throw new Error('the discovery document is of another issuer, or names no keys');
  }
  return createRemoteJWKSet(new URL(about.jwks_uri), {
    timeoutDuration: timeoutSeconds * 1000,
    cooldownDuration: leastBetweenMs,
    cacheMaxAge: keysLastMs,
    [customFetch]: async (url) => Response.json(await getJson(client, url)),
  });
}

async function getJson(client: GuardedClient, url: string): Promise<Record<string, unknown>> {
  const answer = await client.request(url, { headers: { accept: 'application/json' } });
  if (answer.status !== 200) throw new Error(`status ${answer.status}`);
  return JSON.parse(answer.body.toString()) as Record<string, unknown>;
}

function claimedUser(claims: JWTPayload, issuer: OidcIssuer): User | undefined {
  for (const [name, value] of Object.entries(issuer.requiredClaims ?? {})) {
    if (claims[name] !== value) return undefined;
  }
  const { usernameClaim = 'sub', groupsClaim, groupsPrefix = '' } = issuer;
  const name = claims[usernameClaim];
  if (typeof name !== 'string' || name === '') return undefined;
  if (usernameClaim === 'email' && claims.email_verified !== undefined && claims.email_verified !== true)
    return undefined;
  const groups = groupsClaim === undefined ? [] : groupsOf(claims[groupsClaim]);
  if (!groups) return undefined;
  return {
    name: `${usernamePrefix(issuer, usernameClaim)}${name}`,
    groups: [...groups.map((group) => `${groupsPrefix}${group}`), 'system:authenticated'],
    ...(typeof claims.jti === 'string'
      ? { extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`] } }
      : {}),
  };
}

function usernamePrefix(issuer: OidcIssuer, claim: string): string {
  if (issuer.usernamePrefix === '-') return '';
  return issuer.usernamePrefix ?? (claim === 'email' ? '' : `${issuer.url}#`);
}

function groupsOf(value: unknown): string[] | undefined {
  if (value === undefined) return [];
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined;
}
