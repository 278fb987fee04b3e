// The keys that tokens are signed with. They are made once and sealed at rest, so tokens outlive a restart; an old key stays among
// the published ones until every token it signed has expired.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { promisify } from 'node:util';
import type { JWK } from 'jose';
import { Secret } from '../../../kit/secret.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Container, Document, Store } from '../../../store/store.ts';

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface SigningKeys {
  /** The one that signs. The first time it has to be made, which takes a moment. */
  current(): Promise<SigningKey>;
  /** A key that signed tokens which may still be valid. */
  find(kid: string): Promise<SigningKey | undefined>;
  /** What is published, the current one first. */
  published(): Promise<readonly JWK[]>;
  /** Signs with a new key from now on. */
  rotate(): Promise<SigningKey>;
  /** 32 bytes that stay the same for a purpose. */
  secretFor(purpose: string): Promise<Secret<Buffer>>;
}

interface KeyDocument {
  readonly kind: 'signing' | 'secret';
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** PKCS #8 in PEM, or base64. */
  readonly key: Secret<string>;
}

const partition = 'cloud';
const dayMs = 86_400_000;
const rotateAfterMs = 90 * dayMs;
/** Longer than any token lives. */
const keepAfterMs = 2 * dayMs;
const generate = promisify(generateKeyPair);

export async function openSigningKeys(store: Store, now: () => number): Promise<SigningKeys> {
  const container = await store.container<KeyDocument>({ name: 'entra_keys', sealed: [['key']] });
  const { documents } = await container.query({ partition, limit: 1000 });
  const secrets = new Map<string, Secret<Buffer>>();
  /** Oldest first. */
  let keys: readonly (SigningKey & { readonly createdAt: number })[] = [];
  for (const document of documents) {
    if (document.body.kind === 'secret') secrets.set(document.id, secretOf(document));
    else keys = [...keys, signingKey(document)];
  }
  keys = [...keys].sort((a, b) => a.createdAt - b.createdAt);

  const make = async () => {
    const { privateKey } = await generate('rsa', { modulusLength: 2048 });
    const key = new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    const body = { kind: 'signing', createdAt: now(), key } as const;
    const made = signingKey(await container.create({ partition, id: kidOf(privateKey) }, body));
    await forgetOld(container, keys, made.createdAt);
    keys = [...keys.filter((_, index) => !isStale(keys, index, made.createdAt)), made];
    return made;
  };
  let making: Promise<SigningKey> | undefined;
  const rotate = (): Promise<SigningKey> => {
    making ??= make().finally(() => {
      making = undefined;
    });
    return making;
  };
  const current = async (): Promise<SigningKey> => {
    const newest = keys.at(-1);
    return newest && now() - newest.createdAt < rotateAfterMs ? newest : rotate();
  };

  return {
    current,
    async find(kid) {
      return keys.find((key) => key.kid === kid);
    },
    async published() {
      await current();
      return keys.toReversed().map(publicJwk);
    },
    rotate,
    async secretFor(purpose) {
      const known = secrets.get(purpose);
      if (known) return known;
      const secret = await createOrRead(container, purpose, {
        kind: 'secret',
        createdAt: now(),
        key: new Secret(randomBytes(32).toString('base64')),
      });
      secrets.set(purpose, secret);
      return secret;
    },
  };
}

async function createOrRead(container: Container<KeyDocument>, id: string, body: KeyDocument): Promise<Secret<Buffer>> {
  try {
    return secretOf(await container.create({ partition, id }, body));
  } catch (error) {
    const there = isStoreError(error, 'Exists') ? await container.read({ partition, id }) : undefined;
    if (!there) throw error;
    return secretOf(there);
  }
}

/** A key is stale when the one that followed it has signed for long enough. */
function isStale(keys: readonly { readonly createdAt: number }[], index: number, now: number): boolean {
  const next = keys[index + 1];
  return next !== undefined && now - next.createdAt > keepAfterMs;
}

async function forgetOld(
  container: Container<KeyDocument>,
  keys: readonly (SigningKey & { readonly createdAt: number })[],
  now: number,
): Promise<void> {
  for (const [index, key] of keys.entries()) {
    if (!isStale(keys, index, now)) continue;
    const document = await container.read({ partition, id: key.kid });
    if (document) await container.delete(document);
  }
}

function signingKey(document: Document<KeyDocument>): SigningKey & { readonly createdAt: number } {
  const privateKey = createPrivateKey(document.body.key.reveal());
  return {
    kid: document.id,
    privateKey,
    publicKey: createPublicKey(privateKey),
    createdAt: document.body.createdAt,
  };
}

function secretOf(document: Document<KeyDocument>): Secret<Buffer> {
  return new Secret(Buffer.from(document.body.key.reveal(), 'base64'));
}

function kidOf(key: KeyObject): string {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64url').slice(0, 27);
}

function publicJwk(key: SigningKey): JWK {
  const { kty, n, e } = key.publicKey.export({ format: 'jwk' });
  return { kty, use: 'sig', kid: key.kid, x5t: key.kid, alg: 'RS256', n, e } as JWK;
}
