// Objects whose bytes are sealed in the file: whoever reads the file without the key reads nothing of them but their names and
// labels. In memory they are plain.
import type { DatabaseSync } from 'node:sqlite';
import { type KeyRing, SealError } from '../../../kit/key-ring.ts';
import { StoreError } from '../../../store/errors.ts';
import { prepare } from '../../../store/sqlite/database.ts';
import { exactBuffer } from './entry.ts';
import type { StorageType } from './objects.ts';

export interface Sealing {
  readonly ring: KeyRing;
  /** The types to seal. Objects of others are read sealed or not, so the set may change. */
  readonly types: ReadonlySet<StorageType>;
}

/** What a sealed object is bound to: in any other place it does not open. */
export interface Place {
  readonly cluster: string;
  readonly type: StorageType;
  readonly namespace: string;
  readonly name: string;
}

/** What stands in the file for an object, both ways. */
export interface Seals {
  seal(place: Place, bytes: Buffer): Uint8Array;
  /** Throws StoreError Seal for a sealed object that does not open here. */
  open(place: Place, bytes: Uint8Array<ArrayBuffer>): Buffer;
}

/** JSON of an object begins with it, and nothing sealed does. */
const brace = '{'.charCodeAt(0);
const proofContext = 'the key of this database';

/**
 * Throws StoreError Seal when the database was sealed with a key that is not in the ring, by a proof that the first opening with a
 * key leaves in it.
 */
export function createSeals(db: DatabaseSync, file: string, sealing: Sealing | undefined): Seals {
  const ring = sealing?.ring;
  const proof = prepare<[string]>(db, 'SELECT sealed FROM proof').get()?.[0];
  if (proof === undefined) {
    if (ring) prepare(db, 'INSERT INTO proof VALUES (?)').run(ring.seal('', proofContext));
  } else opened(() => keyed(ring).open(proof, proofContext), file);

  return {
    seal(place, bytes) {
      if (!sealing?.types.has(place.type)) return bytes;
      return Buffer.from(sealing.ring.seal(bytes.toString(), contextOf(place)), 'latin1');
    },
    open(place, bytes) {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (buffer[0] === brace) return buffer;
      const what = `${file}: ${place.type} ${place.namespace}/${place.name} of cluster ${place.cluster}`;
      return exactBuffer(opened(() => keyed(ring).open(buffer.toString('latin1'), contextOf(place)), what));
    },
  };
}

const contextOf = ({ cluster, type, namespace, name }: Place): string =>
  JSON.stringify([cluster, type, namespace, name]);

function keyed(ring: KeyRing | undefined): KeyRing {
  if (!ring) throw new SealError('unknown-key', 'sealed, and no key was given');
  return ring;
}

function opened(open: () => string, what: string): string {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    const advice =
      error.reason === 'unknown-key' ? '; put back the key that belongs to it, or use another data directory' : '';
    throw new StoreError('Seal', `database ${what}: ${error.message}${advice}`, { cause: error });
  }
}
