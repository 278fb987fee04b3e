// The embedded Kubernetes behind all clusters of a cloud: one server, started when the first cluster is there, whose clusters are
// reached under the names that Azure gives them.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { HostedCluster } from '../../kubernetes/clusters.ts';
import type { RunningKubernetes } from '../../kubernetes/main.ts';
import { objectOf, textOf } from '../kept-members.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';

export interface ClusterHost {
  /** The cluster of a resource; made, and reachable by its name, when it was not. */
  ensure(record: ResourceRecord): Promise<HostedCluster>;
  /** Whether it answers under its name. */
  setReachable(record: ResourceRecord, reachable: boolean): Promise<void>;
  remove(record: ResourceRecord): Promise<void>;
  /** The cluster whose tokens come from an issuer that ends with this id. */
  byIssuer(id: string): HostedCluster | undefined;
  stop(): Promise<void>;
}

const port = 443;
/** For requests that are being answered when the cloud stops. */
const graceSeconds = 3;
const hosts = new WeakMap<World, Promise<ClusterHost>>();

/** The host of a world; started by the first who asks. */
export function clusterHost(world: World): Promise<ClusterHost> {
  let host = hosts.get(world);
  if (!host) {
    host = startHost(world);
    // The next one who needs it tries again.
    host.catch(() => hosts.delete(world));
    hosts.set(world, host);
  }
  return host;
}

/** Undefined when nobody has needed it. */
export function startedHost(world: World): Promise<ClusterHost> | undefined {
  return hosts.get(world);
}

export async function stopHost(world: World): Promise<void> {
  const host = hosts.get(world);
  hosts.delete(world);
  await (await host?.catch(() => undefined))?.stop();
}

/** A DNS label for a resource, the same as long as it has its id. */
export function clusterNameOf({ resource }: Pick<ResourceRecord, 'resource'>): string {
  return `aks-${createHash('sha256').update(resource.id.toLowerCase()).digest('hex').slice(0, 24)}`;
}

/** Every cluster of the cloud. */
export async function allClusters(world: World): Promise<readonly ResourceRecord[]> {
  const found: ResourceRecord[] = [];
  for (const { subscriptionId } of world.subscriptions.list())
    found.push(...(await world.resources.list({ subscriptionId, type: 'Microsoft.ContainerService/managedClusters' })));
  return found;
}

interface Names {
  readonly fqdn: string;
  readonly issuer: string | undefined;
}

async function startHost(world: World): Promise<ClusterHost> {
  const names = new Map<string, Names>();
  const byFqdn = new Map<string, string>();
  const byIssuer = new Map<string, string>();
  const attached = new Map<string, () => void>();
  const learn = (record: ResourceRecord): string => {
    const name = clusterNameOf(record);
    const properties = objectOf(record.resource.properties);
    const fqdn = textOf(properties.fqdn) ?? '';
    const issuer = textOf(objectOf(properties.oidcIssuerProfile).issuerURL);
    names.set(name, { fqdn, issuer });
    byFqdn.set(fqdn, name);
    if (issuer !== undefined) byIssuer.set(idOfIssuer(issuer), name);
    return name;
  };
  // Before the server starts: it may show a certificate, which has the names of its cluster, at once.
  for (const record of await allClusters(world)) learn(record);
  const { start } = await import('../../kubernetes/main.ts');
  const kubernetes: RunningKubernetes = await start({
    logger: world.logger,
    host: '127.0.0.1',
    port: 0,
    graceSeconds,
    suffix: `hosted.azmk8s.${world.cloud.suffix}`,
    publicNames: {
      clusterAt: (hostName) => byFqdn.get(hostName),
      hostNames: (cluster) => [names.get(cluster)?.fqdn ?? []].flat(),
      issuer: (cluster) => names.get(cluster)?.issuer,
    },
    ...(world.files === undefined ? {} : { dataDirectory: join(world.files, 'container-service') }),
  });
  const address = new URL(kubernetes.addresses.https ?? '');
  const target = { host: address.hostname, port: Number(address.port) };

  const detach = (name: string): void => {
    attached.get(name)?.();
    attached.delete(name);
  };

  return {
    async ensure(record) {
      const name = learn(record);
      if (!attached.has(name) && isRunning(record))
        attached.set(name, world.network.attach(names.get(name)?.fqdn ?? '', port, target));
      return kubernetes.clusters.create(name);
    },
    async setReachable(record, reachable) {
      const name = learn(record);
      detach(name);
      if (reachable) attached.set(name, world.network.attach(names.get(name)?.fqdn ?? '', port, target));
      else for (const socket of kubernetes.clusters.find(name)?.connections ?? []) socket.destroy();
    },
    async remove(record) {
      const name = clusterNameOf(record);
      detach(name);
      const known = names.get(name);
      names.delete(name);
      if (known) byFqdn.delete(known.fqdn);
      if (known?.issuer !== undefined) byIssuer.delete(idOfIssuer(known.issuer));
      await kubernetes.clusters.remove(name);
    },
    byIssuer(id) {
      return kubernetes.clusters.find(byIssuer.get(id.toLowerCase()) ?? '');
    },
    async stop() {
      for (const name of [...attached.keys()]) detach(name);
      await kubernetes.stop();
    },
  };
}

export function isRunning({ resource }: ResourceRecord): boolean {
  return objectOf(resource.properties?.powerState).code !== 'Stopped';
}

/** The last segment of an issuer's address. */
function idOfIssuer(issuer: string): string {
  return (
    issuer
      .split('/')
      .filter((part) => part !== '')
      .at(-1)
      ?.toLowerCase() ?? ''
  );
}
