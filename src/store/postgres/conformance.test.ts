import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { storeConformance } from '../testing/conformance.ts';
import { postgresForTests } from '../testing/postgres-server.ts';
import { openPostgresStore } from './open.ts';

storeConformance('PostgreSQL', async () => {
  const { url } = await postgresForTests();
  const schema = `conformance_${randomBytes(6).toString('hex')}`;
  return {
    open: (options) => openPostgresStore({ server: url, schema, maxConnections: 4, ...options }),
    async drop() {
      const client = new Client(url);
      await client.connect();
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await client.end();
    },
  };
});
