// Where the pods of a service are: endpoint slices, and the older endpoints.
import { isDeepStrictEqual } from 'node:util';
import { selects } from '../types/selectors.ts';
import { type Controller, itself, type Trigger } from './controller.ts';
import { controllerReference, copyOf, type Hands, isAlreadyExists, isNotFound, type Reader } from './hands.ts';
import { endpointSlices, endpoints, pods, services } from './kinds.ts';
import { isEnding, isFinished, isReady } from './pods.ts';
import type {
  EndpointAddress,
  EndpointPort,
  EndpointSubset,
  Pod,
  Service,
  ServicePort,
  SliceEndpoint,
} from './shapes.ts';

/** Endpoints in one slice; beyond that there is another. */
const mostPerSlice = 100;
/** Addresses in one Endpoints object; the rest are left out. */
const mostAddresses = 1000;

const serviceLabel = 'kubernetes.io/service-name';
const managedLabel = 'endpointslice.kubernetes.io/managed-by';
const sliceManager = 'endpointslice-controller.k8s.io';

/** Services whose selector matches the pod, now or before. */
const servicesOf: Trigger = ({ entry, before }, reader) => {
  const found = [];
  for (const service of reader.list(services, entry.namespace)) {
    const { selector } = service.spec;
    if (!selector) continue;
    const wanted = { matchLabels: selector };
    if (selects(wanted, entry.labels) || (before && selects(wanted, before.labels))) {
      found.push({ namespace: entry.namespace, name: service.metadata.name ?? '' });
    }
  }
  return found;
};

function selectedPods(reader: Reader, { metadata, spec }: Service): Pod[] {
  const wanted = { matchLabels: spec.selector ?? {} };
  const found: Pod[] = [];
  for (const entry of reader.entries(pods, metadata.namespace)) {
    if (!selects(wanted, entry.labels)) continue;
    const pod = reader.read(pods, entry);
    if (pod.status?.podIP && !isFinished(pod)) found.push(pod);
  }
  return found;
}

/** The number behind a service's port in a pod; undefined when the pod has no port of that name. */
function targetOf({ targetPort, port, protocol = 'TCP' }: ServicePort, { spec }: Pod): number | undefined {
  if (targetPort === undefined) return port;
  if (typeof targetPort === 'number') return targetPort;
  for (const { ports = [] } of spec.containers ?? []) {
    const named = ports.find((each) => each.name === targetPort && (each.protocol ?? 'TCP') === protocol);
    if (named) return named.containerPort;
  }
  return undefined;
}

function portsFor({ spec }: Service, pod: Pod, always: boolean): EndpointPort[] {
  return (spec.ports ?? []).flatMap((each) => {
    const port = targetOf(each, pod);
    if (port === undefined) return [];
    const { name = '', protocol = 'TCP', appProtocol } = each;
    return [{ ...(name || always ? { name } : {}), port, protocol, ...(appProtocol ? { appProtocol } : {}) }];
  });
}

const referenceTo = ({ metadata }: Pod): Record<string, string> => ({
  kind: 'Pod',
  name: metadata.name ?? '',
  namespace: metadata.namespace ?? '',
  uid: metadata.uid ?? '',
});

const hostnameOf = ({ spec }: Pod, service: Service): { hostname?: string } =>
  spec.hostname && spec.subdomain === service.metadata.name ? { hostname: spec.hostname } : {};

function subsetsOf(service: Service, selected: readonly Pod[]): EndpointSubset[] {
  const groups = new Map<string, { ports: EndpointPort[]; ready: EndpointAddress[]; notReady: EndpointAddress[] }>();
  for (const pod of selected.slice(0, mostAddresses)) {
    const tolerant = service.spec.publishNotReadyAddresses ?? false;
    if (isEnding(pod) && !tolerant) continue;
    const ports = portsFor(service, pod, false);
    if (ports.length === 0 && (service.spec.ports ?? []).length > 0) continue;
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, ready: [], notReady: [] };
    groups.set(key, group);
    const address: EndpointAddress = {
      ip: pod.status?.podIP ?? '',
      ...hostnameOf(pod, service),
      ...(pod.spec.nodeName ? { nodeName: pod.spec.nodeName } : {}),
      targetRef: referenceTo(pod),
    };
    (tolerant || isReady(pod) ? group.ready : group.notReady).push(address);
  }
  const byAddress = (one: EndpointAddress, other: EndpointAddress): number => (one.ip < other.ip ? -1 : 1);
  return [...groups.values()].map(({ ports, ready, notReady }) => ({
    ...(ready.length > 0 ? { addresses: ready.sort(byAddress) } : {}),
    ...(notReady.length > 0 ? { notReadyAddresses: notReady.sort(byAddress) } : {}),
    ...(ports.length > 0 ? { ports } : {}),
  }));
}

const managedBy = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };

export const endpointsController: Controller = {
  name: 'endpoint-controller',
  triggers: {
    [services.type.storage]: itself,
    [pods.type.storage]: servicesOf,
    [endpoints.type.storage]: ({ kind, entry }) => (kind === 'DELETED' ? [entry] : []),
  },
  async reconcile(hands, { namespace, name }) {
    const service = hands.get(services, namespace, name);
    const found = hands.get(endpoints, namespace, name);
    if (!service) {
      if (found?.metadata.labels?.['endpoints.kubernetes.io/managed-by']) await hands.remove(endpoints, found);
      return undefined;
    }
    if (!service.spec.selector || service.metadata.deletionTimestamp) return undefined;
    const subsets = subsetsOf(service, selectedPods(hands, service));
    const headless = service.spec.clusterIP === 'None' ? { 'service.kubernetes.io/headless': '' } : {};
    const labels = { ...service.metadata.labels, ...managedBy, ...headless };
    try {
      if (!found) {
        await hands.create(endpoints, namespace, {
          metadata: { name, labels },
          ...(subsets.length > 0 ? { subsets } : {}),
        });
      } else if (
        !isDeepStrictEqual(found.subsets ?? [], subsets) ||
        !isDeepStrictEqual(found.metadata.labels, labels)
      ) {
        const changed = copyOf(found);
        changed.metadata.labels = labels;
        if (subsets.length > 0) changed.subsets = subsets;
        else delete changed.subsets;
        await hands.update(endpoints, changed);
      }
    } catch (error) {
      if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
    }
    return undefined;
  },
};

function endpointOf(service: Service, pod: Pod): SliceEndpoint {
  const ready = isReady(pod);
  const ending = isEnding(pod);
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: {
      ready: (service.spec.publishNotReadyAddresses ?? false) || (ready && !ending),
      serving: ready,
      terminating: ending,
    },
    ...hostnameOf(pod, service),
    ...(pod.spec.nodeName ? { nodeName: pod.spec.nodeName } : {}),
    targetRef: referenceTo(pod),
  };
}

interface WantedSlice {
  readonly ports: EndpointPort[] | null;
  readonly endpoints: SliceEndpoint[] | null;
}

/** The slices that there are to be: endpoints with the same ports together. */
function wantedSlices(service: Service, selected: readonly Pod[]): WantedSlice[] {
  const groups = new Map<string, { ports: EndpointPort[]; members: SliceEndpoint[] }>();
  for (const pod of selected) {
    const ports = portsFor(service, pod, true);
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, members: [] };
    groups.set(key, group);
    group.members.push(endpointOf(service, pod));
  }
  const slices: WantedSlice[] = [];
  for (const { ports, members } of groups.values()) {
    for (let at = 0; at < members.length; at += mostPerSlice) {
      slices.push({ ports: ports.length > 0 ? ports : null, endpoints: members.slice(at, at + mostPerSlice) });
    }
  }
  return slices.length > 0 ? slices : [{ ports: null, endpoints: null }];
}

async function writeSlices(hands: Hands, service: Service): Promise<void> {
  const { namespace = '', name = '', uid = '' } = service.metadata;
  const own = hands
    .dependents(endpointSlices, uid)
    .filter(({ metadata }) => metadata.labels?.[managedLabel] === sliceManager && !metadata.deletionTimestamp);
  const headless = service.spec.clusterIP === 'None' ? { 'service.kubernetes.io/headless': '' } : {};
  const labels = { ...service.metadata.labels, ...headless, [managedLabel]: sliceManager, [serviceLabel]: name };
  const wanted = wantedSlices(service, selectedPods(hands, service));
  const spare = [...own];
  for (const slice of wanted) {
    const found = spare.shift();
    if (!found) {
      await hands.create(endpointSlices, namespace, {
        metadata: { generateName: `${name}-`, labels, ownerReferences: [controllerReference(service)] },
        addressType: 'IPv4',
        ...slice,
      });
    } else if (
      !isDeepStrictEqual(found.endpoints ?? null, slice.endpoints) ||
      !isDeepStrictEqual(found.ports ?? null, slice.ports) ||
      !isDeepStrictEqual(found.metadata.labels, labels)
    ) {
      const changed = copyOf(found);
      changed.metadata.labels = labels;
      await hands.update(endpointSlices, { ...changed, ...slice });
    }
  }
  for (const slice of spare) await hands.remove(endpointSlices, slice);
}

export const endpointSliceController: Controller = {
  name: 'endpointslice-controller',
  triggers: {
    [services.type.storage]: itself,
    [pods.type.storage]: servicesOf,
    [endpointSlices.type.storage]: ({ kind, entry }) => {
      const service = entry.labels?.[serviceLabel];
      return kind === 'DELETED' && service ? [{ namespace: entry.namespace, name: service }] : [];
    },
  },
  async reconcile(hands, { namespace, name }) {
    const service = hands.get(services, namespace, name);
    if (!service?.spec.selector || service.metadata.deletionTimestamp) return undefined;
    await writeSlices(hands, service);
    return undefined;
  },
};
