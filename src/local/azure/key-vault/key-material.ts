// Keys of a vault, made or brought in: the public half as JSON Web Key, the private half as a secret text.
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { Secret } from '../../../kit/secret.ts';
import type { JsonObject } from '../kernel/record.ts';
import { badParameter } from './errors.ts';

export interface KeyMaterial {
  readonly jwk: JsonObject;
  /** PKCS #8 PEM, or base64url of a symmetric key. */
  readonly value: Secret<string>;
}

export interface KeyWish {
  readonly kty: string;
  readonly size?: number;
  readonly crv?: string;
}

const generate = promisify(generateKeyPair);
const rsaSizes = [2048, 3072, 4096];
const octSizes = [128, 192, 256];
const curveNames: { readonly [crv: string]: string } = {
  'P-256': 'prime256v1',
  'P-384': 'secp384r1',
  'P-521': 'secp521r1',
  'P-256K': 'secp256k1',
  SECP256K1: 'secp256k1',
};

/** What a key may be used for when the request does not say. */
export const defaultOps: { readonly [kty: string]: readonly string[] } = {
  RSA: ['encrypt', 'decrypt', 'sign', 'verify', 'wrapKey', 'unwrapKey'],
  EC: ['sign', 'verify'],
  oct: ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'],
};

export function plainType(kty: string): string {
  return kty.replace(/-HSM$/, '');
}

export async function makeKey({ kty, size, crv }: KeyWish): Promise<KeyMaterial> {
  switch (plainType(kty)) {
    case 'RSA': {
      const modulusLength = size ?? 2048;
      if (!rsaSizes.includes(modulusLength)) throw badParameter(`Key size ${modulusLength} is not supported.`);
      return materialOf((await generate('rsa', { modulusLength })).privateKey, kty);
    }
    case 'EC': {
      const asked = crv ?? 'P-256';
      const namedCurve = Object.hasOwn(curveNames, asked) ? curveNames[asked] : undefined;
      if (namedCurve === undefined) throw badParameter(`Curve '${asked.slice(0, 32)}' is not supported.`);
      return materialOf((await generate('ec', { namedCurve })).privateKey, kty);
    }
    case 'oct': {
      const bits = size ?? 256;
      if (!octSizes.includes(bits)) throw badParameter(`Key size ${bits} is not supported.`);
      return { jwk: { kty }, value: new Secret(randomBytes(bits / 8).toString('base64url')) };
    }
    default:
      throw badParameter(`Key type '${kty.slice(0, 32)}' is not supported.`);
  }
}

export function materialOf(key: KeyObject, kty: string): KeyMaterial {
  const { n, e, x, y, crv } = createPublicKey(key).export({ format: 'jwk' });
  const jwk: JsonObject =
    key.asymmetricKeyType === 'rsa' && n !== undefined && e !== undefined
      ? { kty, n, e }
      : { kty, crv: crv === 'secp256k1' ? 'P-256K' : (crv ?? ''), x: x ?? '', y: y ?? '' };
  return { jwk, value: new Secret(key.export({ type: 'pkcs8', format: 'pem' }).toString()) };
}

/** From a JSON Web Key with its private members. */
export function importKey(given: { readonly [member: string]: unknown }): KeyMaterial {
  const kty = typeof given.kty === 'string' ? given.kty : '';
  const plain = plainType(kty);
  if (plain === 'oct') {
    const key = typeof given.k === 'string' ? Buffer.from(given.k, 'base64url') : Buffer.alloc(0);
    if (!octSizes.includes(key.length * 8)) throw badParameter('The key to import has a size that is not supported.');
    return { jwk: { kty }, value: new Secret(key.toString('base64url')) };
  }
  if (plain !== 'RSA' && plain !== 'EC') throw badParameter(`Key type '${kty.slice(0, 32)}' is not supported.`);
  const crv = given.crv === 'P-256K' || given.crv === 'SECP256K1' ? 'secp256k1' : given.crv;
  try {
    const jwk = { ...given, kty: plain, ...(crv === undefined ? {} : { crv }) } as unknown as Record<string, string>;
    const key = createPrivateKey({ key: jwk, format: 'jwk' });
    const bits = key.asymmetricKeyDetails?.modulusLength;
    if (bits !== undefined && !rsaSizes.includes(bits)) throw badParameter(`Key size ${bits} is not supported.`);
    return materialOf(key, kty);
  } catch (error) {
    if (error instanceof Error && error.name === 'VaultError') throw error;
    throw badParameter('The key to import is not a valid JSON Web Key with its private members.');
  }
}
