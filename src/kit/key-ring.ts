import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Secret } from './secret.ts';

/** One AES-256 key and the name that sealed values carry to say which key opens them. */
export interface Key {
  /** Letters, digits, `_` and `-`; it is written in clear beside every value sealed with the key. */
  readonly id: string;
  /** 32 bytes. */
  readonly bytes: Secret<Buffer>;
}

/**
 * Seals text with AES-256-GCM under the newest key and opens what any of its keys sealed. `context` is bound to the
 * value without being stored: a sealed value that is moved somewhere else does not open there.
 */
export interface KeyRing {
  /** The id of the key that seals. */
  readonly current: string;
  /** Throws TypeError for text with a lone surrogate, which UTF-8 cannot carry. */
  seal(plain: string, context: string): string;
  /** Throws {@link SealError} for an unknown key, a changed byte, or another context. */
  open(sealed: string, context: string): string;
  /** The id of the key that sealed this text, or undefined when it is not a sealed text. */
  keyOf(text: string): string | undefined;
}

export class SealError extends Error {
  readonly reason: 'unknown-key' | 'changed';

  constructor(reason: 'unknown-key' | 'changed', message: string) {
    super(message);
    this.name = 'SealError';
    this.reason = reason;
  }
}

const form = /^sealed\.1\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]+)$/;
const nonceBytes = 12;
const tagBytes = 16;

/** The first key seals; all of them open. */
export function keyRing(keys: readonly [Key, ...Key[]]): KeyRing {
  const byId = new Map<string, Buffer>();
  for (const key of keys) {
    const bytes = key.bytes.reveal();
    if (bytes.length !== 32) throw new TypeError(`key ${key.id} has ${bytes.length} bytes, AES-256 takes 32`);
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(key.id))
      throw new TypeError(`key id ${JSON.stringify(key.id)} is not [A-Za-z0-9_-]{1,64}`);
    if (byId.has(key.id)) throw new TypeError(`key id ${key.id} is in the ring twice`);
    byId.set(key.id, bytes);
  }
  const current = keys[0].id;
  const currentBytes = keys[0].bytes.reveal();

  return {
    current,
    seal(plain, context) {
      if (!plain.isWellFormed()) throw new TypeError('text with a lone surrogate cannot be sealed');
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', currentBytes, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `sealed.1.${current}.${body.toString('base64url')}`;
    },
    open(sealed, context) {
      const match = form.exec(sealed);
      const id = match?.[1];
      const text = match?.[2] ?? '';
      const body = Buffer.from(text, 'base64url');
      // The last character may carry bits that decode to nothing; only the one spelling that seal writes is accepted.
      if (id === undefined || body.length < nonceBytes + tagBytes || body.toString('base64url') !== text)
        throw new SealError('changed', 'not a sealed value');
      const bytes = byId.get(id);
      if (!bytes) {
        throw new SealError(
          'unknown-key',
          `sealed with key ${id}, which is not in the key ring (${[...byId.keys()].join(', ')})`,
        );
      }
      try {
        const opener = createDecipheriv('aes-256-gcm', bytes, body.subarray(0, nonceBytes))
          .setAAD(Buffer.from(context))
          .setAuthTag(body.subarray(-tagBytes));
        return opener.update(body.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + opener.final('utf8');
      } catch {
        throw new SealError(
          'changed',
          `does not open with key ${id}: a byte was changed, the key differs, or it was sealed for another place`,
        );
      }
    },
    keyOf: (text) => form.exec(text)?.[1],
  };
}
