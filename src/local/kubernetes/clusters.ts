// The clusters of this process: their names, addresses, authorities and what each starts with. An idle one is a few small
// objects; certificates, access rules and first contents come with first use.
import { isIPv6 } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { Logger } from '../../kit/log.ts';
import type { Secret } from '../../kit/secret.ts';
import type { KeyedCertificate } from '../../pki/certificate.ts';
import { type Access, createAccess } from './access/access.ts';
import { defaultRbacEntries } from './access/default-rbac.ts';
import { sharedDefaults, withSharedDefaults } from './access/defaults-overlay.ts';
import type { OidcIssuer, OidcKeys } from './access/oidc.ts';
import { admissionPlugins } from './admission/plugins.ts';
import { systemPriorityClassEntries } from './admission/system-priority-classes.ts';
import type { WebhookCaller } from './admission/webhook-call.ts';
import { createAuthorities, type ServerCertificate } from './authorities.ts';
import type { Cluster } from './cluster.ts';
import { builtinApiServiceEntries } from './discovery/api-services.ts';
import { firstObjectsWriter } from './first-objects.ts';
import type { ObjectHost } from './objects/objects.ts';
import type { AdmissionPlugin } from './registry/admission.ts';
import { openRegistry } from './registry/open-registry.ts';
import { timestamp } from './registry/timestamp.ts';
import { builtinTypes } from './types/builtin.ts';
import { type ChangingTypeTable, createTypeTable } from './types/table.ts';

/** A cluster as its host sees it. */
export interface HostedCluster extends Cluster {
  readonly types: ChangingTypeTable;
  readonly access: Access;
  /** `https://address:port` of the shared listener, for clients that send the host name in the handshake only. */
  readonly address: string;
  /** The name that selects it in the handshake. */
  readonly hostName: string;
  /** Other names that do. */
  readonly otherNames: readonly string[];
  readonly connections: Set<TLSSocket>;
  /** Whether any built-in type is of this API group. */
  hasBuiltinGroup(group: string): boolean;
  /** Settles when the cluster has its first contents; undefined once it has. */
  firstUse(): Promise<void> | undefined;
  /** Begins what the first request would wait for: the certificate and the first contents. What fails is left to that request. */
  prepare(): void;
  /** Its certificate authority, key included. Made at the first call. */
  authority(): Promise<KeyedCertificate>;
  /** The certificate its server shows, for TLS options. */
  serverCertificate(): Promise<ServerCertificate>;
  /** The TLS context of that certificate. */
  tls(): SecureContext | Promise<SecureContext>;
}

/** Names that clusters have in a wider world, beside `<cluster>.<suffix>`. */
export interface PublicNames {
  /** The cluster that a host name in lower case leads to. */
  clusterAt(hostName: string): string | undefined;
  hostNames(cluster: string): readonly string[];
  /** Of service-account tokens; asked once, at a cluster's first use. */
  issuer(cluster: string): string | undefined;
}

/** What other parts add to every cluster. */
export interface ClusterHooks {
  /** Runs once per process and cluster, before its first request is answered. */
  readonly firstUse?: readonly ((cluster: HostedCluster) => void | Promise<void>)[];
  readonly removed?: readonly ((cluster: HostedCluster) => void)[];
  readonly admission?: (cluster: HostedCluster) => readonly AdmissionPlugin[];
}

export interface ClustersOptions {
  readonly host: ObjectHost;
  readonly logger: Logger;
  /** Host names are `<cluster>.<suffix>`. */
  readonly suffix: string;
  /** What the keys of all clusters are derived from. */
  readonly hostKey: Secret<Buffer>;
  /** The shared listener's address, once it is bound. */
  readonly address: () => { readonly host: string; readonly port: number };
  readonly hooks: ClusterHooks;
  readonly publicNames?: PublicNames;
  readonly now?: () => number;
  /** Calls admission webhooks; without it there are none. */
  readonly webhooks?: WebhookCaller;
  readonly oidc?: (cluster: string) => readonly OidcIssuer[];
  readonly oidcKeys?: OidcKeys;
}

export interface Clusters {
  /** Adds a cluster, or gives the one of that name. */
  create(name: string): HostedCluster;
  find(name: string): HostedCluster | undefined;
  /** The cluster of a name in a TLS handshake. */
  byHostName(hostName: string): HostedCluster | undefined;
  list(): Iterable<HostedCluster>;
  /** Forgets a cluster, all it holds and everybody connected to it. */
  remove(name: string): Promise<void>;
}

const nameForm = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Whether a cluster can have this name: a DNS label. */
export const isClusterName = (name: string): boolean => nameForm.test(name);

const builtinGroups = new Set(builtinTypes().map((type) => type.group));

export function createClusters(options: ClustersOptions): Clusters {
  const { host, logger, suffix, hooks, publicNames } = options;
  const now = options.now ?? Date.now;
  const clusters = new Map<string, HostedCluster>();
  const authorities = createAuthorities();
  const writeFirstObjects = firstObjectsWriter(options.address);
  const createdAt = timestamp(now());
  const defaults = sharedDefaults([
    ...defaultRbacEntries(createdAt),
    ...systemPriorityClassEntries(createdAt),
    ...builtinApiServiceEntries(createdAt),
  ]);
  const ending = `.${suffix}`;

  function open(name: string): HostedCluster {
    const objects = withSharedDefaults(host.open(name), defaults);
    let access: Access | undefined;
    let log: Logger | undefined;
    let plugins: readonly AdmissionPlugin[] | undefined;
    let connections: Set<TLSSocket> | undefined;
    let types: ChangingTypeTable | undefined;
    let first: Promise<void> | undefined;
    let used = false;
    const hostName = `${name}${ending}`;
    const cluster: HostedCluster = {
      name,
      hostName,
      get otherNames() {
        return publicNames?.hostNames(name) ?? [];
      },
      objects,
      now,
      get url() {
        return `https://${hostName}:${options.address().port}`;
      },
      get address() {
        const { host: bound, port } = options.address();
        return `https://${isIPv6(bound) ? `[${bound}]` : bound}:${port}`;
      },
      get types() {
        types ??= createTypeTable();
        return types;
      },
      registry: openRegistry(objects, () => {
        plugins ??= [
          ...admissionPlugins({ access: cluster.access, ...(options.webhooks ? { webhooks: options.webhooks } : {}) }),
          ...(hooks.admission?.(cluster) ?? []),
        ];
        return plugins;
      }),
      get log() {
        log ??= logger.child({ cluster: name });
        return log;
      },
      get connections() {
        connections ??= new Set();
        return connections;
      },
      get access() {
        const issuer = access ? undefined : publicNames?.issuer(name);
        access ??= createAccess({
          cluster: name,
          ...(issuer === undefined ? {} : { issuer }),
          objects,
          ca: () => cluster.ca(),
          hostKey: options.hostKey,
          now,
          ...(options.oidc ? { oidc: () => options.oidc?.(name) ?? [] } : {}),
          ...(options.oidcKeys ? { oidcKeys: options.oidcKeys } : {}),
        });
        return access;
      },
      mayDo: (user, question) => cluster.access.mayDo(user, question),
      hasBuiltinGroup: (group) => builtinGroups.has(group),
      firstUse() {
        if (used) return undefined;
        first ??= begin(cluster).then(
          () => {
            used = true;
            first = undefined;
          },
          (error: unknown) => {
            // The next request tries again.
            first = undefined;
            throw error;
          },
        );
        return first;
      },
      prepare() {
        void Promise.allSettled([cluster.tls(), cluster.firstUse()]);
      },
      authority: () => authorities.of(cluster),
      ca: async () => (await authorities.of(cluster)).certificatePem,
      serverCertificate: () => authorities.server(cluster, options.address().host),
      tls: () => authorities.tls(cluster, options.address().host),
    };
    return cluster;
  }

  async function begin(cluster: HostedCluster): Promise<void> {
    await writeFirstObjects(cluster);
    for (const hook of hooks.firstUse ?? []) await hook(cluster);
  }

  function create(name: string): HostedCluster {
    const known = clusters.get(name);
    if (known) return known;
    if (!isClusterName(name)) throw new TypeError(`"${name}" cannot name a cluster: it must be a DNS label`);
    const cluster = open(name);
    clusters.set(name, cluster);
    return cluster;
  }

  for (const name of host.clusters()) create(name);

  return {
    create,
    find: (name) => clusters.get(name),
    byHostName(hostName) {
      const lower = hostName.toLowerCase();
      if (lower.endsWith(ending)) return clusters.get(lower.slice(0, -ending.length));
      return clusters.get(publicNames?.clusterAt(lower) ?? '');
    },
    list: () => clusters.values(),
    async remove(name) {
      const cluster = clusters.get(name);
      if (!cluster) return;
      clusters.delete(name);
      for (const socket of cluster.connections) socket.destroy();
      for (const hook of hooks.removed ?? []) hook(cluster);
      authorities.forget(cluster);
      await host.remove(name);
    },
  };
}
