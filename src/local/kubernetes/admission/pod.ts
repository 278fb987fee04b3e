// What admission reads and sets in a pod. Everything else in it stays as it is.
import type { KubeObject } from '../object.ts';
import type { AdmissionRequest, AdmissionTarget } from '../registry/admission.ts';
import { forbidden, type StatusError } from '../status.ts';

export type ResourceList = Record<string, string>;

export interface Container {
  name: string;
  restartPolicy?: string;
  resources?: { limits?: ResourceList; requests?: ResourceList };
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
}

export interface Toleration {
  key?: string;
  operator?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  volumes?: { name: string; [source: string]: unknown }[];
  serviceAccountName?: string;
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: { name: string }[];
  tolerations?: Toleration[];
  priorityClassName?: string;
  priority?: number;
  preemptionPolicy?: string;
  overhead?: ResourceList;
}

export interface Pod extends KubeObject {
  spec: PodSpec;
}

export const podStorage = '/pods';
const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Whether a write creates a pod. */
export const createsPod = ({ operation, type, subresource }: AdmissionTarget): boolean =>
  operation === 'CREATE' && subresource === '' && type.storage === podStorage;

/** The pod of a request; one without a spec is left to validation. */
export function podOf({ object }: AdmissionRequest): Pod | undefined {
  const spec = object?.spec as { containers?: Container[] | null } | undefined;
  if (!object || !spec) return undefined;
  // The decoder writes no containers as null, which validation refuses after admission.
  spec.containers ??= [];
  return object as Pod;
}

/** A pod that a kubelet runs by itself and only shows in the API. */
export const isMirror = (pod: Pod): boolean => pod.metadata.annotations?.[mirrorAnnotation] !== undefined;

/** The refusal of a request by a plugin. */
export function refused({ type, name, object }: AdmissionRequest, why: string): StatusError {
  return forbidden({ group: type.group, resource: type.plural }, name.name || object?.metadata.name || '', why);
}

/** Several reasons in one, as the server joins them. */
export const joinedReasons = (reasons: readonly string[]): string =>
  reasons.length === 1 ? (reasons[0] ?? '') : `[${reasons.join(', ')}]`;
