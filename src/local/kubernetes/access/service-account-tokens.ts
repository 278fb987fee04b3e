// Service-account tokens: issued on request, bound to their account and perhaps to a pod, node or secret, and valid only as long
// as these exist.
import { createHash, createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import { compactVerify, decodeJwt, exportJWK, type JWTPayload, SignJWT } from 'jose';
import type { Objects } from '../objects/objects.ts';
import { quotedList } from './policy-rule.ts';
import type { User } from './user.ts';

/** An object by name and uid, as a token's claims refer to it. */
export interface ObjectRef {
  readonly name: string;
  readonly uid: string;
}

export interface TokenToIssue {
  readonly namespace: string;
  readonly account: ObjectRef;
  readonly audiences: readonly string[];
  readonly lifeSeconds: number;
  readonly pod?: ObjectRef;
  readonly node?: ObjectRef;
  readonly secret?: ObjectRef;
}

export interface IssuedToken {
  readonly token: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
  readonly id: string;
}

/** A token that was found good. */
export interface TokenUser {
  readonly user: User;
  /** Those asked for that the token is meant for. */
  readonly audiences: readonly string[];
}

export interface ServiceAccountTokens {
  readonly issuer: string;
  issue(request: TokenToIssue): Promise<IssuedToken>;
  /**
   * The user of a token, when it is for one of these audiences. Undefined for any that is not good here and now. A promise only
   * for tokens whose signature was not checked of late.
   */
  check(token: string, audiences: readonly string[]): TokenUser | undefined | Promise<TokenUser | undefined>;
  /** Why a token that {@link check} does not take is not good; undefined for those that are not of this issuer. */
  whyRefused(token: string, audiences: readonly string[]): Promise<string | undefined>;
  /** The public keys, as `/openid/v1/jwks` gives them. */
  keySet(): Promise<{ readonly keys: readonly object[] }>;
}

export interface ServiceAccountTokenOptions {
  readonly issuer: string;
  readonly objects: Objects;
  /** Made at the first use. */
  readonly key: () => KeyObject;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

interface KubernetesClaims {
  readonly namespace?: unknown;
  readonly serviceaccount?: Partial<ObjectRef>;
  readonly pod?: Partial<ObjectRef>;
  readonly node?: Partial<ObjectRef>;
  readonly secret?: Partial<ObjectRef>;
}

/** Signatures checked of late, by token: checking one takes longer than all the rest of a request. */
const rememberedTokens = 256;

export function createServiceAccountTokens(options: ServiceAccountTokenOptions): ServiceAccountTokens {
  const { issuer, objects, now } = options;
  let keys: SigningKeys | undefined;
  let verified: Map<string, JWTPayload> | undefined;

  function signingKeys(): SigningKeys {
    keys ??= keysOf(options.key());
    return keys;
  }

  async function verify(token: string): Promise<JWTPayload | undefined> {
    try {
      const { payload } = await compactVerify(token, signingKeys().publicKey, { algorithms: [algorithm] });
      const claims = JSON.parse(Buffer.from(payload).toString()) as JWTPayload;
      verified ??= new Map();
      if (verified.size >= rememberedTokens) verified.delete(verified.keys().next().value ?? '');
      verified.set(token, claims);
      return claims;
    } catch {
      return undefined;
    }
  }

  /** The user of claims that are signed well, or why they do not count. */
  function judge(claims: JWTPayload, wanted: readonly string[]): TokenUser | string {
    const seconds = now() / 1000;
    const { exp, nbf, aud = [] } = claims;
    const meant = [aud].flat();
    const audiences = wanted.filter((audience) => meant.includes(audience));
    if (audiences.length === 0) {
      return `token audiences ${quotedList(meant)} is invalid for the target audiences ${quotedList(wanted)}`;
    }
    if (exp === undefined || seconds >= exp) return 'service account token has expired';
    if (nbf !== undefined && seconds < nbf) return 'service account token is not valid yet';
    const user = boundUser(objects, (claims['kubernetes.io'] ?? {}) as KubernetesClaims, claims.sub, claims.jti);
    return typeof user === 'string' ? user : { user, audiences };
  }

  function userOf(claims: JWTPayload, wanted: readonly string[]): TokenUser | undefined {
    const judged = judge(claims, wanted);
    return typeof judged === 'string' ? undefined : judged;
  }

  return {
    issuer,
    async issue(request) {
      const { privateKey, id: keyId } = signingKeys();
      const issuedAt = Math.floor(now() / 1000);
      const expiresAt = issuedAt + request.lifeSeconds;
      const id = randomUUID();
      const { namespace, account, pod, node, secret } = request;
      const claims = {
        aud: [...request.audiences],
        exp: expiresAt,
        iat: issuedAt,
        iss: issuer,
        jti: id,
        'kubernetes.io': {
          namespace,
          ...(node ? { node } : {}),
          ...(pod ? { pod } : {}),
          ...(secret ? { secret } : {}),
          serviceaccount: { name: account.name, uid: account.uid },
        },
        nbf: issuedAt,
        sub: `system:serviceaccount:${namespace}:${account.name}`,
      };
      const token = await new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid: keyId }).sign(privateKey);
      return { token, expiresAt, id };
    },
    check(token, audiences) {
      const known = verified?.get(token);
      if (known) return userOf(known, audiences);
      if (!isFrom(token, issuer)) return undefined;
      return verify(token).then((claims) => claims && userOf(claims, audiences));
    },
    async whyRefused(token, audiences) {
      if (!isFrom(token, issuer)) return undefined;
      const claims = await verify(token);
      if (!claims) return 'go-jose/go-jose: error in cryptographic primitive';
      const judged = judge(claims, audiences);
      return typeof judged === 'string' ? judged : undefined;
    },
    async keySet() {
      const { publicKey, id } = signingKeys();
      return { keys: [{ use: 'sig', kid: id, alg: algorithm, ...(await exportJWK(publicKey)) }] };
    },
  };
}

const algorithm = 'ES256';

interface SigningKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly id: string;
}

/** A key's name is the hash of its public half, as the server makes it. */
function keysOf(privateKey: KeyObject): SigningKeys {
  const publicKey = createPublicKey(privateKey);
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return { privateKey, publicKey, id: createHash('sha256').update(der).digest('base64url') };
}

const longestToken = 32 * 1024;

/** Whether a token says that it is of this issuer; most other bearer tokens are no JWTs at all. */
function isFrom(token: string, issuer: string): boolean {
  if (token.length > longestToken) return false;
  try {
    return decodeJwt(token).iss === issuer;
  } catch {
    return false;
  }
}

const invalidated = 'service account token has been invalidated';

/** The user of good claims, while everything they are bound to is still there with the same uid; otherwise what is missing. */
function boundUser(objects: Objects, claims: KubernetesClaims, subject: unknown, id: unknown): User | string {
  const { namespace, serviceaccount, pod, node, secret } = claims;
  const account = serviceaccount?.name;
  if (typeof namespace !== 'string' || typeof account !== 'string') return 'sub claim is invalid';
  const name = `system:serviceaccount:${namespace}:${account}`;
  if (subject !== name) return 'sub claim is invalid';
  if (!isThere(objects, '/serviceaccounts', namespace, serviceaccount)) {
    return `serviceaccounts ${JSON.stringify(account)} not found`;
  }
  if (pod && !isThere(objects, '/pods', namespace, pod)) return invalidated;
  if (secret && !isThere(objects, '/secrets', namespace, secret)) return invalidated;
  // A token of a pod names its node for information; only one bound to the node alone ends with it.
  if (node && !pod && !isThere(objects, '/nodes', '', node)) return invalidated;
  return {
    name,
    uid: serviceaccount?.uid ?? '',
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra: {
      ...(typeof id === 'string' ? { 'authentication.kubernetes.io/credential-id': [`JTI=${id}`] } : {}),
      ...(node ? refExtra('node', node) : {}),
      ...(pod ? refExtra('pod', pod) : {}),
    },
  };
}

function isThere(objects: Objects, type: string, namespace: string, ref: Partial<ObjectRef> | undefined): boolean {
  return objects.get(type, namespace, ref?.name ?? '')?.uid === ref?.uid;
}

const refExtra = (kind: string, { name = '', uid }: Partial<ObjectRef>): Record<string, string[]> => ({
  [`authentication.kubernetes.io/${kind}-name`]: [name],
  ...(uid === undefined ? {} : { [`authentication.kubernetes.io/${kind}-uid`]: [uid] }),
});
