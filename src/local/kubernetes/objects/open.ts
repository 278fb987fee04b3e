import type { Logger } from '../../../kit/log.ts';
import { StoreError } from '../../../store/errors.ts';
import { ClusterObjects, type Surroundings } from './cluster-objects.ts';
import { createCommits, type SlowFlush } from './commits.ts';
import { createHistory } from './history.ts';
import type { ObjectHost } from './objects.ts';

export interface ObjectOptions {
  /** The SQLite file; made when it is not there. Left out: in memory only. */
  readonly file?: string;
  /** FULL: what is settled survives a loss of power as well. NORMAL, unless given: it survives the end of the process. */
  readonly synchronous?: 'NORMAL' | 'FULL';
  /** How many changes are remembered for watches, over all clusters. */
  readonly historyEvents?: number;
  /** How many bytes of objects they may have. */
  readonly historyBytes?: number;
  readonly logger?: Logger;
  readonly onSlow?: (flush: SlowFlush) => void;
}

const defaultHistory = { events: 1 << 16, bytes: 64 << 20 };

/** Opens the objects of all clusters of this process. */
export async function openObjects(options: ObjectOptions = {}): Promise<ObjectHost> {
  const { logger, onSlow } = options;
  const history = createHistory({
    events: options.historyEvents ?? defaultHistory.events,
    bytes: options.historyBytes ?? defaultHistory.bytes,
  });
  const commits = createCommits({ keep: undefined, history, onSlow });
  const clusters = new Map<string, ClusterObjects>();
  const surroundings: Surroundings = {
    commit: (cluster, work) => commits.add(cluster, work),
    load: () => [],
    types: () => [],
    tell(listener, change) {
      try {
        listener(change);
      } catch (error) {
        logger?.error({ err: error, type: change.entry.type }, 'a watch listener threw');
      }
    },
  };

  return {
    open(name) {
      const found = clusters.get(name);
      if (found) return found;
      const cluster = new ClusterObjects(surroundings, name);
      clusters.set(name, cluster);
      return cluster;
    },
    async remove(name) {
      const cluster = clusters.get(name);
      if (cluster === undefined) return;
      clusters.delete(name);
      for (const shelf of cluster.clear()) history.forget(shelf.past);
    },
    clusters: () => [...clusters.keys()],
    close: () => commits.close(new StoreError('Closed', 'the objects were closed by this process')),
  };
}
