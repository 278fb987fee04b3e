// The public keys of other issuers, found by their discovery documents and kept for a while.
import type { createLocalJWKSet, JSONWebKeySet } from 'jose';
import { parseJson } from '../../../arm/json-text.ts';
import { isRecord } from '../../../arm/record.ts';
import type { IssuerClient } from './issuer-client.ts';

export type KeySet = ReturnType<typeof createLocalJWKSet>;

export interface IssuerKeys {
  /** Asks again when `fresh`, though not more often than every few seconds. Throws an Error that says what was wrong. */
  of(issuer: string, fresh?: boolean): Promise<KeySet>;
}

const keepMs = 10 * 60 * 1000;
const leastMs = 5000;
const remembered = 1000;
const keysMax = 100;

export function createIssuerKeys(client: Pick<IssuerClient, 'get'>, machineNow: () => number = Date.now): IssuerKeys {
  const known = new Map<string, { readonly readAt: number; readonly keys: Promise<KeySet> }>();
  return {
    async of(issuer, fresh = false) {
      const kept = known.get(issuer);
      const age = kept ? machineNow() - kept.readAt : Number.POSITIVE_INFINITY;
      if (kept && age < (fresh ? leastMs : keepMs)) return kept.keys;
      const keys = readKeys(client, issuer);
      const entry = { readAt: machineNow(), keys };
      known.delete(issuer);
      known.set(issuer, entry);
      if (known.size > remembered) {
        const [oldest] = known.keys();
        if (oldest !== undefined) known.delete(oldest);
      }
      keys.catch(() => {
        if (known.get(issuer) === entry) known.delete(issuer);
      });
      return keys;
    },
  };
}

async function readKeys(client: Pick<IssuerClient, 'get'>, issuer: string): Promise<KeySet> {
  const discovery = await readObject(client, `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  if (discovery.issuer !== issuer) throw new Error("The discovery document's issuer is another one.");
  if (typeof discovery.jwks_uri !== 'string') throw new Error('The discovery document names no jwks_uri.');
  const { keys } = await readObject(client, discovery.jwks_uri);
  if (!Array.isArray(keys) || keys.length > keysMax || !keys.every(isRecord)) {
    throw new Error('The key document holds no list of keys.');
  }
  const jose = await import('jose');
  return jose.createLocalJWKSet({ keys } as unknown as JSONWebKeySet);
}

async function readObject(client: Pick<IssuerClient, 'get'>, url: string): Promise<Readonly<Record<string, unknown>>> {
  const parsed = parseJson(await client.get(url), 8);
  if (!parsed.ok || !isRecord(parsed.value))
    throw new Error('The issuer answered with something else than a document.');
  return parsed.value;
}
