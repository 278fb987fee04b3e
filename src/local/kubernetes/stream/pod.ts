// What the streams of a pod need to know of it.
import type { ActionRequest } from '../http/routes.ts';
import { readObject } from '../registry/served.ts';
import { badRequest } from '../status.ts';

export interface PodShape {
  readonly name: string;
  readonly uid: string;
  /** Empty while it has none. */
  readonly nodeName: string;
  readonly containers: readonly { readonly name: string }[];
  readonly initContainers: readonly { readonly name: string }[];
  readonly ephemeralContainers: readonly { readonly name: string }[];
}

/** The pod that a request is about. Throws 404 when there is none. */
export function findPod({ cluster, context, type, namespace, name }: ActionRequest): PodShape {
  const object = readObject(type, cluster.registry.get(context, type, { namespace, name }));
  const {
    containers = [],
    initContainers = [],
    ephemeralContainers = [],
    nodeName = '',
  } = object.spec as unknown as Partial<PodShape>;
  return { name, uid: object.metadata.uid ?? '', nodeName, containers, initContainers, ephemeralContainers };
}

/** The container a request means; the only one when it names none. Throws 400 when that is not clear. */
export function containerOf(pod: PodShape, asked: string): string {
  const all = [...pod.initContainers, ...pod.containers, ...pod.ephemeralContainers].map(({ name }) => name);
  if (asked !== '') {
    if (all.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${pod.name}`);
  }
  const [only, ...more] = all;
  if (only !== undefined && more.length === 0) return only;
  throw badRequest(`a container name must be specified for pod ${pod.name}, choose one of: [${all.join(' ')}]`);
}

/** Refuses (400) what only the node of a pod could do, while it has none. */
export function requireNode({ name, nodeName }: PodShape): void {
  if (nodeName === '') throw badRequest(`pod ${name} does not have a host assigned`);
}
