// One resource as this process knows it: a memory kept current, and handlers told of every change.
import type { Logger } from '../kit/log.ts';
import type { KubeClient, Selection } from './client.ts';
import type { InformerMetrics } from './informer-metrics.ts';
import { type KubeObject, keyOf } from './object.ts';
import { createObjectStore, type IndexValues, type Lister } from './object-store.ts';
import { type ReflectorTiming, reflect } from './reflector.ts';
import { type ResourceRef, resourceText } from './resource.ts';

/**
 * Told of changes, one at a time and in order, after the memory has them. A handler does little (it adds to a queue): while it
 * runs, nothing else does. One that throws is logged and the others are still told.
 *
 * Several changes of an object may be told as one; that it was deleted is always told, and an object deleted and created again
 * under its name is told as both.
 */
export interface Handler<T extends KubeObject> {
  /** `initial` for what was there when the handler, or the informer, began. */
  add?(object: T, initial: boolean): void;
  /** Also called with twice the same object, at each resync. */
  update?(old: T, object: T): void;
  /** `finalStateUnknown` when the deletion was not seen itself: the object is then as it was last known. */
  delete?(object: T, finalStateUnknown: boolean): void;
}

/** Reads come from memory: they cost nothing and may be a moment old. */
export interface Informer<T extends KubeObject> extends Lister<T> {
  readonly resource: ResourceRef<T>;
  /** Whether the memory has been complete once. Before that, what is not found may still be there. */
  readonly synced: boolean;
  /** Settles when it is; rejects with the signal's reason, or when the informer is stopped before. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  /** Why the server cannot be followed at the moment, if so. Reads go on from what was known. */
  readonly problem: unknown;
  addIndex(name: string, values: IndexValues<T>): void;
  /** The handler is told of every object there is as an `add`, then of changes, until the function returned is called. */
  addHandler(handler: Handler<T>): () => void;
  /** Begins to follow the server. Does nothing the second time. */
  start(): void;
  /** Settles when no handler is called any more. */
  stop(): Promise<void>;
}

export interface InformerOptions<T extends KubeObject> extends Selection {
  readonly client: KubeClient;
  readonly resource: ResourceRef<T>;
  /**
   * Makes what is kept of what came, to spare memory: it may change the object it gets. Name, namespace, uid and
   * resourceVersion must stay.
   */
  readonly transform?: (object: T) => T;
  /** Every so often each object is told as an update; never unless given. For handlers that also look at other things. */
  readonly resyncSeconds?: number;
  readonly logger?: Logger;
  readonly metrics?: InformerMetrics;
  readonly timing?: Partial<ReflectorTiming>;
}

/** A transform: managedFields are often half of an object, and only the server needs them. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  delete object.metadata.managedFields;
  return object;
}

export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  const { resource, transform = (object: T) => object, logger, metrics } = options;
  const store = createObjectStore<T>();
  const handlers = new Set<Handler<T>>();
  const what = resourceText(resource);
  const ending = new AbortController();
  const firstSync = Promise.withResolvers<void>();
  firstSync.promise.catch(() => undefined);
  let synced = false;
  let problem: unknown;
  let following: Promise<void> | undefined;
  let resync: NodeJS.Timeout | undefined;

  function tell(call: (handler: Handler<T>) => void, whom: Iterable<Handler<T>> = handlers): void {
    for (const handler of whom) {
      try {
        call(handler);
      } catch (err) {
        logger?.error({ err, resource: what }, `a handler of ${what} failed; what it was told is lost to it`);
      }
    }
  }

  function put(came: T): void {
    const known = store.get(keyOf(came));
    const isSame = known?.metadata.uid === came.metadata.uid;
    // Listed again, unchanged: whoever holds the object that is known goes on holding the one in memory.
    if (known && isSame && known.metadata.resourceVersion === came.metadata.resourceVersion) return;
    const object = transform(came);
    store.put(object);
    if (known && isSame) {
      metrics?.changed('update');
      tell((handler) => handler.update?.(known, object));
      return;
    }
    if (known) {
      metrics?.changed('delete');
      tell((handler) => handler.delete?.(known, true));
    }
    metrics?.changed('add');
    tell((handler) => handler.add?.(object, !synced));
  }

  function remove(object: T, finalStateUnknown: boolean): void {
    if (store.remove(keyOf(object)) === undefined) return;
    metrics?.changed('delete');
    tell((handler) => handler.delete?.(object, finalStateUnknown));
  }

  const sink = {
    replace(objects: Iterable<T>): void {
      const gone = new Set(store.all());
      for (const object of objects) {
        const known = store.get(keyOf(object));
        if (known !== undefined) gone.delete(known);
        put(object);
      }
      for (const object of gone) remove(object, true);
      metrics?.listed(store.size);
      synced = true;
      problem = undefined;
      firstSync.resolve();
    },
    put(object: T): void {
      put(object);
      metrics?.size(store.size);
    },
    remove(object: T): void {
      remove(transform(object), false);
      metrics?.size(store.size);
    },
    failed(error: unknown): void {
      problem = error;
      metrics?.failed();
    },
    recovered(): void {
      problem = undefined;
    },
  };

  return {
    resource,
    get: store.get,
    list: store.list,
    byIndex: store.byIndex,
    addIndex: store.addIndex,
    get size() {
      return store.size;
    },
    get synced() {
      return synced;
    },
    get problem() {
      return problem;
    },
    whenSynced: (signal) => orAborted(firstSync.promise, signal),
    addHandler(handler) {
      // A handler of its own, so that the same one can be added twice and taken out once.
      const own: Handler<T> = {
        add: (object, initial) => handler.add?.(object, initial),
        update: (old, object) => handler.update?.(old, object),
        delete: (object, unknown) => handler.delete?.(object, unknown),
      };
      for (const object of store.all()) tell((only) => only.add?.(object, true), [own]);
      handlers.add(own);
      return () => {
        handlers.delete(own);
      };
    },
    start() {
      if (following || ending.signal.aborted) return;
      following = reflect({ ...options, sink }, ending.signal);
      if (!options.resyncSeconds) return;
      resync = setInterval(() => {
        for (const object of store.list()) tell((handler) => handler.update?.(object, object));
      }, options.resyncSeconds * 1000);
    },
    async stop() {
      clearInterval(resync);
      ending.abort(new Error(`the informer of ${what} has been stopped`));
      firstSync.reject(ending.signal.reason);
      await following;
    },
  };
}

/** The promise, or the signal's reason if that comes first. Leaves no listener behind. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
