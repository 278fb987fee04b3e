// The parts of a pod's spec that the server itself looks at. Decoding has made sure of the types.
import type { ObjectMeta } from '../../object.ts';

export type Resources = Record<string, string>;

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export interface Handler {
  exec?: { command?: string[] };
  httpGet?: { path?: string; port: number | string; scheme?: string; host?: string; httpHeaders?: { name: string }[] };
  tcpSocket?: { port: number | string };
  grpc?: { port: number; service?: string };
  sleep?: { seconds: number };
}

export interface Probe extends Handler {
  initialDelaySeconds?: number;
  timeoutSeconds?: number;
  periodSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
}

interface FieldRef {
  apiVersion?: string;
  fieldPath: string;
}

interface KeyRef {
  name?: string;
  key: string;
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: {
    fieldRef?: FieldRef;
    resourceFieldRef?: { resource: string };
    configMapKeyRef?: KeyRef;
    secretKeyRef?: KeyRef;
  };
}

export interface ContainerPort {
  name?: string;
  containerPort: number;
  hostPort?: number;
  hostIP?: string;
  protocol?: string;
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  subPath?: string;
  subPathExpr?: string;
  mountPropagation?: string;
}

export interface Container {
  name: string;
  image?: string;
  imagePullPolicy?: string;
  terminationMessagePath?: string;
  terminationMessagePolicy?: string;
  restartPolicy?: string;
  ports?: ContainerPort[];
  env?: EnvVar[];
  envFrom?: { prefix?: string; configMapRef?: { name?: string }; secretRef?: { name?: string } }[];
  resources: { limits?: Resources; requests?: Resources };
  volumeMounts?: VolumeMount[];
  volumeDevices?: { name: string; devicePath: string }[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: { postStart?: Handler; preStop?: Handler };
  securityContext?: {
    privileged?: boolean;
    allowPrivilegeEscalation?: boolean;
    runAsUser?: number;
    runAsGroup?: number;
    capabilities?: { add?: string[] };
  };
}

export interface DownwardItems {
  items?: { path: string; fieldRef?: FieldRef }[];
  defaultMode?: number;
}

export interface Projection {
  secret?: { name?: string };
  configMap?: { name?: string };
  downwardAPI?: DownwardItems;
  serviceAccountToken?: { path: string; expirationSeconds?: number };
  clusterTrustBundle?: object;
}

export interface Volume {
  name: string;
  emptyDir?: object;
  hostPath?: { path: string; type?: string };
  secret?: { secretName?: string; defaultMode?: number };
  configMap?: { name?: string; defaultMode?: number };
  downwardAPI?: DownwardItems;
  projected?: { sources: Projection[] | null; defaultMode?: number };
  persistentVolumeClaim?: { claimName: string };
  ephemeral?: { volumeClaimTemplate?: { spec: { volumeMode?: string } } };
  iscsi?: { iscsiInterface?: string };
  rbd?: { pool?: string; user?: string; keyring?: string };
  azureDisk?: { cachingMode?: string; kind?: string; fsType?: string; readOnly?: boolean };
  scaleIO?: { storageMode?: string; fsType?: string };
  image?: { reference?: string; pullPolicy?: string };
  csi?: { driver: string };
  nfs?: { server: string; path: string };
  [source: string]: unknown;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface NodeSelectorTerm {
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
  matchFields?: { key: string; operator: string; values?: string[] }[];
}

export interface PodAffinityTerm {
  labelSelector?: LabelSelector;
  namespaces?: string[];
  namespaceSelector?: LabelSelector;
  topologyKey: string;
}

interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; podAffinityTerm: PodAffinityTerm }[];
}

export interface Affinity {
  nodeAffinity?: {
    requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: NodeSelectorTerm[] | null };
    preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; preference: NodeSelectorTerm }[];
  };
  podAffinity?: PodAffinity;
  podAntiAffinity?: PodAffinity;
}

export interface PodSpec {
  containers: Container[] | null;
  initContainers?: Container[];
  ephemeralContainers?: Container[];
  volumes?: Volume[];
  restartPolicy?: string;
  dnsPolicy?: string;
  dnsConfig?: { nameservers?: string[] };
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  nodeSelector?: Record<string, string>;
  nodeName?: string;
  serviceAccountName?: string;
  serviceAccount?: string;
  hostNetwork?: boolean;
  securityContext?: { runAsUser?: number; runAsGroup?: number; fsGroup?: number; supplementalGroups?: number[] };
  imagePullSecrets?: { name?: string }[];
  affinity?: Affinity;
  schedulerName?: string;
  schedulingGates?: { name: string }[];
  tolerations?: Toleration[];
  hostAliases?: { ip: string; hostnames?: string[] }[];
  hostname?: string;
  subdomain?: string;
  priorityClassName?: string;
  preemptionPolicy?: string;
  enableServiceLinks?: boolean;
  topologySpreadConstraints?: {
    maxSkew: number;
    topologyKey: string;
    whenUnsatisfiable: string;
    labelSelector?: LabelSelector;
  }[];
}

export interface PodTemplate {
  metadata: ObjectMeta;
  spec: PodSpec;
}
