// Connections to one PostgreSQL server: a pool, prepared statements by name, and the rules for what is tried again.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientConfig, Pool, type PoolClient } from 'pg';
import { Secret } from '../../kit/secret.ts';
import { StoreError } from '../errors.ts';
import { settingsOf } from './address.ts';
import { isConnectionLost, isRepeatable, type Stage, toStoreError } from './errors.ts';
import { digest } from './names.ts';

export interface ServerSettings {
  readonly host: string;
  readonly port?: number;
  readonly database: string;
  readonly user: string;
  /** A function is asked at every new connection: short-lived tokens. */
  readonly password?: Secret | (() => Promise<string>);
  /** Given: TLS, checked against the authorities named here or else the system's. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: Secret };
}

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database`, or the settings one by one. */
  readonly server: string | Secret | ServerSettings;
  readonly maxConnections: number;
  readonly statementTimeoutSeconds: number;
  /** How long a call waits for a connection, a new one or one that others use. */
  readonly connectTimeoutSeconds: number;
  /** How long opening the store waits for a server that is not there. */
  readonly openTimeoutSeconds: number;
}

/** Everything as PostgreSQL's own text; callers turn it into numbers where they must. */
export type Cells = readonly (string | null)[];

export type Value = string | number | boolean | null | Buffer | readonly (string | number | boolean | null)[];

/** A statement with a name is prepared once per connection. */
export interface Statement {
  readonly text: string;
  readonly name?: string;
}

export function prepared(text: string): Statement {
  return { text, name: digest(text, 32) };
}

export interface Connections {
  /** `host:port`, for messages. */
  readonly server: string;
  /** Changes nothing, so it is asked again on another connection when the first breaks. */
  read(statement: Statement, values: readonly Value[]): Promise<readonly Cells[]>;
  /** Asked once; again only when the database itself undid it. Throws the database's own error: see `toStoreError`. */
  write(statement: Statement, values: readonly Value[]): Promise<readonly Cells[]>;
  /** A connection for oneself, for what must stay on one. */
  withClient<T>(stage: Stage, use: (client: PoolClient) => Promise<T>): Promise<T>;
  /** For a connection outside the pool. */
  readonly config: ClientConfig;
  close(): Promise<void>;
}

const repeats = 5;
const readAttempts = 3;
/** The database's own timeout comes first; this one is for a server that no longer answers at all. */
const silenceSeconds = 5;

const asText = { getTypeParser: () => (value: string) => value };

/** Waits, within openTimeoutSeconds, until the server takes connections. */
export async function connect(options: ConnectionOptions): Promise<Connections> {
  const { config, server } = configOf(options);
  const pool = new Pool({
    ...config,
    max: options.maxConnections,
    connectionTimeoutMillis: options.connectTimeoutSeconds * 1000,
    idleTimeoutMillis: 30_000,
  });
  // A connection that breaks while nobody uses it leaves the pool by itself; one in use fails its query.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));

  let closed: Promise<void> | undefined;

  function checkOut(): Promise<PoolClient> {
    return closed ? Promise.reject(new StoreError('Closed', 'the store is closed')) : pool.connect().catch(refused);
  }

  function refused(error: unknown): never {
    if (error instanceof Error && error.message === 'timeout exceeded when trying to connect') {
      throw new StoreError('Busy', `PostgreSQL at ${server}: all ${options.maxConnections} connections are in use`);
    }
    throw toStoreError(error, 'connect', server);
  }

  async function withClient<T>(use: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await checkOut();
    let broken = false;
    try {
      return await use(client);
    } catch (error) {
      broken = isConnectionLost(error);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** As `withClient` with one query, written out: this is the path of every call. */
  async function once(statement: Statement, values: readonly Value[]): Promise<readonly Cells[]> {
    const client = await checkOut();
    const { text, name } = statement;
    const query = { text, values: values as unknown[], rowMode: 'array' as const, ...(name ? { name } : {}) };
    try {
      const { rows } = await client.query<(string | null)[]>(query);
      client.release();
      return rows;
    } catch (error) {
      client.release(isConnectionLost(error));
      throw error;
    }
  }

  async function repeated(statement: Statement, values: readonly Value[]): Promise<readonly Cells[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(statement, values);
      } catch (error) {
        if (attempt === repeats || !isRepeatable(error)) throw error;
        await sleep(Math.random() * 5 * attempt);
      }
    }
  }

  const connections: Connections = {
    server,
    config,
    async read(statement, values) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await once(statement, values);
        } catch (error) {
          if (attempt >= repeats || !(isConnectionLost(error) ? attempt < readAttempts : isRepeatable(error)))
            throw toStoreError(error, 'read', server);
          if (isRepeatable(error)) await sleep(Math.random() * 5 * attempt);
        }
      }
    },
    write: repeated,
    withClient: (stage, use) =>
      withClient(use).catch((error: unknown) => {
        throw toStoreError(error, stage, server);
      }),
    close() {
      closed ??= pool.end();
      return closed;
    },
  };
  try {
    await waitForServer(connections, options.openTimeoutSeconds);
  } catch (error) {
    await connections.close();
    throw error;
  }
  return connections;
}

async function waitForServer(connections: Connections, openTimeoutSeconds: number): Promise<void> {
  const deadline = performance.now() + openTimeoutSeconds * 1000;
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1000)) {
    try {
      await connections.read({ text: 'SELECT 1' }, []);
      return;
    } catch (error) {
      const cause = error instanceof StoreError ? error : undefined;
      const hopeless = cause?.code === 'Unavailable' && /SQLSTATE (28|3D)/.test(cause.message);
      if (hopeless || !cause || !['Unavailable', 'Busy'].includes(cause.code)) throw error;
      if (performance.now() + pauseMs > deadline) throw error;
      await sleep(pauseMs);
    }
  }
}

function configOf(options: ConnectionOptions): { config: ClientConfig; server: string } {
  const base: ClientConfig = {
    application_name: 'aro',
    keepAlive: true,
    statement_timeout: options.statementTimeoutSeconds * 1000,
    query_timeout: (options.statementTimeoutSeconds + silenceSeconds) * 1000,
    connectionTimeoutMillis: options.connectTimeoutSeconds * 1000,
    // The store's statements rely on read committed, whatever the server's default is; they are short, so compiling never pays.
    // A plan made and kept while a table was empty must not read the whole table when it has grown.
    options: '-c default_transaction_isolation=read\\ committed -c jit=off -c enable_seqscan=off',
    types: asText,
  };
  const server = isText(options.server) ? settingsOf(reveal(options.server)) : options.server;
  const port = server.port ?? 5432;
  const { password, tls } = server;
  return {
    server: `${server.host}:${port}`,
    config: {
      ...base,
      host: server.host,
      port,
      database: server.database,
      user: server.user,
      ...(password ? { password: typeof password === 'function' ? password : password.reveal() } : {}),
      ...(tls ? { ssl: { ...tls, ...(tls.key ? { key: tls.key.reveal() } : {}), rejectUnauthorized: true } } : {}),
    } as ClientConfig,
  };
}

function isText(server: ConnectionOptions['server']): server is string | Secret {
  return typeof server === 'string' || server instanceof Secret;
}

function reveal(address: string | Secret): string {
  return typeof address === 'string' ? address : address.reveal();
}
