import type { Store } from '../../src/store/store.ts';

/** Where a test's documents are; plain data, so that it can be handed to another process. */
export type Address =
  | { readonly engine: 'sqlite'; readonly file: string }
  | { readonly engine: 'postgres'; readonly url: string; readonly schema: string };

/** Loads only the engine that is used: the processes of these tests start often. */
export async function openAt(address: Address): Promise<Store> {
  if (address.engine === 'sqlite') {
    const { openSqliteStore } = await import('../../src/store/sqlite/open.ts');
    return openSqliteStore({ file: address.file });
  }
  const { openPostgresStore } = await import('../../src/store/postgres/open.ts');
  return openPostgresStore({ server: address.url, schema: address.schema, maxConnections: 2 });
}

/** What the parent wants of this process. */
export function taskOf<Task>(): Task {
  return JSON.parse(process.env.CHAOS_TASK ?? '{}');
}
