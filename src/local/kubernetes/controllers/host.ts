// Drives all controllers over all clusters: one queue, one timer, a handful of reconciles at a time. A cluster that nobody
// changes costs nothing here but the one listener of its changes.
import type { Logger } from '../../../kit/log.ts';
import { LanedFifo } from '../../../kube/laned-fifo.ts';
import type { HostedCluster } from '../clusters.ts';
import type { Change, StorageType } from '../objects/objects.ts';
import { StatusError } from '../status.ts';
import type { Controller, Key, Trigger } from './controller.ts';
import { handsOf, isConflict, isNamespaceEnding, type Reader, readerOf } from './hands.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { createTimers } from './timers.ts';

export interface ControllerHostOptions {
  readonly controllers: readonly Controller[];
  readonly logger: Logger;
  readonly now: () => number;
  /** Reconciles under way at once, over all clusters. */
  readonly concurrency?: number;
}

export interface ControllerHost {
  /** Takes up a cluster: everything in it is looked at once, then what changes. */
  attach(cluster: HostedCluster): void;
  detach(cluster: HostedCluster): void;
  /** Looks at what is due by the clock; for clocks that jump. */
  tick(): void;
  /** Settles when nothing is left to do now. */
  settled(): Promise<void>;
  readonly recorder: Recorder;
  /** How much is to be looked at later. */
  readonly planned: number;
  /** Settles when the last reconcile has ended; what was queued is left to the next start. */
  stop(): Promise<void>;
}

interface Attached {
  readonly name: string;
  /** Undefined once the cluster is gone: what waits for it then holds nothing of it. */
  live: { readonly cluster: HostedCluster; readonly reader: Reader; readonly unsubscribe: () => void } | undefined;
}

interface Item {
  readonly id: string;
  readonly attached: Attached;
  readonly work: { readonly controller: Controller; readonly key: Key } | 'scan';
}

const defaultConcurrency = 64;
const firstRetryMs = 10;
const longestRetryMs = 60_000;

type Listener = readonly [controller: Controller, trigger: Trigger];

export function createControllerHost(options: ControllerHostOptions): ControllerHost {
  const { controllers, logger, now, concurrency = defaultConcurrency } = options;
  const recorder = createRecorder();
  const listeners = new Map<StorageType, Listener[]>();
  const toEverything: Listener[] = [];
  for (const controller of controllers) {
    for (const [type, trigger] of Object.entries(controller.triggers)) {
      const known = listeners.get(type);
      if (known) known.push([controller, trigger]);
      else listeners.set(type, [[controller, trigger]]);
    }
    if (controller.everything) toEverything.push([controller, controller.everything]);
  }

  const clusters = new Map<HostedCluster, Attached>();
  const ready = new LanedFifo<Item>();
  /** Items that wait in `ready`, or are being worked on and due again. */
  const dirty = new Set<string>();
  const working = new Set<string>();
  const failures = new Map<string, number>();
  const waiting: (() => void)[] = [];
  const timers = createTimers<Item>(now, (item) => add(item));
  let stopped = false;
  let scheduled = false;

  function add(item: Item): void {
    if (stopped || !item.attached.live || dirty.has(item.id)) return;
    dirty.add(item.id);
    if (working.has(item.id)) return;
    enqueue(item);
  }

  function enqueue(item: Item): void {
    ready.push(item.attached.name, item);
    if (scheduled) return;
    scheduled = true;
    setImmediate(run);
  }

  function run(): void {
    scheduled = false;
    while (working.size < concurrency && !stopped) {
      const item = ready.shift();
      if (!item) break;
      dirty.delete(item.id);
      if (!item.attached.live) continue;
      working.add(item.id);
      void work(item).finally(() => {
        working.delete(item.id);
        if (dirty.has(item.id)) {
          if (!item.attached.live || stopped) dirty.delete(item.id);
          else enqueue(item);
        } else if (ready.size > 0 && !scheduled) {
          scheduled = true;
          setImmediate(run);
        }
        tellWhenSettled();
      });
    }
    tellWhenSettled();
  }

  function tellWhenSettled(): void {
    if (working.size > 0 || (ready.size > 0 && !stopped)) return;
    for (const tell of waiting.splice(0)) tell();
  }

  async function work(item: Item): Promise<void> {
    const { attached } = item;
    if (!attached.live) return;
    try {
      if (item.work === 'scan') {
        await scan(attached);
      } else {
        const { controller, key } = item.work;
        const later = await controller.reconcile(handsOf(attached.live.cluster, controller, recorder), key);
        failures.delete(item.id);
        if (later && attached.live && !stopped) timers.add(item.id, item, now() + Math.max(later.afterMs, 1));
      }
    } catch (error) {
      failed(item, error);
    }
  }

  function failed(item: Item, error: unknown): void {
    if (!item.attached.live || stopped) return;
    const count = failures.get(item.id) ?? 0;
    failures.set(item.id, count + 1);
    const name = item.work === 'scan' ? 'scan' : item.work.controller.name;
    if (!isConflict(error) && !isNamespaceEnding(error)) {
      const level = error instanceof StatusError ? 'debug' : 'warn';
      logger[level]({ err: error, cluster: item.attached.name, controller: name }, 'a reconcile failed');
    }
    timers.add(item.id, item, now() + Math.min(firstRetryMs * 2 ** count, longestRetryMs));
  }

  function tell(attached: Attached, [controller, trigger]: Listener, change: Change): void {
    if (!attached.live) return;
    for (const { namespace, name } of trigger(change, attached.live.reader)) {
      const id = `${attached.name}\0${controller.name}\0${namespace}\0${name}`;
      if (!dirty.has(id)) add({ id, attached, work: { controller, key: { namespace, name } } });
    }
  }

  function changed(attached: Attached, change: Change): void {
    if (stopped) return;
    for (const listener of listeners.get(change.entry.type) ?? []) tell(attached, listener, change);
    for (const listener of toEverything) tell(attached, listener, change);
  }

  /** Shows everything there is to the controllers, a type at a time. */
  async function scan(attached: Attached): Promise<void> {
    if (!attached.live) return;
    const { cluster } = attached.live;
    const types = new Set<StorageType>(listeners.keys());
    if (toEverything.length > 0) for (const type of cluster.types.all()) types.add(type.storage);
    for (const type of types) {
      if (cluster.objects.count(type) === 0) continue;
      for (const entry of cluster.objects.list(type)) changed(attached, { kind: 'ADDED', entry, before: undefined });
      await new Promise((resolve) => setImmediate(resolve));
      if (!attached.live || stopped) return;
    }
  }

  function attach(cluster: HostedCluster): void {
    if (stopped || clusters.has(cluster)) return;
    const attached: Attached = { name: cluster.name, live: undefined };
    attached.live = {
      cluster,
      reader: readerOf(cluster),
      unsubscribe: cluster.objects.watchAll((change) => changed(attached, change)),
    };
    clusters.set(cluster, attached);
    add({ id: `${cluster.name}\0scan`, attached, work: 'scan' });
  }

  return {
    attach,
    detach(cluster) {
      const attached = clusters.get(cluster);
      if (!attached) return;
      attached.live?.unsubscribe();
      attached.live = undefined;
      clusters.delete(cluster);
      const prefix = `${cluster.name}\0`;
      for (const id of failures.keys()) if (id.startsWith(prefix)) failures.delete(id);
    },
    tick: () => timers.tick(),
    settled() {
      timers.tick();
      if (working.size === 0 && ready.size === 0) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    recorder,
    get planned() {
      return timers.size;
    },
    async stop() {
      stopped = true;
      timers.stop();
      for (const { live } of clusters.values()) live?.unsubscribe();
      if (working.size > 0) await new Promise<void>((resolve) => waiting.push(resolve));
      ready.clear();
      dirty.clear();
    },
  };
}
