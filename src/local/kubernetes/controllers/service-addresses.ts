// Gives services their cluster addresses and node ports, when they are created or become of another type.
import { randomInt } from 'node:crypto';
import type { ClusterHooks, HostedCluster } from '../clusters.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../registry/admission.ts';
import { type FieldError, invalid } from '../status.ts';
import { services } from './kinds.ts';
import { parsed } from './parsed.ts';
import type { Service, ServicePort } from './shapes.ts';

/** 10.0.0.0/16; its first address is the API server's own. */
export const serviceRange = '10.0.0.0/16';
const rangePrefix = '10.0.';
const rangeSize = 1 << 16;
const ports = { first: 30_000, last: 32_767 } as const;

const hasNodePorts = ({ spec }: Service): boolean =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);

const refuse = (service: Service, field: string, value: unknown, why: string): Error => {
  const error: FieldError = {
    type: 'FieldValueInvalid',
    field,
    message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  };
  return invalid({ group: '', kind: 'Service' }, service.metadata.name ?? '', [error]);
};

interface Taken {
  readonly addresses: Set<string>;
  /** `TCP/30000`. */
  readonly ports: Set<string>;
}

/** What the other services of the cluster have. */
function takenBy(cluster: HostedCluster, self: string, withPorts: boolean): Taken {
  const taken: Taken = { addresses: new Set(), ports: new Set() };
  for (const entry of cluster.objects.list(services.type.storage)) {
    if (`${entry.namespace}/${entry.name}` === self) continue;
    const address = entry.fields?.['spec.clusterIP'];
    if (address && address !== 'None') taken.addresses.add(address);
    const type = entry.fields?.['spec.type'];
    if (!withPorts || (type !== 'NodePort' && type !== 'LoadBalancer')) continue;
    const { spec } = parsed<Service>(entry);
    for (const { nodePort, protocol = 'TCP' } of spec.ports ?? [])
      if (nodePort) taken.ports.add(`${protocol}/${nodePort}`);
    if (spec.healthCheckNodePort) taken.ports.add(`TCP/${spec.healthCheckNodePort}`);
  }
  return taken;
}

function freeAddress(taken: ReadonlySet<string>): string | undefined {
  const start = randomInt(rangeSize);
  for (let tried = 0; tried < rangeSize; tried += 1) {
    const offset = (start + tried) % rangeSize;
    // The network, the API server's service and the broadcast address are nobody else's.
    if (offset < 2 || offset === rangeSize - 1) continue;
    const address = `${rangePrefix}${offset >> 8}.${offset & 255}`;
    if (!taken.has(address)) return address;
  }
  return undefined;
}

function giveAddress(service: Service, taken: Taken): void {
  const { spec } = service;
  const asked = spec.clusterIP;
  if (asked === 'None') return;
  if (asked) {
    if (taken.addresses.has(asked)) {
      throw refuse(
        service,
        'spec.clusterIPs',
        [asked],
        `failed to allocate IP ${asked}: provided IP is already allocated`,
      );
    }
    if (/^\d+\.\d+\.\d+\.\d+$/.test(asked) && !asked.startsWith(rangePrefix)) {
      const why = `failed to allocate IP ${asked}: the provided network does not match the current range`;
      throw refuse(service, 'spec.clusterIPs', [asked], why);
    }
    spec.clusterIPs ??= [asked];
    return;
  }
  const address = freeAddress(taken.addresses);
  if (!address) throw refuse(service, 'spec.clusterIPs', null, 'failed to allocate a serviceIP: range is full');
  spec.clusterIP = address;
  spec.clusterIPs = [address];
}

function freePort(taken: ReadonlySet<string>, protocol: string): number | undefined {
  const size = ports.last - ports.first + 1;
  const start = randomInt(size);
  for (let tried = 0; tried < size; tried += 1) {
    const port = ports.first + ((start + tried) % size);
    if (!taken.has(`${protocol}/${port}`)) return port;
  }
  return undefined;
}

function givePorts(service: Service, taken: Taken, old: Service | undefined): void {
  const before = old?.spec.ports ?? [];
  const kept = (port: ServicePort): number | undefined =>
    before.find((each) => each.port === port.port && (each.protocol ?? 'TCP') === (port.protocol ?? 'TCP'))?.nodePort;
  const asked = service.spec.ports ?? [];
  for (const [index, port] of asked.entries()) {
    const { protocol = 'TCP', nodePort } = port;
    if (!nodePort) continue;
    const field = `spec.ports[${index}].nodePort`;
    if (nodePort < ports.first || nodePort > ports.last) {
      const why = `provided port is not in the valid range. The range of valid ports is ${ports.first}-${ports.last}`;
      throw refuse(service, field, nodePort, why);
    }
    if (taken.ports.has(`${protocol}/${nodePort}`)) {
      throw refuse(service, field, nodePort, 'provided port is already allocated');
    }
  }
  const own = new Set([
    ...taken.ports,
    ...asked.flatMap(({ protocol = 'TCP', nodePort }) => (nodePort ? [`${protocol}/${nodePort}`] : [])),
  ]);
  for (const port of asked) {
    if (port.nodePort) continue;
    const { protocol = 'TCP' } = port;
    const again = kept(port);
    const chosen = again && !own.has(`${protocol}/${again}`) ? again : freePort(own, protocol);
    if (chosen === undefined) throw refuse(service, 'spec.ports', null, 'failed to allocate a nodePort: range is full');
    port.nodePort = chosen;
    own.add(`${protocol}/${chosen}`);
  }
}

const isExternal = ({ spec }: Service): boolean =>
  spec.type === 'NodePort' ||
  spec.type === 'LoadBalancer' ||
  (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);
const hasAddress = ({ spec }: Service): boolean => spec.type !== 'ExternalName';
const checksHealth = ({ spec }: Service): boolean =>
  spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';

/** What a type has no use for, and the client left as it was, goes with the type. */
function takeBack(service: Service, old: Service): void {
  const { spec } = service;
  const drop = (
    needed: (one: Service) => boolean,
    ...names: readonly ('clusterIP' | 'clusterIPs' | keyof typeof dependent)[]
  ): void => {
    if (!needed(old) || needed(service)) return;
    if (!names.every((name) => JSON.stringify(spec[name]) === JSON.stringify(old.spec[name]))) return;
    for (const name of names) delete spec[name];
  };
  drop(hasAddress, 'clusterIP', 'clusterIPs');
  if (hasNodePorts(old) && !hasNodePorts(service)) {
    for (const port of spec.ports ?? []) {
      if (old.spec.ports?.some((each) => each.nodePort === port.nodePort)) delete port.nodePort;
    }
  }
  for (const [name, needed] of Object.entries(dependent)) drop(needed, name as keyof typeof dependent);
}

const isBalanced = ({ spec }: Service): boolean => spec.type === 'LoadBalancer';
/** Fields by who needs them. */
const dependent = {
  ipFamilies: hasAddress,
  ipFamilyPolicy: hasAddress,
  healthCheckNodePort: checksHealth,
  allocateLoadBalancerNodePorts: isBalanced,
  loadBalancerClass: isBalanced,
  externalTrafficPolicy: isExternal,
} as const;

/** The hooks given, and services that get their addresses. */
export const withServiceAddresses = (hooks: ClusterHooks = {}): ClusterHooks => ({
  ...hooks,
  admission: (cluster) => [serviceAddressesPlugin(cluster), ...(hooks.admission?.(cluster) ?? [])],
});

/** Writes pass one at a time, so what is free is free until this one is stored. */
function serviceAddressesPlugin(cluster: HostedCluster): AdmissionPlugin {
  return {
    name: 'ServiceAddresses',
    waits: false,
    concerns: ({ operation, type, subresource }) =>
      type.storage === services.type.storage && subresource === '' && operation !== 'DELETE',
    mutate({ object, old: before, name }: AdmissionRequest) {
      if (!object) return;
      const service = object as Service;
      const old = before as Service | undefined;
      if (old) takeBack(service, old);
      const needsPorts = hasNodePorts(service);
      const taken = takenBy(cluster, `${name.namespace}/${name.name}`, needsPorts);
      if (service.spec.type !== 'ExternalName') {
        if (!service.spec.clusterIP && old?.spec.clusterIP && old.spec.type !== 'ExternalName') {
          service.spec.clusterIP = old.spec.clusterIP;
          if (old.spec.clusterIPs) service.spec.clusterIPs = old.spec.clusterIPs;
        }
        if (service.spec.clusterIP !== old?.spec.clusterIP || !service.spec.clusterIP) giveAddress(service, taken);
      }
      if (needsPorts) givePorts(service, taken, old);
    },
  };
}
