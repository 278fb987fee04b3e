// What the tests of this folder share: a schema of one's own on the test server, an engine on it, and raw connections.
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import type { Layout, Write } from '../../engine.ts';
import { postgresForTests, testSchema } from '../../testing/postgres-server.ts';
import type { PostgresEngine } from '../engine.ts';
import { openPostgresEngine, type PostgresOptions } from '../open.ts';

export interface TestWorld {
  readonly url: string;
  readonly schema: string;
  /** Closed at the end of the test. */
  engine(options?: Partial<PostgresOptions>): Promise<PostgresEngine>;
  /** A connection that the store knows nothing of; closed at the end of the test. */
  raw(): Promise<Client>;
}

export async function testWorld(t: TestContext, server?: { readonly url: string }): Promise<TestWorld> {
  const { url } = server ?? (await postgresForTests());
  const schema = testSchema();
  const closers: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    for (const close of closers) await close();
    if (server) return;
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await client.end();
  });
  return {
    url,
    schema,
    async engine(options = {}) {
      const engine = await openPostgresEngine({ server: url, schema, maxConnections: 8, ...options });
      closers.push(() => engine.close());
      return engine;
    },
    async raw() {
      const client = new Client({ connectionString: url });
      client.on('error', () => undefined);
      await client.connect();
      closers.push(() => client.end().catch(() => undefined));
      return client;
    },
  };
}

export const plain: Layout = { name: 'things', uniqueKeys: [], indexes: [], labels: undefined };

export function create(id: string, body: object = {}, more: { queue?: string; ttlSeconds?: number } = {}): Write {
  return { kind: 'create', id, json: JSON.stringify(body), labels: [], ...more };
}

/** Asks again and again until the answer is right; the test's own timeout is the bound. */
export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await new Promise((settle) => setTimeout(settle, 20));
}
