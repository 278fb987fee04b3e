// News of commits, between processes: one connection of its own that listens and tells.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';

/**
 * Who commits calls `tell` afterwards; everybody's `subscribe` callbacks for that container are called soon after, in this
 * process at once. After a break in the connection everybody is called, as news may have been missed.
 */
export interface Notices {
  tell(container: string): void;
  /** Only in this process. */
  wake(container: string): void;
  subscribe(container: string, wake: () => void): () => void;
  close(): Promise<void>;
}

/** Between two tellings: commits that come faster are told together. */
const leastGapMs = 4;
/** A connection whose server does not answer for so long is given up. */
const silenceMs = 10_000;
const firstPauseMs = 50;
const longestPauseMs = 5000;

/** Settles at once; the connection is made, and made again, in the background. */
export function noticesOf(config: ClientConfig, schema: string): Notices {
  const channel = `${schema}_commits`;
  const subscribers = new Map<string, Set<() => void>>();
  const untold = new Set<string>();
  let client: Client | undefined;
  let listening: Client | undefined;
  let telling: Promise<void> | undefined;
  let isClosed = false;
  let pause: NodeJS.Timeout | undefined;
  let pauseMs = firstPauseMs;
  let connecting: Promise<void> = connect();

  function wake(container: string): void {
    for (const call of subscribers.get(container) ?? []) call();
  }

  async function connect(): Promise<void> {
    const fresh = new Client({ ...config, query_timeout: silenceMs, statement_timeout: silenceMs });
    // Every break, also while connecting, ends here once.
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      if (client === fresh) client = undefined;
      void fresh.end().catch(() => undefined);
      if (isClosed) return;
      pause = setTimeout(() => {
        connecting = connect();
      }, pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    };
    fresh.on('error', over);
    fresh.on('end', over);
    try {
      await fresh.connect();
      // Telling must not wait for the disk: nothing is written.
      await fresh.query('SET synchronous_commit = off');
      const { rows } = await fresh.query<{ pid: string }>('SELECT pg_backend_pid() AS pid');
      const ownProcessId = Number(rows[0]?.pid);
      fresh.on('notification', ({ payload, processId }) => {
        // One's own news were heard when they were told.
        if (processId !== ownProcessId) wake(payload ?? '');
      });
      if (isClosed) return over();
      client = fresh;
      pauseMs = firstPauseMs;
      void listen();
      void tellAll();
    } catch {
      over();
    }
  }

  /** Listens once somebody wants to hear; a process that only writes is not woken by the commits of all the others. */
  async function listen(): Promise<void> {
    const on = client;
    if (on === undefined || listening === on || subscribers.size === 0) return;
    listening = on;
    try {
      await on.query(`LISTEN "${channel}"`);
    } catch {
      // The connection broke, or is as good as broken; the next one listens.
      void on.end().catch(() => undefined);
      return;
    }
    // What was told before is missed.
    for (const container of subscribers.keys()) wake(container);
  }

  /** One statement at a time: whatever commits meanwhile is told together by the next. */
  function tellAll(): Promise<void> {
    telling ??= (async () => {
      while (client !== undefined && untold.size > 0) {
        const by = client;
        const news = [...untold];
        untold.clear();
        const text = 'SELECT pg_notify($1, c) FROM unnest($2::text[]) c';
        await by.query({ text, values: [channel, news], name: 'tell' }).catch(() => {
          for (const container of news) untold.add(container);
          void by.end().catch(() => undefined);
        });
        await sleep(leastGapMs);
      }
    })().finally(() => {
      telling = undefined;
      // News that came after the last look.
      if (client !== undefined && untold.size > 0) void tellAll();
    });
    return telling;
  }

  return {
    wake,
    tell(container) {
      wake(container);
      untold.add(container);
      void tellAll();
    },
    subscribe(container, call) {
      const calls = subscribers.get(container) ?? new Set();
      subscribers.set(container, calls.add(call));
      void listen();
      return () => {
        calls.delete(call);
      };
    },
    async close() {
      isClosed = true;
      clearTimeout(pause);
      await connecting;
      await telling;
      await client?.end().catch(() => undefined);
    },
  };
}
