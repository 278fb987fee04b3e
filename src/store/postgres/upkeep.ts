// Housekeeping in the background, by whichever process is first to ask: expired documents are deleted, with their changes in
// the feed, and history past its age is trimmed. Small transactions only: an open one holds back everybody's feed.
import { type Connections, prepared } from './connection.ts';
import type { FeedFunctions } from './feed-functions.ts';
import { lockNumber, type Names } from './names.ts';
import type { WriteFunctions } from './write-functions.ts';

export interface Kept {
  readonly names: Names;
  readonly writes: WriteFunctions;
  readonly feed: FeedFunctions;
  /** Called after a commit that changed documents. */
  readonly committed: () => void;
}

export interface Upkeep {
  add(container: Kept): void;
  /** One round now; for tests, and for a timer. */
  run(): Promise<void>;
  stop(): Promise<void>;
}

const everyMs = 2000;
const sweptAtOnce = 100;
const trimmedAtOnce = 1000;

export function upkeepOf(connections: Connections, historySeconds: number): Upkeep {
  const containers = new Map<string, Kept>();
  let isStopped = false;
  let running: Promise<void> | undefined;
  // What one round could not do, the next one does; errors show in the calls of the store's users.
  const timer = setInterval(() => void round().catch(() => undefined), everyMs);
  timer.unref();

  function round(): Promise<void> {
    running ??= (async () => {
      for (const container of containers.values()) {
        if (isStopped) return;
        await sweep(container);
        await trim(container);
      }
    })().finally(() => {
      running = undefined;
    });
    return running;
  }

  async function sweep({ names, writes, committed }: Kept): Promise<void> {
    // Everybody may look; the sweeping itself takes the partition's lock, one partition per transaction.
    const expired = prepared(
      `SELECT DISTINCT partition FROM (SELECT d.partition FROM ${names.documents} d WHERE d.expires_at <= now()
         ORDER BY d.expires_at LIMIT ${sweptAtOnce}) d`,
    );
    const sweepOne = prepared(`SELECT ${writes.sweep.name}($1, ${sweptAtOnce})`);
    while (!isStopped) {
      const partitions = await connections.read(expired, []);
      if (partitions.length === 0) return;
      let swept = 0;
      for (const [partition = null] of partitions) {
        if (isStopped) return;
        const [cells] = await connections.write(sweepOne, [partition]);
        swept += Number(cells?.[0] ?? 0);
      }
      if (swept === 0) return;
      committed();
    }
  }

  async function trim({ names, feed }: Kept): Promise<void> {
    const lock = lockNumber(`${names.schema} ${names.container} trim`);
    const trimSome = prepared(
      `SELECT CASE WHEN pg_try_advisory_xact_lock(${lock}) THEN ${feed.trim.name}($1, ${trimmedAtOnce}) ELSE 0 END`,
    );
    while (!isStopped) {
      const [cells] = await connections.write(trimSome, [historySeconds]);
      if (Number(cells?.[0] ?? 0) < trimmedAtOnce) return;
    }
  }

  return {
    add(container) {
      containers.set(container.names.container, container);
    },
    run: round,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await running?.catch(() => undefined);
    },
  };
}
