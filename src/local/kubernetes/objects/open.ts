import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../kit/log.ts';
import { StoreError } from '../../../store/errors.ts';
import { ClusterObjects, type Surroundings } from './cluster-objects.ts';
import { createCommits, type SlowFlush } from './commits.ts';
import { createHistory } from './history.ts';
import type { ObjectHost } from './objects.ts';
import type { Sealing } from './sealing.ts';
import { openSqliteKeep } from './sqlite-keep.ts';

export interface ObjectOptions {
  /** The SQLite file; made when it is not there. Only one process at a time may have it. Left out: in memory only. */
  readonly file?: string;
  /** FULL: what is settled survives a loss of power as well. NORMAL, unless given: it survives the end of the process. */
  readonly synchronous?: 'NORMAL' | 'FULL';
  /** How many changes are remembered for watches, over all clusters. */
  readonly historyEvents?: number;
  /** How many bytes of objects they may have. */
  readonly historyBytes?: number;
  /** The file does not grow beyond this. */
  readonly largestFileBytes?: number;
  /** What is sealed in the file, and with which keys; nothing unless given. */
  readonly sealing?: Sealing;
  readonly logger?: Logger;
  readonly onSlow?: (flush: SlowFlush) => void;
}

const defaultHistory = { events: 1 << 16, bytes: 64 << 20 };
/** How long work in steps goes on before the event loop has its turn. */
const stepMs = 4;
/** How long to leave a locked database alone. */
const lockedPauseMs = 2;

/**
 * Opens the objects of all clusters of this process. Throws StoreError when the file cannot be had: Busy when another process
 * has it; Seal when it is sealed with another key; Corrupt, ReadOnly, Full, Unavailable.
 */
export async function openObjects(options: ObjectOptions = {}): Promise<ObjectHost> {
  const { file, logger, onSlow } = options;
  const keep =
    file === undefined
      ? undefined
      : await openSqliteKeep({
          file,
          synchronous: options.synchronous ?? 'NORMAL',
          logger,
          largestFileBytes: options.largestFileBytes,
          sealing: options.sealing,
        });
  const history = createHistory({
    events: options.historyEvents ?? defaultHistory.events,
    bytes: options.historyBytes ?? defaultHistory.bytes,
  });
  const commits = createCommits({ keep, history, onSlow });
  let closed = false;
  let sweeping: Promise<void> | undefined;

  const surroundings: Surroundings = {
    commit: (cluster, work) => commits.add(cluster, work),
    load: (cluster, type, after) => keep?.load(cluster, type, after) ?? [],
    types: (cluster) => keep?.types(cluster.row) ?? [],
    tell(listener, change) {
      try {
        listener(change);
      } catch (error) {
        logger?.error({ err: error, type: change.entry.type }, 'a watch listener threw');
      }
    },
  };
  const clusters = new Map<string, ClusterObjects>();
  for (const kept of keep?.clusters ?? []) clusters.set(kept.name, new ClusterObjects(surroundings, kept.name, kept));

  /** Deletes what removed clusters left, in short steps. */
  async function sweep(): Promise<void> {
    const pause = pauses();
    for (let more = keep?.sweep(); more && !closed; more = keep?.sweep()) {
      if (more === 'locked') await sleep(lockedPauseMs);
      else await pause();
    }
  }

  function open(name: string): ClusterObjects {
    const found = clusters.get(name);
    if (found) return found;
    const cluster = new ClusterObjects(surroundings, name);
    clusters.set(name, cluster);
    return cluster;
  }

  async function remove(name: string): Promise<void> {
    const cluster = clusters.get(name);
    if (cluster === undefined) return;
    // Never in the middle of a commit, from whose work this may be called.
    await turn();
    while (keep && cluster.row !== 0 && !keep.removeCluster(cluster.row)) await sleep(lockedPauseMs);
    if (clusters.get(name) === cluster) clusters.delete(name);
    for (const shelf of cluster.clear()) history.forget(shelf.past);
    // One that is under way may be past the last of what there was when it began.
    await sweeping?.catch(() => undefined);
    sweeping ??= sweep().finally(() => {
      sweeping = undefined;
    });
    await sweeping;
  }

  // What a process that ended in the middle left over. None of it can be seen, so a failure waits for the next start.
  sweeping = sweep()
    .catch((error: unknown) => logger?.warn({ err: error }, 'objects of removed clusters are left in the database'))
    .finally(() => {
      sweeping = undefined;
    });

  return {
    open,
    async load(name) {
      const cluster = open(name);
      await cluster.load(pauses());
      return cluster;
    },
    remove,
    clusters: () => [...clusters.keys()],
    async close() {
      if (closed) return;
      closed = true;
      await commits.close(new StoreError('Closed', 'the objects were closed by this process'));
      await sweeping?.catch(() => undefined);
      await keep?.close();
    },
  };
}

/** A pause that is one only when the turn of the event loop has lasted long enough. */
function pauses(): () => Promise<void> {
  let started = performance.now();
  return async () => {
    if (performance.now() - started < stepMs) return;
    await turn();
    started = performance.now();
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
