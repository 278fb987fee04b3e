// Opens a document store on PostgreSQL.
import type { KeyRing } from '../../kit/key-ring.ts';
import type { Secret } from '../../kit/secret.ts';
import { documentStore } from '../document-store.ts';
import type { Store } from '../store.ts';
import { connect, type ServerSettings } from './connection.ts';
import { type PostgresEngine, postgresEngine } from './engine.ts';
import { checkSchemaName } from './names.ts';
import { prepareSchema } from './schema.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, or the settings one by one. */
  readonly server: string | Secret | ServerSettings;
  /** The PostgreSQL schema that holds everything; `aro` when left out. One service each. */
  readonly schema?: string;
  /** In the pool; one more listens for commits. 16 when left out. */
  readonly maxConnections?: number;
  /** How long the change feed's history is kept. A day when left out. */
  readonly historySeconds?: number;
  /** 30 when left out. */
  readonly statementTimeoutSeconds?: number;
  /** How long a call waits for a connection. 5 when left out. */
  readonly connectTimeoutSeconds?: number;
  /** How long to wait here for a server that is not there. 15 when left out. */
  readonly openTimeoutSeconds?: number;
}

/** Throws Unavailable, naming host and port, when the server is not there within openTimeoutSeconds. */
export async function openPostgresStore(options: PostgresOptions & { readonly keyRing?: KeyRing }): Promise<Store> {
  return documentStore(await openPostgresEngine(options), options.keyRing ? { keyRing: options.keyRing } : {});
}

/** The engine alone. */
export async function openPostgresEngine(options: PostgresOptions): Promise<PostgresEngine> {
  const { server, schema = 'aro', maxConnections = 16, historySeconds = 86_400 } = options;
  checkSchemaName(schema);
  const connections = await connect({
    server,
    maxConnections,
    statementTimeoutSeconds: options.statementTimeoutSeconds ?? 30,
    connectTimeoutSeconds: options.connectTimeoutSeconds ?? 5,
    openTimeoutSeconds: options.openTimeoutSeconds ?? 15,
  });
  try {
    await prepareSchema(connections, schema);
  } catch (error) {
    await connections.close();
    throw error;
  }
  return postgresEngine(connections, schema, historySeconds);
}
