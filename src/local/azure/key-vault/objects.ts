// What a vault holds: secrets, keys and certificates, each a head and its versions, in one partition for each vault. What belongs
// together (a certificate with its key and its secret) is written in one batch.
import type { Secret } from '../../../kit/secret.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Container, Document, Operation } from '../../../store/store.ts';
import type { JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { conflict } from './errors.ts';

export type ObjectType = 'secrets' | 'keys' | 'certificates';

/** Times in epoch seconds, as vaults show them. */
export interface Attributes {
  readonly enabled: boolean;
  readonly nbf?: number;
  readonly exp?: number;
  readonly created: number;
  readonly updated: number;
}

export type Tags = { readonly [name: string]: string };

/** What a head shows of its newest version, in lists. */
export interface Summary {
  readonly attributes: Attributes;
  readonly tags?: Tags;
  readonly contentType?: string;
  /** A key or secret that belongs to a certificate. */
  readonly managed?: boolean;
  /** Thumbprint of a certificate, base64url. */
  readonly x5t?: string;
  readonly subject?: string;
}

export interface VersionBody extends Summary {
  readonly kind: 'version';
  /** `secrets/<folded name>`: what lists of versions go by. */
  readonly list: string;
  readonly type: ObjectType;
  readonly name: string;
  readonly version: string;
  /** The public half of a key as JWK; for symmetric keys the type alone. */
  readonly jwk?: JsonObject;
  readonly ops?: readonly string[];
  readonly exportable?: boolean;
  /** Base64 DER of a certificate. */
  readonly cer?: string;
  /** The secret's value; the private half of a key. */
  readonly value?: Secret<string>;
}

export interface Pending {
  readonly requestId: string;
  readonly version: string;
  readonly status: 'inProgress' | 'completed' | 'cancelled' | 'failed';
  readonly statusDetails?: string;
  readonly error?: { readonly code: string; readonly message: string };
  /** Base64 DER. */
  readonly csr: string;
  readonly issuer: string;
  readonly cancellationRequested: boolean;
  readonly tags?: Tags;
  readonly enabled: boolean;
}

export interface HeadBody extends Summary {
  readonly kind: 'head';
  /** The type, or `deleted` and the type. */
  readonly list: string;
  readonly type: ObjectType;
  readonly name: string;
  /** The newest version; absent while a first certificate is being made. */
  readonly current?: string;
  /** Epoch seconds. */
  readonly deleted?: { readonly at: number; readonly purgeAt: number };
  /** When something is to be done with it by itself, epoch milliseconds. */
  readonly dueAt?: number;
  readonly policy?: JsonObject;
  readonly rotation?: JsonObject;
  readonly pending?: Pending;
  /** The private key of the pending certificate, PKCS #8 PEM. */
  readonly value?: Secret<string>;
}

export interface IssuerBody {
  readonly kind: 'issuer';
  readonly list: 'issuers';
  readonly name: string;
  readonly shown: JsonObject;
  readonly value?: Secret<string>;
}

export interface ContactsBody {
  readonly kind: 'contacts';
  readonly list: 'contacts';
  readonly contacts: readonly JsonObject[];
}

export interface DeletedVaultBody {
  readonly kind: 'deletedVault';
  readonly list: 'vaults';
  readonly name: string;
  readonly subscriptionId: string;
  readonly vaultId: string;
  readonly location: string;
  readonly deletionDate: number;
  readonly dueAt: number;
  readonly purgeProtection: boolean;
  /** The resource without its id, to be put back. */
  readonly resource: JsonObject;
}

export interface BackupKeyBody {
  readonly kind: 'backupKey';
  readonly list: 'backup';
  readonly value: Secret<string>;
}

export type Stored = HeadBody | VersionBody | IssuerBody | ContactsBody | DeletedVaultBody | BackupKeyBody;
export type Objects = Container<Stored>;

/** Of documents that are of no one vault; no vault can have the name. */
export const cloudPartition = '_cloud';

const opened = new WeakMap<World, Promise<Objects>>();

export function openObjects(world: World): Promise<Objects> {
  let objects = opened.get(world);
  if (objects === undefined) {
    objects = world.store.container<Stored>({
      name: 'key_vault_objects',
      indexes: [
        { field: ['list'], type: 'string' },
        { field: ['dueAt'], type: 'number' },
      ],
      sealed: [['value']],
    });
    opened.set(world, objects);
  }
  return objects;
}

export function headId(type: ObjectType, name: string): string {
  return `${type}/${name.toLowerCase()}`;
}

export function versionId(type: ObjectType, name: string, version: string): string {
  return `${headId(type, name)}/${version.toLowerCase()}`;
}

export async function readHead(
  objects: Objects,
  vault: string,
  type: ObjectType,
  name: string,
): Promise<Document<HeadBody> | undefined> {
  const document = await objects.read({ partition: vault, id: headId(type, name) });
  return document?.body.kind === 'head' ? { ...document, body: document.body } : undefined;
}

export async function readVersion(
  objects: Objects,
  vault: string,
  type: ObjectType,
  name: string,
  version: string,
): Promise<Document<VersionBody> | undefined> {
  const document = await objects.read({ partition: vault, id: versionId(type, name, version) });
  return document?.body.kind === 'version' ? { ...document, body: document.body } : undefined;
}

export interface Change<T> {
  readonly operations: readonly Operation<Stored>[];
  readonly result: T;
}

const attempts = 20;

/** Plans and writes in one batch; plans again when somebody else was faster. */
export async function commit<T>(objects: Objects, vault: string, plan: () => Promise<Change<T>>): Promise<T> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { operations, result } = await plan();
    if (operations.length === 0) return result;
    try {
      await objects.batch(vault, operations);
      return result;
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'Exists', 'NotFound')) throw error;
    }
  }
  throw conflict('Another request changed the same object at the same time. Try again.');
}

/** The write that makes the body the state of a document that may exist already. */
export function upsert(current: Document<Stored> | undefined, id: string, body: Stored): Operation<Stored> {
  return current === undefined ? { kind: 'create', id, body } : { kind: 'replace', version: current, body };
}

/** The head as a new version leaves it. */
export function headOf(version: VersionBody, before: HeadBody | undefined, more: Partial<HeadBody> = {}): HeadBody {
  const { type, name, attributes, tags, contentType, managed, x5t, subject } = version;
  return {
    kind: 'head',
    list: type,
    type,
    name: before?.name ?? name,
    current: version.version,
    attributes,
    ...(tags === undefined ? {} : { tags }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(managed === undefined ? {} : { managed }),
    ...(x5t === undefined ? {} : { x5t }),
    ...(subject === undefined ? {} : { subject }),
    ...(before?.policy === undefined ? {} : { policy: before.policy }),
    ...(before?.rotation === undefined ? {} : { rotation: before.rotation }),
    ...more,
  };
}
