// Bearer tokens made for kubeconfigs. A cluster keeps the hash of each, with the user it stands for; the token itself is known
// only to who it was given to.
import { createHash, randomBytes } from 'node:crypto';
import { Secret } from '../../../kit/secret.ts';
import type { KubeObject } from '../object.ts';
import type { Entry, Objects } from '../objects/objects.ts';
import type { User } from './user.ts';

/** No resource type serves these: they are not to be read through the API. */
const storage = 'access.internal/tokens';

export interface StaticTokenRequest {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  /** Epoch milliseconds; left out, the token is valid until it is withdrawn. */
  readonly expiresAt?: number;
}

interface StoredToken extends KubeObject {
  spec: StaticTokenRequest;
}

/** Makes a token and keeps its hash. */
export async function issueStaticToken(objects: Objects, request: StaticTokenRequest): Promise<Secret> {
  const token = randomBytes(32).toString('base64url');
  const name = hashOf(token);
  const object: StoredToken = {
    apiVersion: 'access.internal/v1',
    kind: 'Token',
    metadata: { name, uid: name },
    spec: { ...request },
  };
  await objects.commit((transaction) => transaction.put(storage, object));
  return new Secret(token);
}

/** Withdraws every token of a user; gives their number. */
export async function withdrawStaticTokens(objects: Objects, user: string): Promise<number> {
  return objects.commit((transaction) => {
    const withdrawn = [...transaction.list(storage)].filter((entry) => tokenOf(entry).user === user);
    for (const entry of withdrawn) transaction.delete(entry);
    return withdrawn.length;
  });
}

/** The user of a token that this cluster made and has not withdrawn. The look-up is by hash, so timing tells nothing of it. */
export function staticTokenUser(objects: Objects, token: string, now: number): User | undefined {
  const entry = objects.get(storage, '', hashOf(token));
  if (!entry) return undefined;
  const { user, uid, groups = [], expiresAt } = tokenOf(entry);
  if (expiresAt !== undefined && now >= expiresAt) return undefined;
  return { name: user, ...(uid === undefined ? {} : { uid }), groups: [...groups, 'system:authenticated'] };
}

const parsed = new WeakMap<Entry, StaticTokenRequest>();

function tokenOf(entry: Entry): StaticTokenRequest {
  const known = parsed.get(entry);
  if (known) return known;
  const { spec } = JSON.parse(entry.bytes.toString()) as StoredToken;
  parsed.set(entry, spec);
  return spec;
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
