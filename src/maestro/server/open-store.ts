// The store of the configuration, with the keys that manifests are sealed under.
import { createHash } from 'node:crypto';
import { type Key, type KeyRing, keyRing } from '../../kit/key-ring.ts';
import { Secret } from '../../kit/secret.ts';
import { openPostgresStore } from '../../store/postgres/open.ts';
import { openSqliteStore } from '../../store/sqlite/open.ts';
import type { Store } from '../../store/store.ts';
import type { MaestroServerConfig } from './config.ts';

/** Throws Error for settings that do not go together, StoreError for a database that cannot be opened. */
export async function openStore(config: MaestroServerConfig['store']): Promise<Store> {
  const ring = sealingRing(config);
  const { file, postgres, schema } = config;
  if ((file === undefined) === (postgres === undefined)) {
    throw new Error('give one of store.file (SQLite) and store.postgres (PostgreSQL)');
  }
  if (file !== undefined) return openSqliteStore({ file, keyRing: ring });
  return openPostgresStore({ server: postgres ?? '', schema, keyRing: ring });
}

function sealingRing({ sealingKey, olderSealingKeys = [] }: MaestroServerConfig['store']): KeyRing {
  return keyRing([sealingKeyOf(sealingKey), ...olderSealingKeys.map(sealingKeyOf)]);
}

/** Named by a hash of it, so that nobody has to choose names. */
function sealingKeyOf(text: Secret): Key {
  const bytes = Buffer.from(text.reveal(), 'base64');
  if (bytes.length !== 32) throw new Error('a sealing key must be 32 bytes in base64');
  const id = createHash('sha256').update('maestro sealing key').update(bytes).digest('hex').slice(0, 16);
  return { id, bytes: new Secret(bytes) };
}
