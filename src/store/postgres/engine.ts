// PostgreSQL as an engine of the document store: the parts of this folder, put together.
import { randomBytes } from 'node:crypto';
import type { Engine, EngineContainer, Layout, Limits } from '../engine.ts';
import { StoreError } from '../errors.ts';
import type { Connections } from './connection.ts';
import { toStoreError } from './errors.ts';
import { feedOf } from './feed.ts';
import { feedFunctions } from './feed-functions.ts';
import { type Names, namesOf } from './names.ts';
import { type Notices, noticesOf } from './notices.ts';
import { queriesOf } from './queries.ts';
import { queueOf } from './queue.ts';
import { queueFunctions } from './queue-functions.ts';
import { newEpoch, prepareContainer } from './schema.ts';
import { type Upkeep, upkeepOf } from './upkeep.ts';
import { writeFunctions } from './write-functions.ts';
import { writesOf } from './writes.ts';

const limits: Limits = { documentBytes: 2 * 1024 * 1024, batchOperations: 100, batchBytes: 4 * 1024 * 1024 };

export interface PostgresEngine extends Engine {
  /** One round of housekeeping now. */
  upkeep(): Promise<void>;
}

/** The schema must have been prepared. Takes over the connections and closes them. */
export function postgresEngine(connections: Connections, schema: string, historySeconds: number): PostgresEngine {
  const notices = noticesOf(connections.config, schema);
  const upkeep = upkeepOf(connections, historySeconds);
  let closing: Promise<void> | undefined;

  return {
    limits,
    open: (layout) => openContainer(connections, notices, upkeep, schema, layout),
    async secret(name) {
      const find = { text: `SELECT encode(value, 'hex') FROM "${schema}".secrets WHERE name = $1` };
      let [cells] = await connections.read(find, [name]);
      if (!cells) {
        const insert = `INSERT INTO "${schema}".secrets VALUES ($1, $2) ON CONFLICT DO NOTHING`;
        await connections.write({ text: insert }, [name, randomBytes(32)]).catch((error: unknown) => {
          throw toStoreError(error, 'read', connections.server);
        });
        [cells] = await connections.read(find, [name]);
      }
      if (!cells?.[0]) throw new StoreError('Corrupt', `the secret ${name} is gone from schema ${schema}`);
      return Buffer.from(cells[0], 'hex');
    },
    async now() {
      const [cells] = await connections.read({ text: clock, name: 'now' }, []);
      return Number(cells?.[0]);
    },
    async ping() {
      await connections.read({ text: `SELECT 1 FROM "${schema}".meta LIMIT 1` }, []);
    },
    upkeep: () => upkeep.run(),
    close() {
      closing ??= (async () => {
        await upkeep.stop();
        await notices.close();
        await connections.close();
      })();
      return closing;
    },
  };
}

const clock = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

async function openContainer(
  connections: Connections,
  notices: Notices,
  upkeep: Upkeep,
  schema: string,
  layout: Layout,
): Promise<EngineContainer> {
  const names = namesOf(schema, layout);
  const functions = { writes: writeFunctions(names), queue: queueFunctions(names), feed: feedFunctions(names) };
  const all = [...functions.writes.all, ...functions.queue.all, ...functions.feed.all];
  const uniqueKeys = await prepareContainer(connections, names, layout, all);
  await leaveOtherServersHistory(connections, names);

  const committed = () => notices.tell(layout.name);
  upkeep.add({ names, writes: functions.writes, feed: functions.feed, committed });
  return {
    ...queriesOf(connections, names, layout),
    ...writesOf(connections, names, functions.writes, uniqueKeys, committed),
    ...feedOf(
      connections,
      names,
      functions.feed,
      lookAgain(() => notices.wake(layout.name)),
    ),
    ...queueOf(connections, names, functions.queue),
    onCommit: (wake) => notices.subscribe(layout.name, wake),
  };
}

/**
 * Changes from transactions that this server has not had yet come from another one, by a dump. Its transaction ids mean
 * nothing here, so the history ends there: feeds begin anew.
 */
async function leaveOtherServersHistory(connections: Connections, names: Names): Promise<void> {
  const foreign = `SELECT 1 FROM ${names.changes} WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()) LIMIT 1`;
  if ((await connections.read({ text: foreign }, [])).length === 0) return;
  await connections.withClient('read', async (client) => {
    await client.query(`BEGIN; LOCK TABLE ${names.changes} IN ACCESS EXCLUSIVE MODE`);
    try {
      if ((await client.query(foreign)).rowCount) {
        await client.query(`TRUNCATE ${names.changes}; UPDATE ${names.containers}
          SET epoch = '${newEpoch()}', trimmed_xid = '0', trimmed_revision = 0 WHERE name = '${names.container}'`);
      }
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  });
}

const firstLookMs = 4;
const longestLookMs = 250;

/**
 * What holds back a change may be a transaction of somebody who never tells: looks again on its own, soon and then less often,
 * for as long as it is asked to.
 */
function lookAgain(look: () => void): () => void {
  let isWaiting = false;
  let waitMs = firstLookMs;
  let askedAt = 0;
  return () => {
    const now = performance.now();
    waitMs = now - askedAt > 2 * longestLookMs ? firstLookMs : Math.min(waitMs * 1.5, longestLookMs);
    askedAt = now;
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      look();
    }, waitMs).unref();
  };
}
