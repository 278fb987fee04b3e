// The members of objects that controllers look at and write. Decoding has made sure of the types.
import type { KubeObject, ObjectMeta } from '../object.ts';
import type { JobSpec } from '../types/batch.ts';
import type { LabelSelector, PodSpec, PodTemplate, Resources } from '../types/pod/pod-spec.ts';

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string | null;
  lastUpdateTime?: string | null;
  lastProbeTime?: string | null;
  lastHeartbeatTime?: string | null;
  observedGeneration?: number;
}

export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string; conditions?: Condition[] };
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string | null };
  terminated?: {
    exitCode: number;
    reason?: string;
    message?: string;
    startedAt?: string | null;
    finishedAt?: string | null;
    containerID?: string;
  };
}

export interface ContainerStatus {
  name: string;
  state?: ContainerState;
  lastState?: ContainerState;
  ready: boolean;
  restartCount: number;
  image: string;
  imageID: string;
  containerID?: string;
  started?: boolean;
}

export interface PodStatus {
  phase?: string;
  reason?: string;
  message?: string;
  conditions?: Condition[];
  hostIP?: string;
  hostIPs?: { ip: string }[];
  podIP?: string;
  podIPs?: { ip: string }[];
  startTime?: string;
  qosClass?: string;
  observedGeneration?: number;
  nominatedNodeName?: string;
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
}

export interface Pod extends KubeObject {
  spec: PodSpec & {
    priority?: number;
    overhead?: Resources;
    readinessGates?: { conditionType: string }[];
    runtimeClassName?: string;
  };
  status?: PodStatus;
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

export interface Node extends KubeObject {
  spec: { unschedulable?: boolean; taints?: Taint[]; podCIDR?: string; podCIDRs?: string[]; providerID?: string };
  status: {
    capacity?: Resources;
    allocatable?: Resources;
    conditions?: Condition[];
    addresses?: { type: string; address: string }[];
    nodeInfo?: Record<string, string>;
    [member: string]: unknown;
  };
}

export interface Lease extends KubeObject {
  spec: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    renewTime?: string;
    acquireTime?: string;
    leaseTransitions?: number;
  };
}

export interface WorkloadSpec {
  replicas?: number;
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
  selector: LabelSelector;
  template: PodTemplate;
}

export interface ReplicaSetStatus {
  replicas: number;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  observedGeneration?: number;
  conditions?: Condition[];
}

export interface ReplicaSet extends KubeObject {
  spec: WorkloadSpec;
  status?: ReplicaSetStatus;
}

export interface RollingUpdate {
  maxSurge?: number | string;
  maxUnavailable?: number | string;
  partition?: number;
}

export interface DeploymentStatus {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  conditions?: Condition[];
  collisionCount?: number;
}

export interface Deployment extends KubeObject {
  spec: WorkloadSpec & {
    strategy: { type?: string; rollingUpdate?: RollingUpdate };
    progressDeadlineSeconds?: number;
    paused?: boolean;
  };
  status?: DeploymentStatus;
}

export interface StatefulSetStatus {
  observedGeneration?: number;
  replicas: number;
  readyReplicas?: number;
  currentReplicas?: number;
  updatedReplicas?: number;
  availableReplicas?: number;
  currentRevision?: string;
  updateRevision?: string;
  collisionCount?: number;
}

export interface StatefulSet extends KubeObject {
  spec: WorkloadSpec & {
    serviceName?: string;
    podManagementPolicy?: string;
    updateStrategy: { type?: string; rollingUpdate?: RollingUpdate };
    volumeClaimTemplates?: ClaimObject[];
    persistentVolumeClaimRetentionPolicy?: { whenDeleted?: string; whenScaled?: string };
    ordinals?: { start?: number };
  };
  status?: StatefulSetStatus;
}

export interface DaemonSetStatus {
  currentNumberScheduled: number;
  numberMisscheduled: number;
  desiredNumberScheduled: number;
  numberReady: number;
  observedGeneration?: number;
  updatedNumberScheduled?: number;
  numberAvailable?: number;
  numberUnavailable?: number;
  collisionCount?: number;
}

export interface DaemonSet extends KubeObject {
  spec: WorkloadSpec & { updateStrategy: { type?: string; rollingUpdate?: RollingUpdate } };
  status?: DaemonSetStatus;
}

export interface ControllerRevision extends KubeObject {
  revision: number;
  data: unknown;
}

export interface JobStatus {
  conditions?: Condition[];
  startTime?: string;
  completionTime?: string;
  active?: number;
  succeeded?: number;
  failed?: number;
  terminating?: number;
  ready?: number;
  completedIndexes?: string;
  failedIndexes?: string;
  uncountedTerminatedPods?: { succeeded?: string[]; failed?: string[] };
}

export interface Job extends KubeObject {
  spec: JobSpec;
  status?: JobStatus;
}

export interface CronJob extends KubeObject {
  spec: {
    schedule: string;
    timeZone?: string;
    concurrencyPolicy?: string;
    suspend?: boolean;
    startingDeadlineSeconds?: number;
    successfulJobsHistoryLimit?: number;
    failedJobsHistoryLimit?: number;
    jobTemplate: { metadata: ObjectMeta; spec: JobSpec };
  };
  status?: {
    active?: Record<string, string>[];
    lastScheduleTime?: string;
    lastSuccessfulTime?: string;
  };
}

export interface ServicePort {
  name?: string;
  protocol?: string;
  port: number;
  targetPort?: number | string;
  nodePort?: number;
  appProtocol?: string;
}

export interface Service extends KubeObject {
  spec: {
    type?: string;
    ports?: ServicePort[];
    selector?: Record<string, string>;
    clusterIP?: string;
    clusterIPs?: string[];
    ipFamilies?: string[];
    ipFamilyPolicy?: string;
    externalIPs?: string[];
    publishNotReadyAddresses?: boolean;
    externalTrafficPolicy?: string;
    healthCheckNodePort?: number;
    allocateLoadBalancerNodePorts?: boolean;
    loadBalancerIP?: string;
    loadBalancerClass?: string;
  };
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string; ipMode?: string }[] } };
}

export interface EndpointAddress {
  ip: string;
  hostname?: string;
  nodeName?: string;
  targetRef?: Record<string, string>;
}

export interface EndpointPort {
  name?: string;
  port: number;
  protocol?: string;
  appProtocol?: string;
}

export interface EndpointSubset {
  addresses?: EndpointAddress[];
  notReadyAddresses?: EndpointAddress[];
  ports?: EndpointPort[];
}

export interface Endpoints extends KubeObject {
  subsets?: EndpointSubset[];
}

export interface SliceEndpoint {
  addresses: string[];
  conditions: { ready?: boolean; serving?: boolean; terminating?: boolean };
  hostname?: string;
  nodeName?: string;
  targetRef?: Record<string, string>;
}

export interface EndpointSlice extends KubeObject {
  addressType: string;
  endpoints: SliceEndpoint[] | null;
  ports: EndpointPort[] | null;
}

export interface EventObject extends KubeObject {
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  series?: { lastObservedTime?: string };
  reason?: string;
  message?: string;
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

export interface CertificateRequest extends KubeObject {
  spec: {
    request: string;
    signerName: string;
    usages?: string[];
    username?: string;
    groups?: string[];
    expirationSeconds?: number;
  };
  status?: { certificate?: string; conditions?: Condition[] };
}

export interface DisruptionBudget extends KubeObject {
  spec: {
    minAvailable?: number | string;
    maxUnavailable?: number | string;
    selector?: LabelSelector | null;
    unhealthyPodEvictionPolicy?: string;
  };
  status?: {
    observedGeneration?: number;
    disruptionsAllowed: number;
    currentHealthy: number;
    desiredHealthy: number;
    expectedPods: number;
    conditions?: Condition[];
    disruptedPods?: Record<string, string>;
  };
}

export interface PriorityClass extends KubeObject {
  value: number;
}

export interface ResourceQuota extends KubeObject {
  spec: { hard?: Resources; scopes?: string[]; scopeSelector?: unknown };
  status?: { hard?: Resources; used?: Resources };
}

export interface StorageClass extends KubeObject {
  provisioner: string;
  reclaimPolicy?: string;
  volumeBindingMode?: string;
}

export interface ClaimObject extends KubeObject {
  spec: {
    accessModes?: string[];
    resources?: { requests?: Resources };
    storageClassName?: string;
    volumeMode?: string;
    volumeName?: string;
    selector?: LabelSelector;
  };
  status?: { phase?: string; accessModes?: string[]; capacity?: Resources; conditions?: Condition[] };
}

export interface VolumeObject extends KubeObject {
  spec: {
    capacity?: Resources;
    accessModes?: string[];
    storageClassName?: string;
    volumeMode?: string;
    persistentVolumeReclaimPolicy?: string;
    claimRef?: {
      kind?: string;
      namespace?: string;
      name?: string;
      uid?: string;
      apiVersion?: string;
      resourceVersion?: string;
    };
    [source: string]: unknown;
  };
  status?: { phase?: string; lastPhaseTransitionTime?: string; message?: string; reason?: string };
}
