// How controllers read and change a cluster: through its registry, in this process, as themselves.
import type { HostedCluster } from '../clusters.ts';
import type { JsonObject, KubeObject, OwnerReference } from '../object.ts';
import type { Entry } from '../objects/objects.ts';
import { decode } from '../registry/decode.ts';
import type { DeleteOptions } from '../registry/registry.ts';
import { apiVersionOf } from '../registry/served.ts';
import { timestamp } from '../registry/timestamp.ts';
import type { RequestContext } from '../request-context.ts';
import { StatusError } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';
import type { Controller } from './controller.ts';
import type { Kind } from './kinds.ts';
import { parsed } from './parsed.ts';
import type { EventType, Recorder } from './recorder.ts';

/** What can be read without waiting. Objects are shared between all who read them: change a copy. */
export interface Reader {
  readonly cluster: HostedCluster;
  get<T extends KubeObject>(kind: Kind<T>, namespace: string, name: string): T | undefined;
  list<T extends KubeObject>(kind: Kind<T>, namespace?: string): T[];
  /** The same without parsing: labels, fields and owners are there. */
  entries(kind: Kind<KubeObject>, namespace?: string): Entry[];
  read<T extends KubeObject>(kind: Kind<T>, entry: Entry): T;
  /** Objects of a kind that name this uid among their owners. */
  dependents<T extends KubeObject>(kind: Kind<T>, uid: string): T[];
}

/** Reads and writes of one controller in one cluster. Every write refuses with StatusError. */
export interface Hands extends Reader {
  readonly context: RequestContext;
  now(): number;
  /** Now, as Kubernetes writes it. */
  timestamp(): string;
  create<T extends KubeObject>(kind: Kind<T>, namespace: string, object: NewObject): Promise<T>;
  /** Stores a changed copy; refuses when the object changed since it was read. `subresource` is `status` and the like. */
  update<T extends KubeObject>(kind: Kind<T>, object: T, subresource?: string): Promise<T>;
  /** Stores a copy with another status, if it is another. */
  setStatus<T extends KubeObject & { status?: unknown }>(
    kind: Kind<T>,
    object: T,
    status: NonNullable<T['status']>,
  ): Promise<T>;
  /** Deletes this very object; false when it was gone already. */
  remove(kind: Kind<KubeObject>, object: KubeObject, options?: DeleteOptions): Promise<boolean>;
  /** Records that something happened to an object. Never refuses: an event that cannot be kept is dropped. */
  event(about: KubeObject, type: EventType, reason: string, message: string): Promise<void>;
}

/** An object to be created; kind and apiVersion are those of its kind. */
export type NewObject = { readonly metadata: KubeObject['metadata']; readonly [member: string]: unknown };

const neverAborted = new AbortController().signal;
const ignore = (): void => {};

export function readerOf(cluster: HostedCluster): Reader {
  const { objects } = cluster;
  return {
    cluster,
    get<T extends KubeObject>({ type }: Kind<T>, namespace: string, name: string) {
      const entry = objects.get(type.storage, namespace, name);
      return entry && parsed<T>(entry);
    },
    list: <T extends KubeObject>({ type }: Kind<T>, namespace?: string) =>
      objects.list(type.storage, namespace ? { namespace } : {}).map((entry) => parsed<T>(entry)),
    entries: ({ type }, namespace) => objects.list(type.storage, namespace ? { namespace } : {}),
    read: <T extends KubeObject>(_kind: Kind<T>, entry: Entry) => parsed<T>(entry),
    dependents<T extends KubeObject>({ type }: Kind<T>, uid: string) {
      const found: T[] = [];
      for (const entry of objects.byOwner(uid)) if (entry.type === type.storage) found.push(parsed<T>(entry));
      return found;
    },
  };
}

/** Who a controller is to the cluster. */
export function contextOf(
  cluster: HostedCluster,
  controller: Pick<Controller, 'name' | 'manager' | 'user'>,
): RequestContext {
  const { name, manager = 'kube-controller-manager', user } = controller;
  return {
    cluster,
    user: user
      ? { name: user, groups: ['system:authenticated'] }
      : {
          name: `system:serviceaccount:kube-system:${name}`,
          groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
        },
    dryRun: false,
    fieldManager: manager,
    fieldValidation: 'Ignore',
    warn: ignore,
    signal: neverAborted,
  };
}

export function handsOf(cluster: HostedCluster, controller: Controller, recorder: Recorder): Hands {
  const { registry } = cluster;
  const context = contextOf(cluster, controller);
  const reader = readerOf(cluster);

  const update = async <T extends KubeObject>({ type }: Kind<T>, object: T, subresource = ''): Promise<T> => {
    const { entry } = await registry.update(context, type, nameOf(object), object, subresource);
    return parsed<T>(entry);
  };

  return {
    ...reader,
    context,
    now: () => cluster.now(),
    timestamp: () => timestamp(cluster.now()),
    async create<T extends KubeObject>({ type }: Kind<T>, namespace: string, object: NewObject) {
      const { entry } = await registry.create(context, type, namespace, decoded(type, object));
      return parsed<T>(entry);
    },
    update,
    async setStatus<T extends KubeObject & { status?: unknown }>(
      kind: Kind<T>,
      object: T,
      status: NonNullable<T['status']>,
    ) {
      if (JSON.stringify(object.status) === JSON.stringify(status)) return object;
      return update<T>(kind, copyOf({ ...object, status }), 'status');
    },
    async remove({ type }, object, options = {}) {
      const { uid } = object.metadata;
      try {
        await registry.delete(context, type, nameOf(object), {
          ...options,
          ...(uid ? { preconditions: { uid } } : {}),
        });
        return true;
      } catch (error) {
        if (isNotFound(error) || isConflict(error)) return false;
        throw error;
      }
    },
    event: (about, type, reason, message) =>
      recorder.record({ context, component: controller.source ?? controller.name, about, type, reason, message }),
  };
}

/** An object as the decoder makes it of a client's body. */
export function decoded(type: ResourceType, object: NewObject): KubeObject {
  const body = { ...copyOf(object), apiVersion: apiVersionOf(type), kind: type.kind };
  return decode(type, body as unknown as JsonObject).object;
}

/** A copy of plain JSON that may be changed: several times as fast as structuredClone, and most writes make one. */
export function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) if (member !== undefined) copy[name] = copyOf(member);
  return copy as T;
}

export const nameOf = ({ metadata }: KubeObject): { readonly namespace: string; readonly name: string } => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
});

const hasReason =
  (reason: string) =>
  (error: unknown): boolean =>
    error instanceof StatusError && error.status.reason === reason;

export const isNotFound = hasReason('NotFound');
export const isConflict = hasReason('Conflict');
export const isAlreadyExists = hasReason('AlreadyExists');

/** Whether a write was refused because the namespace is going away. */
export const isNamespaceEnding = (error: unknown): boolean =>
  error instanceof StatusError &&
  (error.status.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');

/** The reference to an object as the controller of others. */
export const controllerReference = ({ apiVersion, kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true);
