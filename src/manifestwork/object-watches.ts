// Follows the objects that works have applied: one watch for each resource and namespace, shared, and ended when nobody needs it.
import type { Logger } from '../kit/log.ts';
import type { KubeClient } from '../kube/client.ts';
import { createInformer, type Informer, withoutManagedFields } from '../kube/informer.ts';
import { keyOf, type ObjectKey, type ObjectMeta, type UntypedObject } from '../kube/object.ts';
import type { ReflectorTiming } from '../kube/reflector.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { resourceKey } from './manifest.ts';

export interface ObjectWatch {
  /**
   * What is known: the object, that it is not there, or `unknown` while the watch has not seen everything or cannot be had.
   * `hollow` is an object that nobody had asked for when it came, so that only its name was kept: read it once, the watch tells
   * of its next change.
   */
  get(key: ObjectKey): UntypedObject | 'absent' | 'hollow' | 'unknown';
  /** Lets go of it; once. */
  release(): void;
}

export interface ObjectWatches {
  /** Follows the objects of a resource in a namespace, for as long as the watch is held. */
  hold(ref: ResourceRef, namespace: string): ObjectWatch;
  /** Watches that are open. */
  readonly size: number;
  stop(): Promise<void>;
}

export interface ObjectWatchesOptions {
  readonly client: KubeClient;
  readonly logger?: Logger;
  /** Told of every change of an object, under its {@link resourceKey}. */
  readonly changed: (key: string, version: string | undefined) => void;
  /** Whether anybody wants the object under this key: of others only the name is kept. */
  readonly wanted: (key: string) => boolean;
  readonly limits?: Partial<WatchLimits>;
  readonly timing?: Partial<ReflectorTiming>;
}

export interface WatchLimits {
  /** No more watches than this; what is beyond is read when it is needed. */
  readonly watches: number;
  /** A resource that is used in more namespaces than this is watched in all of them at once. */
  readonly namespaces: number;
  /** A watch that nobody needs is kept for this long: works come and go in bursts. */
  readonly lingerMs: number;
}

const defaultLimits: WatchLimits = { watches: 400, namespaces: 8, lingerMs: 30_000 };

interface Shared {
  readonly informer: Informer<UntypedObject>;
  readonly hollow: WeakSet<UntypedObject>;
  holders: number;
  linger: NodeJS.Timeout | undefined;
}

export function createObjectWatches(options: ObjectWatchesOptions): ObjectWatches {
  const { client, logger, changed, wanted, timing } = options;
  const limits = { ...defaultLimits, ...options.limits };
  /** By resource, then by namespace; all namespaces are ''. */
  const open = new Map<string, Map<string, Shared>>();
  const ending = new Set<Promise<void>>();
  let size = 0;
  let stopped = false;

  function begin(ref: ResourceRef, namespace: string): Shared {
    const hollow = new WeakSet<UntypedObject>();
    const named = (object: UntypedObject): string =>
      resourceKey({ group: ref.group, resource: ref.plural, ...keyOf(object) });
    const informer = createInformer<UntypedObject>({
      client,
      resource: ref,
      ...(namespace === '' ? {} : { namespace }),
      ...(logger ? { logger } : {}),
      ...(timing ? { timing } : {}),
      transform(object) {
        if (wanted(named(object))) return withoutManagedFields(object);
        const left: UntypedObject = { metadata: identityOf(object) };
        hollow.add(left);
        return left;
      },
    });
    const tell = (object: UntypedObject, version: string | undefined): void => changed(named(object), version);
    informer.addHandler({
      add: (object) => tell(object, object.metadata.resourceVersion),
      update: (_, object) => tell(object, object.metadata.resourceVersion),
      delete: (object) => tell(object, undefined),
    });
    informer.start();
    size++;
    return { informer, hollow, holders: 0, linger: undefined };
  }

  function shared(ref: ResourceRef, namespace: string): Shared | undefined {
    if (stopped) return undefined;
    const resource = `${ref.group}/${ref.version}/${ref.plural}`;
    let watches = open.get(resource);
    if (!watches) {
      watches = new Map();
      open.set(resource, watches);
    }
    const everywhere = !ref.namespaced || watches.has('') || watches.size >= limits.namespaces;
    const scope = everywhere ? '' : namespace;
    const found = watches.get(namespace) ?? watches.get(scope);
    if (found) return found;
    if (size >= limits.watches) return undefined;
    const made = begin(ref, scope);
    watches.set(scope, made);
    return made;
  }

  function release(ref: ResourceRef, watch: Shared): void {
    watch.holders--;
    if (watch.holders > 0 || stopped) return;
    watch.linger = setTimeout(() => end(ref, watch), limits.lingerMs);
    watch.linger.unref();
  }

  function end(ref: ResourceRef, watch: Shared): void {
    if (watch.holders > 0 || stopped) return;
    const resource = `${ref.group}/${ref.version}/${ref.plural}`;
    const watches = open.get(resource);
    for (const [scope, each] of watches ?? []) if (each === watch) watches?.delete(scope);
    if (watches?.size === 0) open.delete(resource);
    size--;
    const stopping = watch.informer.stop();
    ending.add(stopping);
    void stopping.finally(() => ending.delete(stopping));
  }

  return {
    hold(ref, namespace) {
      const watch = shared(ref, namespace);
      if (!watch) return { get: () => 'unknown', release: () => undefined };
      watch.holders++;
      clearTimeout(watch.linger);
      let held = true;
      return {
        get(key) {
          const { informer, hollow } = watch;
          if (!informer.synced || informer.problem !== undefined) return 'unknown';
          const found = informer.get(key);
          if (!found) return 'absent';
          return hollow.has(found) ? 'hollow' : found;
        },
        release() {
          if (!held) return;
          held = false;
          release(ref, watch);
        },
      };
    },
    get size() {
      return size;
    },
    async stop() {
      stopped = true;
      const all = [...open.values()].flatMap((watches) => [...watches.values()]);
      for (const { linger } of all) clearTimeout(linger);
      open.clear();
      await Promise.all([...ending, ...all.map(({ informer }) => informer.stop())]);
    },
  };
}

function identityOf({ metadata }: UntypedObject): ObjectMeta {
  const kept = (['name', 'namespace', 'uid', 'resourceVersion'] as const).flatMap((member) =>
    metadata[member] === undefined ? [] : [[member, metadata[member]]],
  );
  return Object.fromEntries(kept);
}
