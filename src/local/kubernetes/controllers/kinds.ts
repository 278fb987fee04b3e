// The kinds that controllers deal in.
import type { AdmissionPolicy } from '../admission/type-checking.ts';
import type { KubeObject } from '../object.ts';
import { builtinTypes } from '../types/builtin.ts';
import type { ResourceType } from '../types/resource-type.ts';
import type {
  CertificateRequest,
  ClaimObject,
  ConfigMap,
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  DisruptionBudget,
  EndpointSlice,
  Endpoints,
  EventObject,
  Job,
  Lease,
  Namespace,
  Node,
  Pod,
  PriorityClass,
  ReplicaSet,
  ResourceQuota,
  Service,
  StatefulSet,
  StorageClass,
  VolumeObject,
} from './shapes.ts';

/** A built-in type and the shape of its objects. */
export interface Kind<T extends KubeObject> {
  readonly type: ResourceType;
  /** Never set; carries the shape. */
  readonly shape?: T;
}

function kind<T extends KubeObject>(group: string, plural: string): Kind<T> {
  const type = builtinTypes().find((each) => each.group === group && each.plural === plural);
  if (!type) throw new Error(`there is no built-in type ${plural} of group ${group || 'core'}`);
  return { type };
}

export const namespaces = kind<Namespace>('', 'namespaces');
export const pods = kind<Pod>('', 'pods');
export const nodes = kind<Node>('', 'nodes');
export const services = kind<Service>('', 'services');
export const endpoints = kind<Endpoints>('', 'endpoints');
export const events = kind<EventObject>('', 'events');
export const configMaps = kind<ConfigMap>('', 'configmaps');
export const serviceAccounts = kind<KubeObject>('', 'serviceaccounts');
export const claims = kind<ClaimObject>('', 'persistentvolumeclaims');
export const volumes = kind<VolumeObject>('', 'persistentvolumes');
export const resourceQuotas = kind<ResourceQuota>('', 'resourcequotas');
export const deployments = kind<Deployment>('apps', 'deployments');
export const replicaSets = kind<ReplicaSet>('apps', 'replicasets');
export const statefulSets = kind<StatefulSet>('apps', 'statefulsets');
export const daemonSets = kind<DaemonSet>('apps', 'daemonsets');
export const controllerRevisions = kind<ControllerRevision>('apps', 'controllerrevisions');
export const jobs = kind<Job>('batch', 'jobs');
export const cronJobs = kind<CronJob>('batch', 'cronjobs');
export const leases = kind<Lease>('coordination.k8s.io', 'leases');
export const endpointSlices = kind<EndpointSlice>('discovery.k8s.io', 'endpointslices');
export const certificateRequests = kind<CertificateRequest>('certificates.k8s.io', 'certificatesigningrequests');
export const disruptionBudgets = kind<DisruptionBudget>('policy', 'poddisruptionbudgets');
export const admissionPolicies = kind<AdmissionPolicy>('admissionregistration.k8s.io', 'validatingadmissionpolicies');
export const priorityClasses = kind<PriorityClass>('scheduling.k8s.io', 'priorityclasses');
export const storageClasses = kind<StorageClass>('storage.k8s.io', 'storageclasses');
