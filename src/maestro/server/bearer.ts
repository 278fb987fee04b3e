// Bearer tokens: signed by an issuer that the configuration names, for this server.
import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, createRemoteJWKSet, type JSONWebKeySet, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { MaestroError } from './maestro-error.ts';

export interface TokenOptions {
  readonly issuer: string;
  readonly audience: string;
  /** A file with the issuer's keys as a JSON Web Key Set, or an https URL of it. */
  readonly keys: string;
}

/** The names that a token vouches for. Throws MaestroError 15 for one that is not good. */
export type VerifyBearer = (authorization: string) => Promise<readonly string[]>;

const maxTokenLength = 16_384;
const algorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'];

export async function createBearer({ issuer, audience, keys }: TokenOptions): Promise<VerifyBearer> {
  const keySet = await keySetOf(keys);
  return async (authorization) => {
    const [, token] = /^bearer +([\w.~+/-]+=*)$/i.exec(authorization.slice(0, maxTokenLength)) ?? [];
    if (token === undefined) throw new MaestroError(15, 'Account authentication could not be verified');
    try {
      const { payload } = await jwtVerify(token, keySet, {
        issuer,
        audience,
        requiredClaims: ['exp', 'sub'],
        algorithms,
      });
      return [`sub:${payload.sub}`];
    } catch (error) {
      // The cause names claims, not the token.
      throw new MaestroError(15, 'Account authentication could not be verified', { cause: error });
    }
  };
}

async function keySetOf(keys: string): Promise<JWTVerifyGetKey> {
  if (keys.startsWith('https://')) return createRemoteJWKSet(new URL(keys), { timeoutDuration: 5000 });
  return createLocalJWKSet(JSON.parse(await readFile(keys, 'utf8')) as JSONWebKeySet);
}
