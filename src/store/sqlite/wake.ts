import { type FSWatcher, watch } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { prepare } from './database.ts';

/** Tells listeners of commits: those of this connection directly, those of others by the write-ahead log changing on disk. */
export interface Wakes {
  /** Returns the unsubscribe. */
  subscribe(container: string, wake: () => void): () => void;
  /** This connection committed to the container. */
  committed(container: string): void;
  close(): void;
}

/**
 * When to look after the log has changed. A commit becomes visible a little after its last byte is in the log, without the
 * file changing again: when the disk is waited for in between (synchronous FULL), quite a little.
 */
const looksAfterMs = [1, 5, 25, 100, 400];

export function createWakes(db: DatabaseSync, file: string): Wakes {
  const listeners = new Map<string, Set<() => void>>();
  const dataVersion = prepare<[number]>(db, 'PRAGMA data_version');
  const due = new Set<string>();
  let dueSoon = false;
  let seenVersion = 0;
  let looking = false;
  let watcher: FSWatcher | undefined;
  let laterLook: NodeJS.Timeout | undefined;
  let looksDone = 0;

  function callDue(): void {
    dueSoon = false;
    const containers = [...due];
    due.clear();
    for (const container of containers) {
      for (const wake of [...(listeners.get(container) ?? [])]) wake();
    }
  }

  function wakeSoon(container: string): void {
    due.add(container);
    if (dueSoon) return;
    dueSoon = true;
    setImmediate(callDue);
  }

  /** The log changes with our own commits too; data_version counts the commits of others only. */
  function look(): void {
    looking = false;
    if (watcher === undefined) return;
    let version = seenVersion + 1;
    try {
      version = dataVersion.get()?.[0] ?? version;
    } catch {
      // Locked for a moment: a wake for nothing does no harm, a missed one does.
    }
    if (version === seenVersion) return;
    seenVersion = version;
    for (const container of listeners.keys()) wakeSoon(container);
  }

  function lookLater(): void {
    const delay = looksAfterMs[looksDone];
    if (delay === undefined) return;
    laterLook = setTimeout(() => {
      laterLook = undefined;
      looksDone++;
      look();
      lookLater();
    }, delay).unref();
  }

  function logChanged(): void {
    looksDone = 0;
    if (laterLook === undefined) lookLater();
    if (looking) return;
    looking = true;
    setImmediate(look);
  }

  function startWatching(): void {
    try {
      seenVersion = dataVersion.get()?.[0] ?? 0;
      watcher = watch(`${file}-wal`, { persistent: false }, logChanged);
      // Without the watch, commits of other processes are found by the feed's polling.
      watcher.on('error', stopWatching);
    } catch {
      stopWatching();
    }
  }

  function stopWatching(): void {
    watcher?.close();
    watcher = undefined;
    clearTimeout(laterLook);
    laterLook = undefined;
  }

  return {
    subscribe(container, wake) {
      const own = () => wake();
      const of = listeners.get(container) ?? new Set();
      listeners.set(container, of.add(own));
      if (watcher === undefined) startWatching();
      return () => {
        of.delete(own);
        if (of.size === 0 && listeners.get(container) === of) listeners.delete(container);
        if (listeners.size === 0) stopWatching();
      };
    },
    committed(container) {
      if (listeners.has(container)) wakeSoon(container);
    },
    close() {
      listeners.clear();
      stopWatching();
    },
  };
}
