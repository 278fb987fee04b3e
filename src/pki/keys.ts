// Private keys are held as KeyObject: it prints without its content and cannot be put into JSON by accident.
import {
  createPrivateKey,
  generateKeyPair,
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  type webcrypto,
} from 'node:crypto';
import { promisify } from 'node:util';
import { PkiError } from './errors.ts';

export type KeyType = 'P-256' | 'P-384' | 'RSA-2048' | 'RSA-4096';

/** A private key and its public half in DER (SubjectPublicKeyInfo). */
export interface KeyPair {
  readonly key: KeyObject;
  readonly publicKey: Uint8Array<ArrayBuffer>;
}

const generate = promisify(generateKeyPair);

/** Keys on a curve take less time to make than to hand to another thread. */
const generators: Readonly<Record<KeyType, () => KeyPairKeyObjectResult | Promise<KeyPairKeyObjectResult>>> = {
  'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'P-384': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'RSA-2048': () => generate('rsa', { modulusLength: 2048 }),
  'RSA-4096': () => generate('rsa', { modulusLength: 4096 }),
};

export async function generateKey(type: KeyType): Promise<KeyObject> {
  return (await generators[type]()).privateKey;
}

export async function generatePair(type: KeyType): Promise<KeyPair> {
  const { privateKey, publicKey } = await generators[type]();
  return { key: privateKey, publicKey: new Uint8Array(publicKey.export({ type: 'spki', format: 'der' })) };
}

/** Reads a private key in PEM (PKCS #8, SEC 1 or PKCS #1, not encrypted). `from` names its origin in the error. */
export function readKey(pem: string | Buffer, from: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    // The cause's text is OpenSSL's and holds no part of the key.
    throw new PkiError('garbage', `${from} is not an unencrypted private key in PEM`, { cause });
  }
}

/** PKCS #8, the form that every TLS library reads. */
export function keyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export interface SigningAlgorithm {
  readonly name: string;
  readonly hash: string;
  readonly namedCurve?: string;
}

const byCurve: Readonly<Record<string, SigningAlgorithm>> = {
  prime256v1: { name: 'ECDSA', hash: 'SHA-256', namedCurve: 'P-256' },
  secp384r1: { name: 'ECDSA', hash: 'SHA-384', namedCurve: 'P-384' },
  secp521r1: { name: 'ECDSA', hash: 'SHA-512', namedCurve: 'P-521' },
};

const smallestRsaBits = 2048;

/** How a key of this kind signs, or undefined for keys that are too weak or that TLS peers do not all know. */
export function signingAlgorithm(key: KeyObject): SigningAlgorithm | undefined {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === 'ec') return byCurve[details?.namedCurve ?? ''];
  if (key.asymmetricKeyType === 'rsa' && (details?.modulusLength ?? 0) >= smallestRsaBits) {
    return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  }
  return undefined;
}

export const allowedKeys = `EC on P-256, P-384 or P-521, or RSA of at least ${smallestRsaBits} bits`;

export async function webKey(key: KeyObject, algorithm: SigningAlgorithm): Promise<webcrypto.CryptoKey> {
  return key.toCryptoKey(algorithm, true, ['sign']);
}
