// Finding an object of a vault, with the errors that vaults give when it is not there.
import type { Document } from '../../../store/store.ts';
import type { VaultPlace } from './call.ts';
import { conflict, VaultError } from './errors.ts';
import { type HeadBody, type ObjectType, readHead, readVersion, type VersionBody } from './objects.ts';

const words = {
  secrets: { one: 'Secret', code: 'SecretNotFound' },
  keys: { one: 'Key', code: 'KeyNotFound' },
  certificates: { one: 'Certificate', code: 'CertificateNotFound' },
} as const;

export function missing(type: ObjectType, name: string, version?: string): VaultError {
  const { one, code } = words[type];
  return new VaultError(
    404,
    code,
    `A ${one.toLowerCase()} with (name/id) ${name}${version === undefined ? '' : `/${version}`} was not found in this key vault. ` +
      'If you recently deleted this object you may be able to recover it using the correct recovery command.',
  );
}

/** The head of what is there and not deleted. */
export async function demandHead(call: VaultPlace, type: ObjectType, name: string): Promise<Document<HeadBody>> {
  const head = await readHead(call.objects, call.vault.name, type, name);
  if (head === undefined || head.body.deleted !== undefined) throw missing(type, name);
  return head;
}

export interface Found {
  readonly head: Document<HeadBody>;
  readonly version: Document<VersionBody>;
}

/** A version of what is there and not deleted; the newest unless one is named. */
export async function demandVersion(
  call: VaultPlace,
  type: ObjectType,
  name: string,
  version: string | undefined,
): Promise<Found> {
  const head = await demandHead(call, type, name);
  const wanted = version ?? head.body.current;
  const found = wanted === undefined ? undefined : await readVersion(call.objects, call.vault.name, type, name, wanted);
  if (found === undefined) throw missing(type, name, version);
  return { head, version: found };
}

/** The head to add a version to: undefined when the name is new. Throws when it is deleted and not yet purged. */
export async function headToWrite(
  call: VaultPlace,
  type: ObjectType,
  name: string,
): Promise<Document<HeadBody> | undefined> {
  const head = await readHead(call.objects, call.vault.name, type, name);
  if (head?.body.deleted !== undefined) {
    const { one } = words[type];
    throw conflict(
      `${one} ${name} is currently in a deleted but recoverable state, and its name cannot be reused; in this state, the ` +
        `${one.toLowerCase()} can only be recovered or purged.`,
      'ObjectIsDeletedButRecoverable',
    );
  }
  return head;
}
