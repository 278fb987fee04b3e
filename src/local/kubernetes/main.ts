// The embedded Kubernetes: API servers for many clusters in one process, behind one TLS port. Reading `start` from top to
// bottom tells what it consists of.
import { composeService } from '../../kit/lifecycle.ts';
import type { Logger } from '../../kit/log.ts';
import { atMost, createMetrics, oneOf, statusCode } from '../../kit/metrics.ts';
import type { Running } from '../../kit/service.ts';
import { createAuditLog } from './access/audit.ts';
import { issuerDiscovery } from './access/issuer-discovery.ts';
import type { OidcIssuer } from './access/oidc.ts';
import { createWebhookCaller, type ServiceResolver } from './admission/webhook-call.ts';
import { authorityStorage } from './authorities.ts';
import { type ClusterHooks, type Clusters, createClusters, type HostedCluster, type PublicNames } from './clusters.ts';
import { podActions } from './controllers/pod-actions.ts';
import { withServiceAddresses } from './controllers/service-addresses.ts';
import { type RunningControllers, startControllers } from './controllers/start.ts';
import type { ControllersConfig } from './controllers/table.ts';
import { withDefinitions } from './crd/hooks.ts';
import { discoveryAnswer } from './discovery/paths.ts';
import { databaseFile, loadHostKey, sealingRing } from './host-key.ts';
import { accessActions } from './http/access-actions.ts';
import { createHandler } from './http/handler.ts';
import { type Listening, listenTls } from './http/listener.ts';
import type { Extensions, PathHandler } from './http/routes.ts';
import { serverPaths } from './http/server-paths.ts';
import { openObjects } from './objects/open.ts';
import { streamActions } from './stream/actions.ts';
import { createPodBackends, type PodBackends } from './stream/pod-backends.ts';
import { toTable } from './table/to-table.ts';

export interface KubernetesConfig {
  readonly logger: Logger;
  /** The address to bind. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port?: number;
  /** Clusters answer to `<name>.<suffix>`. */
  readonly suffix?: string;
  /** Names and issuers that clusters have beside. */
  readonly publicNames?: PublicNames;
  /** Clusters that shall be there; others come by {@link RunningKubernetes.clusters}. */
  readonly clusters?: readonly string[];
  /** The cluster of clients that name none in the handshake; the first one unless given. */
  readonly defaultCluster?: string;
  /** Where everything is kept; in memory when left out. */
  readonly dataDirectory?: string;
  readonly synchronous?: 'NORMAL' | 'FULL';
  /** What other parts add to the server and to every cluster. */
  readonly extensions?: Partial<Extensions>;
  readonly hooks?: ClusterHooks;
  /** Where the services that webhooks name really listen. */
  readonly serviceResolver?: ServiceResolver;
  /** What stands behind pods: their logs and ports. Without it all pods are simulated alone. */
  readonly podBackends?: PodBackends;
  /** Issuers whose tokens a cluster takes, by its name. Asked at every such token, so that a change counts at once. */
  readonly oidc?: (cluster: string) => readonly OidcIssuer[];
  readonly graceSeconds?: number;
  /** Takes a line for every request; no audit log when left out. */
  readonly auditLogger?: Logger;
  /** The clock, for tests. */
  readonly now?: () => number;
  /** Controllers, scheduler and simulated kubelets of every cluster; false for API servers alone. */
  readonly controllers?: ControllersConfig | false;
}

export interface RunningKubernetes extends Running {
  readonly clusters: Clusters;
  /** Undefined where there are none. */
  readonly controllers: RunningControllers | undefined;
  /** Gives a cluster a port of its own until it is removed, for clients that send no server name. Resolves to its URL. */
  ownPort(cluster: HostedCluster, port?: number): Promise<string>;
}

const discoveryPaths: PathHandler = ({ cluster, ...request }) =>
  discoveryAnswer({ table: cluster.types, url: cluster.url, ...request });

/** What holds keys or passwords; the rest is stored as it is. */
const sealedTypes: ReadonlySet<string> = new Set(['/secrets', authorityStorage]);

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'post', 'put'];

export async function start(config: KubernetesConfig): Promise<RunningKubernetes> {
  const { logger } = config;
  const host = config.host ?? '127.0.0.1';
  const { graceSeconds } = config;
  let made: Pick<RunningKubernetes, 'clusters' | 'controllers' | 'ownPort'> | undefined;

  const service = await composeService(
    { name: 'kubernetes', logger, ...(graceSeconds === undefined ? {} : { graceSeconds }) },
    async ({ part, address, readiness, stopping }) => {
      const hostKey = await part('host key', () => loadHostKey(config.dataDirectory));
      const objects = await part(
        'objects',
        () =>
          openObjects({
            logger,
            sealing: { ring: sealingRing(hostKey), types: sealedTypes },
            ...(config.dataDirectory === undefined ? {} : { file: databaseFile(config.dataDirectory) }),
            ...(config.synchronous === undefined ? {} : { synchronous: config.synchronous }),
          }),
        (opened) => opened.close(),
      );
      const webhooks = await part(
        'webhooks',
        () => createWebhookCaller(config.serviceResolver),
        (caller) => caller.close(),
      );
      const metrics = createMetrics();
      const observeRequest = metrics.histogram({
        name: 'apiserver_request_duration_seconds',
        help: 'Time from a request to the end of its answer.',
        labels: { verb: oneOf(verbs), resource: atMost(200), code: statusCode },
      });
      const audit =
        config.auditLogger &&
        (await part(
          'audit log',
          () => createAuditLog(config.auditLogger ?? logger),
          (log) => log.flush(),
        ));
      const backends = config.podBackends ?? createPodBackends();
      const extensions: Extensions = {
        ...config.extensions,
        table: toTable,
        paths: [
          serverPaths({ metrics, readiness }),
          issuerDiscovery,
          discoveryPaths,
          ...(config.extensions?.paths ?? []),
        ],
        actions: new Map([
          ...accessActions,
          ...podActions,
          ...streamActions(backends),
          ...(config.extensions?.actions ?? []),
        ]),
        ...(audit ? { audit } : {}),
      };
      const settings = config.controllers ?? {};
      const controllers =
        settings === false
          ? undefined
          : await part(
              'controllers',
              () => startControllers({ logger, now: config.now ?? Date.now, config: settings }),
              (running) => running.stop(),
            );
      const oidcKeys =
        config.oidc &&
        (await part(
          'keys of issuers',
          // Loaded where there are issuers: it takes a part of the time to the first answer.
          async () => (await import('./access/oidc.ts')).createOidcKeys(),
          (keys) => keys.close(),
        ));
      const ownListeners = new Map<HostedCluster, Listening[]>();
      const bound = { host, port: 0 };
      const clusters = createClusters({
        host: objects,
        logger,
        suffix: config.suffix ?? 'kubernetes.localhost',
        hostKey,
        address: () => bound,
        hooks: withOwnPorts(
          ownListeners,
          withDefinitions(withServiceAddresses(controllers ? controllers.hooks(config.hooks) : config.hooks), webhooks),
        ),
        webhooks,
        ...(config.oidc && oidcKeys ? { oidc: config.oidc, oidcKeys } : {}),
        ...(config.publicNames ? { publicNames: config.publicNames } : {}),
        ...(config.now ? { now: config.now } : {}),
      });
      for (const name of config.clusters ?? []) clusters.create(name);
      const fallback = (): HostedCluster | undefined => {
        if (config.defaultCluster !== undefined) return clusters.find(config.defaultCluster);
        for (const first of clusters.list()) return first;
        return undefined;
      };
      const handler = createHandler({
        extensions,
        stopping,
        observe: ({ verb, resource, status, seconds }) =>
          observeRequest({ verb, resource: resource || 'none', code: String(status) }, seconds),
      });
      const listener = await part(
        'listener',
        async () =>
          listenTls({
            host,
            port: config.port ?? 0,
            handler,
            logger,
            clusterOf: (name) => clusters.byHostName(name) ?? (isAnonymous(name) ? fallback() : undefined),
            contextOf: (cluster) => cluster.tls(),
            unnamed: await fallback()?.serverCertificate(),
          }),
        (listening, graceOver) => listening.stop(graceOver),
      );
      await part(
        'own ports of clusters',
        () => ownListeners,
        async (listeners, graceOver) => {
          await Promise.all([...listeners.values()].flat().map((listening) => listening.stop(graceOver)));
        },
      );
      bound.port = listener.port;
      address('https', listener.url);
      void controllers?.resume(clusters.list());
      made = {
        clusters,
        controllers,
        async ownPort(cluster, port = 0) {
          const own = await listenTls({
            host,
            port,
            handler,
            logger,
            clusterOf: () => clusters.find(cluster.name),
            contextOf: (found) => found.tls(),
            unnamed: await cluster.serverCertificate(),
          });
          if (stopping.aborted || clusters.find(cluster.name) !== cluster) {
            await own.stop(AbortSignal.abort());
            throw new Error(`cluster ${cluster.name} is gone, so it gets no port`);
          }
          ownListeners.set(cluster, [...(ownListeners.get(cluster) ?? []), own]);
          return own.url;
        },
      };
    },
  );
  if (!made) throw new Error('the service was composed without its parts');
  return Object.assign(service, made);
}

/** Closes the ports of a removed cluster. Everybody connected to it is gone by then. */
function withOwnPorts(listeners: Map<HostedCluster, Listening[]>, hooks: ClusterHooks): ClusterHooks {
  const close = (cluster: HostedCluster): void => {
    for (const listening of listeners.get(cluster) ?? []) void listening.stop(AbortSignal.abort());
    listeners.delete(cluster);
  };
  return { ...hooks, removed: [...(hooks.removed ?? []), close] };
}

/** Names that select no cluster: none at all, or that of this machine. */
const isAnonymous = (name: string): boolean => name === '' || name === 'localhost';
