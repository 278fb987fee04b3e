// What a work wants, manifest by manifest, before anything is done.
import { KubeConnectionError } from '../kube/kube-error.ts';
import type { UntypedObject } from '../kube/object.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { type RestMapper, UnknownKindError } from '../kube/rest-mapper.ts';
import { inApplyOrder } from './apply-order.ts';
import { ManifestError, readManifest, resolvedMeta, resourceKey, unresolvedMeta } from './manifest.ts';
import { configFor, type EffectiveConfig, strategyOf } from './manifest-config.ts';
import { isOwnedByWork } from './ownership.ts';
import type { ManifestResult } from './status.ts';
import type { AppliedResource, Manifest, ManifestWork, ResourceMeta, UpdateStrategy } from './work.ts';

/** A manifest with the resource it belongs to. */
export interface PlannedManifest {
  readonly meta: ResourceMeta;
  readonly key: string;
  readonly ref: ResourceRef;
  readonly desired: UntypedObject;
  readonly config: EffectiveConfig;
  readonly strategy: UpdateStrategy & { readonly type: string };
  readonly owned: boolean;
}

/** A manifest that cannot be applied now. */
export interface RefusedManifest {
  readonly meta: ResourceMeta;
  readonly message: string;
  /** Whether it may be possible later: its kind may come, the server may answer again. */
  readonly again: boolean;
}

export interface WorkPlan {
  /** In the order to apply them. */
  readonly manifests: readonly PlannedManifest[];
  /** Of all of them. */
  readonly keys: ReadonlySet<string>;
  readonly refused: readonly RefusedManifest[];
}

/**
 * Reads every manifest and finds its resource. One that is wrong does not hinder the others. Rejects when the server does not
 * answer, unless that shall be reported like all else.
 */
export async function planWork(work: ManifestWork, mapper: RestMapper, reportSilence: boolean): Promise<WorkPlan> {
  const manifests: PlannedManifest[] = [];
  const refused: RefusedManifest[] = [];
  const taken = new Set<string>();
  for (const [ordinal, manifest] of (work.spec?.workload?.manifests ?? []).entries()) {
    try {
      const planned = await planManifest(work, ordinal, manifest, mapper);
      if (taken.has(planned.key)) throw new ManifestError('another manifest of this work is for the same object');
      taken.add(planned.key);
      manifests.push(planned);
    } catch (error) {
      if (error instanceof KubeConnectionError && !reportSilence) throw error;
      const message = error instanceof Error ? error.message : String(error);
      refused.push({ meta: unresolvedMeta(ordinal, manifest), message, again: !(error instanceof ManifestError) });
    }
  }
  return { manifests: inApplyOrder(manifests), keys: taken, refused };
}

async function planManifest(
  work: ManifestWork,
  ordinal: number,
  manifest: Manifest,
  mapper: RestMapper,
): Promise<PlannedManifest> {
  const object = readManifest(manifest);
  let ref: ResourceRef;
  try {
    ref = await mapper.forKind(object.apiVersion, object.kind);
  } catch (error) {
    if (error instanceof UnknownKindError) {
      throw new Error(`the server doesn't have a resource type "${object.kind}"`, { cause: error });
    }
    throw error;
  }
  const meta = resolvedMeta(ordinal, ref, object);
  if (ref.namespaced && meta.namespace === '') {
    throw new ManifestError(`an object of kind ${ref.kind} needs a metadata.namespace`);
  }
  const { namespace: _, ...metadata } = object.metadata;
  const desired = { ...object, metadata: ref.namespaced ? { ...metadata, namespace: meta.namespace } : metadata };
  const config = configFor(meta, work.spec?.manifestConfigs);
  return {
    meta,
    key: resourceKey(meta),
    ref,
    desired,
    config,
    strategy: strategyOf(config),
    owned: isOwnedByWork(meta, work.spec?.deleteOption),
  };
}

/** What of the plan is written to the cluster, and so has to be removed some day. */
export function resourcesOf(plan: WorkPlan): readonly AppliedResource[] {
  return plan.manifests
    .filter(({ strategy }) => strategy.type !== 'ReadOnly')
    .map(({ meta: { group, version, resource, namespace, name } }) => ({
      group,
      version,
      resource,
      namespace,
      name,
      uid: '',
    }));
}

/**
 * Whether a resource that the work has applied is not wanted any more. A manifest whose resource is not known at the moment
 * may be any of its group with that name: such stay.
 */
export function isUnwanted(applied: AppliedResource, plan: WorkPlan): boolean {
  return (
    !plan.keys.has(resourceKey(applied)) &&
    !plan.refused.some(({ meta }) => meta.group === applied.group && meta.name === applied.name)
  );
}

/** What to report of a work that cannot be applied at all. */
export function refuseAll(work: ManifestWork, message: string): readonly ManifestResult[] {
  return (work.spec?.workload?.manifests ?? []).map((manifest, ordinal) =>
    refusedResult({ meta: unresolvedMeta(ordinal, manifest), message }),
  );
}

/** What to report of a manifest that cannot be applied now. */
export function refusedResult({ meta, message }: Pick<RefusedManifest, 'meta' | 'message'>): ManifestResult {
  return {
    meta,
    config: {},
    failure: { reason: 'AppliedManifestFailed', message },
    observed: { state: 'unresolved' },
  };
}
