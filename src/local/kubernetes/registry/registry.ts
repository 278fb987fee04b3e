// The verbs, on any resource type. http/ calls them for clients, controllers/ call them in-process: one way to change an object.
import type { KubeObject } from '../object.ts';
import type { Change, Entry } from '../objects/objects.ts';
import type { RequestContext } from '../request-context.ts';
import type { ResourceType } from '../types/resource-type.ts';

export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export interface PatchRequest {
  readonly type: PatchType;
  /** The parsed body. */
  readonly body: unknown;
  readonly force?: boolean;
  /** Members that the body's text names twice, for field validation. */
  readonly duplicates?: readonly string[];
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export interface Selectors {
  /** As the client wrote them; parsed and refused by the registry. */
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListQuery extends Selectors {
  readonly namespace?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
}

export interface ObjectList {
  readonly entries: readonly Entry[];
  readonly revision: number;
  readonly continue?: string;
  readonly remaining?: number;
}

export interface WatchQuery extends Selectors {
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  readonly allowBookmarks: boolean;
  readonly sendInitialEvents: boolean;
  /** Whether sendInitialEvents was given at all. */
  readonly initialEventsAsked?: boolean;
  /** Given by mistake: a watch has no pages. */
  readonly continue?: string;
}

export interface WatchSink {
  /** A change as this watcher must see it, after selectors. `initial` ones tell what there was when the watch began. */
  event(change: Change, initial: boolean): void;
  /** It has seen everything up to this revision. */
  bookmark(revision: number, initialEventsEnd: boolean): void;
}

/** A written object, and whether it is new. An entry with revision 0 is a dry run's. */
export interface Written {
  readonly entry: Entry;
  readonly created: boolean;
}

/** Every method refuses with StatusError and nothing else. */
export interface Registry {
  /** The latest state. A `resourceVersion` that has not come yet is refused with 504. */
  get(context: RequestContext, type: ResourceType, name: ObjectName, resourceVersion?: string): Entry;
  list(context: RequestContext, type: ResourceType, query: ListQuery): ObjectList;
  watch(context: RequestContext, type: ResourceType, query: WatchQuery, sink: WatchSink): () => void;
  create(context: RequestContext, type: ResourceType, namespace: string, object: KubeObject): Promise<Written>;
  update(
    context: RequestContext,
    type: ResourceType,
    name: ObjectName,
    object: KubeObject,
    subresource?: string,
  ): Promise<Written>;
  patch(
    context: RequestContext,
    type: ResourceType,
    name: ObjectName,
    patch: PatchRequest,
    subresource?: string,
  ): Promise<Written>;
  /** The last state; `gone` when it was removed, false when finalizers or grace keep it. */
  delete(
    context: RequestContext,
    type: ResourceType,
    name: ObjectName,
    options: DeleteOptions,
  ): Promise<{ readonly entry: Entry; readonly gone: boolean }>;
  deleteCollection(
    context: RequestContext,
    type: ResourceType,
    query: ListQuery,
    options: DeleteOptions,
  ): Promise<ObjectList>;
}
