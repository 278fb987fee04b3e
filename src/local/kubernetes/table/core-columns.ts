// The columns of core's types but for pods.
import type { KubeObject } from '../object.ts';
import type { PodTemplate } from '../types/pod/pod-spec.ts';
import type { Column } from '../types/resource-type.ts';
import { since } from './age.ts';
import {
  ageColumn,
  column,
  containerColumns,
  firstThree,
  labelsText,
  nameColumn,
  none,
  plainColumns,
  specOf,
  statusOf,
  unset,
  whole,
  wide,
} from './columns.ts';
import { podColumns } from './pod-columns.ts';

const size = (value: unknown): number => (typeof value === 'object' && value !== null ? Object.keys(value).length : 0);

interface ServiceSpec {
  type: string;
  clusterIPs: string[];
  externalIPs: string[];
  externalName: string;
  ports: { port: number; nodePort?: number; protocol?: string }[];
  selector: Record<string, string>;
}

/** Addresses of a load balancer, each once and in order. */
export function balancerText(object: KubeObject): string {
  const { loadBalancer } = statusOf<{ loadBalancer: { ingress?: { ip?: string; hostname?: string }[] } }>(object);
  const addresses = (loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
  return [...new Set(addresses.filter((address) => address !== ''))].sort().join(',');
}

function externalAddress(object: KubeObject): string {
  const { type, externalIPs = [], externalName = '' } = specOf<ServiceSpec>(object);
  switch (type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs.join(',') || none;
    case 'LoadBalancer':
      return (
        [...balancerText(object).split(','), ...externalIPs].filter((each) => each !== '').join(',') || '<pending>'
      );
    case 'ExternalName':
      return externalName;
    default:
      return '<unknown>';
  }
}

const portsText = (object: KubeObject): string =>
  (specOf<ServiceSpec>(object).ports ?? [])
    .map(({ port, nodePort, protocol = '' }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol}`)
    .join(',') || none;

interface Subset {
  addresses?: { ip: string }[];
  ports?: { port: number }[];
}

function endpointsText(object: KubeObject): string {
  const subsets = (object.subsets ?? []) as Subset[];
  if (subsets.length === 0) return none;
  const host = (ip: string): string => (ip.includes(':') ? `[${ip}]` : ip);
  const all = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip }) => ip)
      : ports.flatMap(({ port }) => addresses.map(({ ip }) => `${host(ip)}:${port}`)),
  );
  return firstThree(all, '');
}

interface NodeStatus {
  conditions: { type: string; status: string }[];
  addresses: { type: string; address: string }[];
  nodeInfo: { kubeletVersion?: string; osImage?: string; kernelVersion?: string; containerRuntimeVersion?: string };
}

function nodeState(object: KubeObject): string {
  const ready = (statusOf<NodeStatus>(object).conditions ?? []).findLast(({ type }) => type === 'Ready');
  const states = [ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown'];
  if (specOf<{ unschedulable: boolean }>(object).unschedulable) states.push('SchedulingDisabled');
  return states.join(',');
}

const rolePrefix = 'node-role.kubernetes.io/';

function nodeRoles({ metadata }: KubeObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith(rolePrefix) && key.length > rolePrefix.length) roles.add(key.slice(rolePrefix.length));
    else if (key === 'kubernetes.io/role' && value) roles.add(value);
  }
  return [...roles].sort().join(',') || none;
}

const nodeAddress =
  (wanted: string) =>
  (object: KubeObject): string =>
    statusOf<NodeStatus>(object).addresses?.find(({ type }) => type === wanted)?.address ?? none;

const nodeInfo =
  (member: keyof NodeStatus['nodeInfo'], otherwise: string) =>
  (object: KubeObject): string =>
    statusOf<NodeStatus>(object).nodeInfo?.[member] || otherwise;

const modeNames: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

const modesText = (modes: readonly string[] | undefined): string =>
  Object.entries(modeNames)
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');

const phase = (object: KubeObject): string =>
  object.metadata.deletionTimestamp === undefined ? (statusOf<{ phase: string }>(object).phase ?? '') : 'Terminating';

interface VolumeSpec {
  capacity: { storage?: string };
  accessModes: string[];
  persistentVolumeReclaimPolicy: string;
  claimRef: { namespace?: string; name?: string };
  storageClassName: string;
  volumeAttributesClassName: string;
  volumeMode: string;
  volumeName: string;
}

const classAnnotation = 'volume.beta.kubernetes.io/storage-class';
const storageClass = (object: KubeObject): string =>
  object.metadata.annotations?.[classAnnotation] ?? specOf<VolumeSpec>(object).storageClassName ?? '';

const volumeMode = wide('VolumeMode', (object) => specOf<VolumeSpec>(object).volumeMode ?? unset);
const attributesClass = column(
  'VolumeAttributesClass',
  (object) => specOf<VolumeSpec>(object).volumeAttributesClassName ?? unset,
);

interface ClaimStatus {
  accessModes: string[];
  capacity: { storage?: string };
}

const isBound = (object: KubeObject): boolean => Boolean(specOf<VolumeSpec>(object).volumeName);

interface Event extends KubeObject {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  involvedObject?: { kind?: string; name?: string; fieldPath?: string };
  source?: { component?: string; host?: string };
  reportingComponent?: string;
  reportingInstance?: string;
  eventTime?: string | null;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  series?: { count?: number; lastObservedTime?: string | null };
}

const firstSeen = (object: KubeObject, now: number): string => {
  const { firstTimestamp, eventTime } = object as Event;
  return since(firstTimestamp || eventTime, now);
};

/** By the names of core; events.k8s.io has the same under others. */
export const eventColumns: readonly Column[] = [
  column('Last Seen', (object, now) => {
    const { series, lastTimestamp } = object as Event;
    if (series) return since(series.lastObservedTime, now);
    return lastTimestamp ? since(lastTimestamp, now) : firstSeen(object, now);
  }),
  column('Type', (object) => (object as Event).type ?? ''),
  column('Reason', (object) => (object as Event).reason ?? ''),
  column('Object', (object) => {
    const { kind = '', name } = (object as Event).involvedObject ?? {};
    return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase();
  }),
  wide('Subobject', (object) => (object as Event).involvedObject?.fieldPath ?? ''),
  wide('Source', (object) => {
    const { source, reportingComponent, reportingInstance } = object as Event;
    const component = source?.component || reportingComponent || '';
    const host = source?.host || reportingInstance || '';
    return host ? `${component}, ${host}` : component;
  }),
  column('Message', (object) => ((object as Event).message ?? '').trim()),
  wide('First Seen', firstSeen),
  wide('Count', (object) => {
    const { series, count } = object as Event;
    return series ? (series.count ?? 0) : count || 1;
  }),
  wide('Name', ({ metadata }) => metadata.name ?? '', { format: 'name' }),
];

function quotaText(object: KubeObject, limits: boolean): string {
  const { hard = {}, used = {} } = statusOf<{ hard: Record<string, string>; used: Record<string, string> }>(object);
  return Object.keys(hard)
    .filter((name) => name.startsWith('limits.') === limits)
    .sort()
    .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name]}`)
    .join(', ');
}

interface ControllerSpec {
  replicas: number;
  selector: Record<string, string>;
  template: PodTemplate;
}

/** By plural. */
export const coreColumns: Readonly<Record<string, readonly Column[]>> = {
  pods: podColumns,
  events: eventColumns,
  limitranges: plainColumns,
  configmaps: [nameColumn, column('Data', ({ data, binaryData }) => size(data) + size(binaryData)), ageColumn],
  secrets: [
    nameColumn,
    column('Type', ({ type }) => String(type ?? '')),
    column('Data', ({ data }) => size(data)),
    ageColumn,
  ],
  namespaces: [nameColumn, column('Status', (object) => statusOf<{ phase: string }>(object).phase ?? ''), ageColumn],
  serviceaccounts: [nameColumn, column('Secrets', ({ secrets }) => size(secrets)), ageColumn],
  services: [
    nameColumn,
    column('Type', (object) => specOf<ServiceSpec>(object).type ?? ''),
    column('Cluster-IP', (object) => specOf<ServiceSpec>(object).clusterIPs?.[0] ?? none),
    column('External-IP', externalAddress),
    column('Port(s)', portsText),
    ageColumn,
    wide('Selector', (object) => labelsText(specOf<ServiceSpec>(object).selector)),
  ],
  endpoints: [nameColumn, column('Endpoints', endpointsText), ageColumn],
  nodes: [
    nameColumn,
    column('Status', nodeState),
    column('Roles', nodeRoles),
    ageColumn,
    column('Version', nodeInfo('kubeletVersion', '')),
    wide('Internal-IP', nodeAddress('InternalIP')),
    wide('External-IP', nodeAddress('ExternalIP')),
    wide('OS-Image', nodeInfo('osImage', '<unknown>')),
    wide('Kernel-Version', nodeInfo('kernelVersion', '<unknown>')),
    wide('Container-Runtime', nodeInfo('containerRuntimeVersion', '<unknown>')),
  ],
  persistentvolumes: [
    nameColumn,
    column('Capacity', (object) => specOf<VolumeSpec>(object).capacity?.storage ?? '0'),
    column('Access Modes', (object) => modesText(specOf<VolumeSpec>(object).accessModes)),
    column('Reclaim Policy', (object) => specOf<VolumeSpec>(object).persistentVolumeReclaimPolicy ?? ''),
    column('Status', phase),
    column('Claim', (object) => {
      const { claimRef } = specOf<VolumeSpec>(object);
      return claimRef ? `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}` : '';
    }),
    column('StorageClass', storageClass),
    attributesClass,
    column('Reason', (object) => statusOf<{ reason: string }>(object).reason ?? ''),
    ageColumn,
    volumeMode,
  ],
  persistentvolumeclaims: [
    nameColumn,
    column('Status', phase),
    column('Volume', (object) => specOf<VolumeSpec>(object).volumeName ?? ''),
    column('Capacity', (object) => (isBound(object) ? (statusOf<ClaimStatus>(object).capacity?.storage ?? '0') : '')),
    column('Access Modes', (object) => (isBound(object) ? modesText(statusOf<ClaimStatus>(object).accessModes) : '')),
    column('StorageClass', storageClass),
    attributesClass,
    ageColumn,
    volumeMode,
  ],
  resourcequotas: [
    nameColumn,
    column('Request', (object) => quotaText(object, false)),
    column('Limit', (object) => quotaText(object, true)),
    ageColumn,
  ],
  podtemplates: [
    nameColumn,
    ...containerColumns(({ template }) => (template as PodTemplate).spec.containers).map((each) => ({
      ...each,
      priority: 0,
    })),
    column('Pod Labels', ({ template }) => labelsText((template as PodTemplate).metadata.labels)),
  ],
  replicationcontrollers: [
    nameColumn,
    whole('Desired', (object) => specOf<ControllerSpec>(object).replicas ?? 0),
    whole('Current', (object) => statusOf<{ replicas: number }>(object).replicas ?? 0),
    whole('Ready', (object) => statusOf<{ readyReplicas: number }>(object).readyReplicas ?? 0),
    ageColumn,
    ...containerColumns((object) => specOf<ControllerSpec>(object).template?.spec.containers),
    wide('Selector', (object) => labelsText(specOf<ControllerSpec>(object).selector)),
  ],
  componentstatuses: [
    nameColumn,
    column('Status', () => 'Unknown'),
    column('Message', () => ''),
    column('Error', () => ''),
  ],
};
