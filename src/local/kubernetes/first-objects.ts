// What a cluster has from the beginning: the namespaces of the system and the service that stands for its API server.
import { randomUUID } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { HostedCluster } from './clusters.ts';
import type { KubeObject } from './object.ts';
import type { Entry } from './objects/objects.ts';
import { timestamp } from './registry/timestamp.ts';
import type { RequestContext } from './request-context.ts';
import { StatusError } from './status.ts';

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** The first address of the range that services get theirs from. */
export const kubernetesServiceIp = '10.0.0.1';

/** The server's own writes. */
export function serverContext(cluster: HostedCluster, fieldManager = 'kube-apiserver'): RequestContext {
  return {
    cluster,
    user: { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] },
    dryRun: false,
    fieldManager,
    fieldValidation: 'Ignore',
    warn() {},
    signal: neverAborted,
  };
}

const neverAborted = new AbortController().signal;

/** Read once, since every cluster asks. */
let machine: { readonly address: string | undefined } | undefined;

/** Endpoints may not be on loopback: a server that listens there is named by an address of the machine, if it has one. */
function endpointAddress(host: string): string | undefined {
  if (isIPv4(host) && !host.startsWith('127.') && host !== '0.0.0.0') return host;
  machine ??= { address: machineAddress() };
  return machine.address;
}

function machineAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(
    ({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'),
  )?.address;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** A first object as another cluster got it. */
interface Made {
  readonly entry: Entry;
  readonly object: KubeObject;
}

/**
 * Makes the function that gives a cluster what it has from the beginning, as far as it is missing. The first new cluster gets its
 * objects through the registry; those after it get copies of these, which takes a fraction of the time.
 */
export function firstObjectsWriter(address: () => Address): (cluster: HostedCluster) => Promise<void> {
  let made: readonly Made[] | undefined;
  return async (cluster) => {
    const { objects } = cluster;
    if (objects.get(lastStorage, 'default', 'kubernetes')) return;
    const isNew = objects.count(firstStorage) === 0;
    if (isNew && made && (await writeCopies(cluster, made))) return;
    const entries = await writeMissing(cluster, address());
    // As they were made, not as they may be by now: nothing of one cluster may come into another.
    if (isNew && entries.every((entry) => entry !== undefined)) {
      made ??= entries.map((entry) => ({ entry, object: JSON.parse(entry.bytes.toString()) as KubeObject }));
    }
  };
}

const firstStorage = '/namespaces';
const lastStorage = 'discovery.k8s.io/endpointslices';

/** In one commit; false when the cluster has got something meanwhile. */
function writeCopies(cluster: HostedCluster, made: readonly Made[]): Promise<boolean> {
  const time = timestamp(cluster.now());
  return cluster.objects.commit((transaction) => {
    if (made.some(({ entry }) => transaction.get(entry.type, entry.namespace, entry.name))) return false;
    for (const { entry, object } of made) {
      transaction.put(entry.type, copyOf(object, time), { fields: entry.fields });
    }
    return true;
  });
}

/** The same object, made now. */
function copyOf(object: KubeObject, time: string): KubeObject {
  const { metadata } = object;
  const { managedFields } = metadata;
  return {
    ...object,
    metadata: {
      ...metadata,
      uid: randomUUID(),
      creationTimestamp: time,
      ...(managedFields ? { managedFields: managedFields.map((entry) => ({ ...entry, time })) } : {}),
    },
  };
}

/** The entries that were made; undefined for what was there. */
async function writeMissing(cluster: HostedCluster, address: Address): Promise<(Entry | undefined)[]> {
  const context = serverContext(cluster);
  const create = async (group: string, plural: string, namespace: string, object: KubeObject) => {
    const type = cluster.types.find(group, 'v1', plural);
    if (!type) return undefined;
    try {
      const { object: complete } = type.strategy.decode?.(object as never) ?? { object };
      return (await cluster.registry.create(context, type, namespace, complete)).entry;
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error;
      return undefined;
    }
  };
  const labels = { component: 'apiserver', provider: 'kubernetes' };
  const ip = endpointAddress(address.host);
  const port = { name: 'https', port: address.port, protocol: 'TCP' };
  // Asked for together, in this order, they are one commit, and each sees those before it.
  return Promise.all([
    ...namespaces.map((name) =>
      create('', 'namespaces', '', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
    ),
    create('', 'services', 'default', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kubernetes', labels },
      spec: {
        clusterIP: kubernetesServiceIp,
        clusterIPs: [kubernetesServiceIp],
        type: 'ClusterIP',
        ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: address.port }],
      },
    }),
    create('', 'endpoints', 'default', {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'kubernetes', labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      ...(ip === undefined ? {} : { subsets: [{ addresses: [{ ip }], ports: [port] }] }),
    }),
    create('discovery.k8s.io', 'endpointslices', 'default', {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'kubernetes', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: ip === undefined ? [] : [{ addresses: [ip], conditions: { ready: true } }],
      ports: [port],
    }),
  ]);
}
