// The informers of one client: one for each resource and selection, shared by all who ask for it.
import type { Logger } from '../kit/log.ts';
import type { Metrics } from '../kit/metrics.ts';
import type { KubeClient, Selection } from './client.ts';
import { createInformer, type Informer } from './informer.ts';
import { informerMetrics } from './informer-metrics.ts';
import type { KubeObject } from './object.ts';
import type { ReflectorTiming } from './reflector.ts';
import { apiVersionOf, type ResourceRef, resourceText } from './resource.ts';

export interface SharedInformerOptions<T extends KubeObject> extends Selection {
  /** Informers with different transforms are different informers, so it should be a function with a name. */
  readonly transform?: (object: T) => T;
  readonly resyncSeconds?: number;
}

export interface Informers {
  /** The informer of a resource and selection; the same one for the same question. It runs once the set has been started. */
  informer<T extends KubeObject>(resource: ResourceRef<T>, options?: SharedInformerOptions<T>): Informer<T>;
  start(): void;
  /** Settles when every informer asked for so far has synced. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  all(): readonly Informer<KubeObject>[];
  stop(): Promise<void>;
}

export interface InformersOptions {
  readonly client: KubeClient;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  readonly timing?: Partial<ReflectorTiming>;
}

export function createInformers(options: InformersOptions): Informers {
  const { client, logger, metrics, timing } = options;
  const known = new Map<string, { readonly transform: unknown; readonly informer: Informer<KubeObject> }[]>();
  let started = false;

  const all = (): readonly Informer<KubeObject>[] => [...known.values()].flat().map(({ informer }) => informer);

  return {
    informer<T extends KubeObject>(resource: ResourceRef<T>, more: SharedInformerOptions<T> = {}): Informer<T> {
      const { namespace = '', labelSelector = '', fieldSelector = '', transform, resyncSeconds = 0 } = more;
      const key = JSON.stringify([
        apiVersionOf(resource),
        resource.plural,
        namespace,
        labelSelector,
        fieldSelector,
        resyncSeconds,
      ]);
      const same = known.get(key) ?? [];
      const found = same.find((each) => each.transform === transform);
      if (found) return found.informer as unknown as Informer<T>;
      const informer = createInformer<T>({
        client,
        resource,
        ...more,
        ...(logger ? { logger } : {}),
        ...(metrics ? { metrics: informerMetrics(metrics, resourceText(resource)) } : {}),
        ...(timing ? { timing } : {}),
      });
      known.set(key, [...same, { transform, informer: informer as unknown as Informer<KubeObject> }]);
      if (started) informer.start();
      return informer;
    },
    start() {
      started = true;
      for (const informer of all()) informer.start();
    },
    async whenSynced(signal) {
      await Promise.all(all().map((informer) => informer.whenSynced(signal)));
    },
    all,
    async stop() {
      await Promise.all(all().map((informer) => informer.stop()));
    },
  };
}
