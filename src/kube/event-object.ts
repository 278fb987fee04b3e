import type { KubeObject } from './object.ts';
import { apiVersionOf, type ResourceRef, resource } from './resource.ts';

export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion?: string;
}

export interface EventObject extends KubeObject {
  eventTime: string;
  reportingController: string;
  reportingInstance: string;
  action: string;
  reason: string;
  regarding: ObjectReference;
  related?: ObjectReference;
  note: string;
  type: string;
  series?: { count: number; lastObservedTime: string };
}

export const events = resource<EventObject>('events.k8s.io/v1', 'Event', 'events');

/** The reference by which an event names the object that it is about. */
export function regardingOf(ref: ResourceRef<KubeObject>, object: KubeObject): ObjectReference {
  const { name = '', namespace, uid = '' } = object.metadata;
  return { apiVersion: apiVersionOf(ref), kind: ref.kind, name, ...(namespace ? { namespace } : {}), uid };
}
