// Passwords of people and secrets of applications, as they are kept and compared.
import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { Secret } from '../../../kit/secret.ts';

/** OWASP's smallest set for scrypt with 16 MiB of memory each. */
const cost = { N: 16_384, r: 8, p: 1 } as const;
const hashBytes = 32;

/** People choose passwords, so guessing one must be slow. */
export async function hashPassword(password: Secret<string>): Promise<Secret<string>> {
  const salt = randomBytes(16);
  const hash = await stretch(password, salt);
  return new Secret(`scrypt.${salt.toString('base64url')}.${hash.toString('base64url')}`);
}

/** Takes the same time whether or not there is a hash to compare with. */
export async function isPassword(kept: Secret<string> | undefined, given: Secret<string>): Promise<boolean> {
  const [, salt = '', expected = ''] = kept?.reveal().split('.') ?? [];
  const hash = await stretch(given, Buffer.from(salt, 'base64url'));
  const wanted = Buffer.from(expected, 'base64url');
  return wanted.length === hashBytes && timingSafeEqual(hash, wanted);
}

function stretch(password: Secret<string>, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.reveal().normalize('NFC'), salt, hashBytes, cost, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}

/** Secrets are 240 random bits, which no speed of guessing finds: a fast hash lets services sign in often. */
export function newSecret(): Secret<string> {
  return new Secret(randomBytes(30).toString('base64url'));
}

export function hashSecret(secret: Secret<string>): Secret<string> {
  const salt = randomBytes(16);
  return new Secret(`sha256.${salt.toString('base64url')}.${digest(secret, salt).toString('base64url')}`);
}

export function isSecret(kept: Secret<string>, given: Secret<string>): boolean {
  const [, salt = '', expected = ''] = kept.reveal().split('.');
  const wanted = Buffer.from(expected, 'base64url');
  const hash = digest(given, Buffer.from(salt, 'base64url'));
  return wanted.length === hash.length && timingSafeEqual(hash, wanted);
}

function digest(secret: Secret<string>, salt: Buffer): Buffer {
  return createHash('sha256').update(salt).update(secret.reveal()).digest();
}

/** Compares texts of any length in a time that tells nothing of where they differ. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
