// Starts the controllers of all clusters and ties them to the life of each cluster.
import type { Logger } from '../../../kit/log.ts';
import type { ClusterHooks, HostedCluster } from '../clusters.ts';
import { type ControllerHost, createControllerHost } from './host.ts';
import { type ControllersConfig, controllersOf } from './table.ts';

export interface RunningControllers extends ControllerHost {
  /** A cluster's controllers begin with its first use and end with it. */
  hooks(own?: ClusterHooks): ClusterHooks;
  /** Takes up the clusters that have something in them, one after the other, without waiting for anybody to use them. */
  resume(clusters: Iterable<HostedCluster>): Promise<void>;
}

/** Types of which any object may mean that there is something to do. */
const telling = [
  '/nodes',
  '/pods',
  '/events',
  '/persistentvolumeclaims',
  'apps/deployments',
  'apps/replicasets',
  'apps/statefulsets',
  'apps/daemonsets',
  'batch/jobs',
  'batch/cronjobs',
  'certificates.k8s.io/certificatesigningrequests',
];
/** The namespaces of the system. */
const usualNamespaces = 4;

const hasWork = ({ objects }: HostedCluster): boolean =>
  telling.some((type) => objects.count(type) > 0) || objects.count('/namespaces') > usualNamespaces;

export function startControllers(options: {
  readonly logger: Logger;
  readonly now: () => number;
  readonly config: ControllersConfig;
}): RunningControllers {
  const { logger, now, config } = options;
  const host = createControllerHost({ controllers: controllersOf(config), logger, now });
  let stopped = false;
  return {
    ...host,
    get planned() {
      return host.planned;
    },
    hooks: (own = {}) => ({
      ...own,
      firstUse: [...(own.firstUse ?? []), (cluster) => host.attach(cluster)],
      removed: [...(own.removed ?? []), (cluster) => host.detach(cluster)],
    }),
    async resume(clusters) {
      for (const cluster of clusters) {
        if (stopped) return;
        try {
          if (hasWork(cluster)) await cluster.firstUse();
        } catch (error) {
          logger.warn({ err: error, cluster: cluster.name }, 'the controllers of a cluster did not resume');
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    stop() {
      stopped = true;
      return host.stop();
    },
  };
}
