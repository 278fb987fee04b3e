// An engine on a cluster, with works in memory, for tests.
import type { TestContext } from 'node:test';
import { createLogger } from '../../kit/log.ts';
import type { KubeClient } from '../../kube/client.ts';
import { findCondition } from '../../kube/conditions.ts';
import { createInformer } from '../../kube/informer.ts';
import { isConflict } from '../../kube/kube-error.ts';
import type { KubeObject, ObjectKey, UntypedObject } from '../../kube/object.ts';
import { type ResourceRef, resource } from '../../kube/resource.ts';
import { appliedManifestWorkDefinition } from '../crds/applied-manifest-works.ts';
import { manifestWorkDefinition } from '../crds/manifest-works.ts';
import { createEngine, type Engine, type EngineOptions } from '../engine.ts';
import { createMemorySource, type MemorySource } from '../memory-source.ts';
import { hubHash } from '../ownership.ts';
import {
  appliedManifestWorks,
  type Manifest,
  type ManifestWork,
  type ManifestWorkSpec,
  manifestWorks,
} from '../work.ts';

const definitions = resource<UntypedObject>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  'Cluster',
);
export const configMaps = resource<KubeObject & { data?: Record<string, string> }>('v1', 'ConfigMap', 'configmaps');
export const deployments = resource<UntypedObject>('apps/v1', 'Deployment', 'deployments');
export const namespace = 'default';
export const hash = hubHash('broker.example.com:1883');
const logger = createLogger({ service: 'test', level: 'silent' });

/** Installs both definitions and waits until they are served. */
export async function installDefinitions(client: KubeClient): Promise<void> {
  for (const made of [manifestWorkDefinition, appliedManifestWorkDefinition]) {
    await client.apply(definitions, made, { fieldManager: 'test', force: true });
  }
  for (;;) {
    try {
      await Promise.all([client.list(appliedManifestWorks), client.list(manifestWorks)]);
      return;
    } catch {
      await new Promise((next) => setTimeout(next, 50));
    }
  }
}

export interface Workbench {
  readonly client: KubeClient;
  readonly source: MemorySource;
  readonly engine: Engine;
  readonly statusWrites: ManifestWork[];
  readonly finalized: string[];
  readonly expired: string[];
  /** Settles with the work when it is as asked for, now or after a change that the engine makes. */
  work(name: string, holds: (work: ManifestWork) => boolean): Promise<ManifestWork>;
  /** Settles when this is so, looked at after every change that the engine makes. */
  told(holds: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

/** A running engine; `source` is that of an engine before, as after a restart. */
export function workbench(t: TestContext, client: KubeClient, options: Partial<EngineOptions> = {}): Workbench {
  const listeners = new Set<() => void>();
  const statusWrites: ManifestWork[] = [];
  const finalized: string[] = [];
  const expired: string[] = [];
  const tell = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const source = createMemorySource(
    {
      statusWritten(work) {
        statusWrites.push(work);
        tell();
      },
      finalized(work) {
        finalized.push(work.metadata.name ?? '');
        source.remove(work.metadata.name ?? '');
        tell();
      },
      expired(work) {
        expired.push(work.metadata.name ?? '');
        tell();
      },
    },
    options.now,
  );
  const engine = createEngine({ client, source, hubHash: hash, logger, ...options });
  engine.start();
  t.after(() => engine.stop());
  const told = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
    });
  return {
    ...{ client, source, engine, statusWrites, finalized, expired, told },
    async work(name, holds) {
      await told(() => {
        const found = source.get(name);
        return found !== undefined && holds(found);
      });
      const found = source.get(name);
      if (!found) throw new Error(`${name} is gone`);
      return found;
    },
    stop: () => engine.stop(),
  };
}

let uids = 0;

export function workOf(
  name: string,
  manifests: readonly Manifest[],
  spec: ManifestWorkSpec = {},
  metadata: ManifestWork['metadata'] = {},
): ManifestWork {
  return {
    metadata: { name, namespace: 'cluster1', uid: `uid-${name}-${++uids}`, generation: 1, ...metadata },
    spec: { workload: { manifests }, ...spec },
  };
}

/** The same work with another spec, one generation later. */
export function changed(work: ManifestWork, manifests: readonly Manifest[], spec: ManifestWorkSpec = {}): ManifestWork {
  const { generation = 0 } = work.metadata;
  return {
    ...work,
    metadata: { ...work.metadata, generation: generation + 1 },
    spec: { workload: { manifests }, ...spec },
  };
}

export function configMap(name: string, data: Record<string, string>, metadata: object = {}): Manifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata }, data };
}

export function isApplied({ metadata, status }: ManifestWork): boolean {
  const condition = findCondition(status?.conditions, 'Applied');
  return condition?.status === 'True' && condition.observedGeneration === metadata.generation;
}

export const isNotApplied = ({ metadata, status }: ManifestWork): boolean => {
  const condition = findCondition(status?.conditions, 'Applied');
  return condition?.status === 'False' && condition.observedGeneration === metadata.generation;
};

/** Settles when the object, undefined where it is not there, is as asked for. */
export async function object<T extends KubeObject>(
  client: KubeClient,
  ref: ResourceRef<T>,
  key: ObjectKey,
  holds: (object: T | undefined) => boolean,
): Promise<T | undefined> {
  const informer = createInformer({
    client,
    resource: ref,
    fieldSelector: `metadata.name=${key.name}`,
    ...(key.namespace ? { namespace: key.namespace } : {}),
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (): void => {
    if (holds(informer.get(key))) resolve();
  };
  informer.addHandler({ add: look, update: look, delete: look });
  informer.start();
  try {
    await informer.whenSynced();
    look();
    await promise;
    return informer.get(key);
  } finally {
    await informer.stop();
  }
}

/** Reads, changes and writes an object, again where somebody else was faster. */
export async function change<T extends KubeObject>(
  client: KubeClient,
  ref: ResourceRef<T>,
  key: ObjectKey,
  next: (object: T) => T,
  subresource?: string,
): Promise<T> {
  for (;;) {
    try {
      const current = await client.get(ref, key);
      return await client.replace(ref, next(current), subresource ? { subresource } : {});
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

/** The names of an object's owners. */
export function owners(found: KubeObject | undefined): readonly string[] {
  return (found?.metadata.ownerReferences ?? []).map(({ name }) => name);
}
