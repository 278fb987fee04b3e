// Managed identities of an endpoint that a program is given: the wire of App Service. ManagedIdentityCredential of @azure/identity finds
// its endpoint once per process, by variables; programs that share a process and not their identities use this.
import type { AccessToken } from '@azure/identity';
import { request } from 'undici';
import type { Secret } from '../kit/secret.ts';
import type { Credential } from './credential.ts';
import { AzureError, errorIn, noAnswer, noToken } from './errors.ts';

export interface IdentityEndpoint {
  readonly url: string;
  /** Sent with every request; whoever knows it has the identities. */
  readonly header: Secret<string>;
}

const apiVersion = '2019-08-01';
const timeoutMs = 30_000;
/** A token is used until so long before its end, or for half of its life when that is shorter. */
const renewBeforeMs = 5 * 60_000;

interface Kept {
  readonly token: AccessToken;
  readonly renewAt: number;
}

/** Gives tokens of the endpoint's identity, or of the one with this client id. They are kept until shortly before their end. */
export function identityEndpointCredential(
  endpoint: IdentityEndpoint,
  clientId?: string,
  now: () => number = Date.now,
): Credential {
  const kept = new Map<string, Kept>();
  const asking = new Map<string, Promise<Kept>>();
  const fresh = async (resource: string): Promise<Kept> => {
    try {
      const token = await ask(endpoint, resource, clientId);
      const left = token.expiresOnTimestamp - now();
      const made = { token, renewAt: now() + Math.max(left - renewBeforeMs, left / 2) };
      kept.set(resource, made);
      return made;
    } finally {
      asking.delete(resource);
    }
  };
  return {
    async getToken(scopes) {
      const resource = resourceOf(scopes);
      const current = kept.get(resource);
      if (current && current.renewAt > now()) return current.token;
      // Those who ask meanwhile wait for the same answer.
      const answer = asking.get(resource) ?? fresh(resource);
      asking.set(resource, answer);
      return (await answer).token;
    },
  };
}

function resourceOf(scopes: string | string[]): string {
  const [scope, ...more] = typeof scopes === 'string' ? [scopes] : scopes;
  if (scope === undefined || more.length > 0)
    throw new TypeError('a managed identity gives tokens for one scope at a time');
  return scope.replace(/\/\.default$/, '');
}

async function ask({ url, header }: IdentityEndpoint, resource: string, clientId?: string): Promise<AccessToken> {
  const address = new URL(url);
  address.searchParams.set('api-version', apiVersion);
  address.searchParams.set('resource', resource);
  if (clientId !== undefined) address.searchParams.set('client_id', clientId);
  let status: number;
  let body: unknown;
  try {
    const answer = await request(address, {
      headers: { 'x-identity-header': header.reveal() },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    status = answer.statusCode;
    body = JSON.parse(await answer.body.text());
  } catch (error) {
    throw new AzureError({ code: noAnswer, message: 'the endpoint of managed identities gave no token', cause: error });
  }
  const { access_token: token, expires_on: expiresOn } = body as Record<string, unknown>;
  if (status === 200 && typeof token === 'string') {
    return { token, expiresOnTimestamp: Number(expiresOn) * 1000, tokenType: 'Bearer' };
  }
  const { code, message } = errorIn(body) ?? { code: '', message: '' };
  throw new AzureError({
    status,
    code: noToken,
    message: `the endpoint of managed identities refused: ${code} ${message}`.trim(),
  });
}
