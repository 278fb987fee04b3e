// The AppliedManifestWork of a work: the record, in the cluster, of what the work has applied there.
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../arm/record.ts';
import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists } from '../kube/kube-error.ts';
import { resourceKey } from './manifest.ts';
import { appliedName } from './ownership.ts';
import {
  type AppliedManifestWork,
  type AppliedResource,
  appliedFinalizer,
  appliedManifestWorks,
  type ManifestWork,
} from './work.ts';

/** Who applies: part of every record's name and spec. */
export interface AgentIdentity {
  readonly hubHash: string;
  readonly agentId: string;
}

/**
 * Lists what is about to be applied, before it is. A process that ends between making an object and recording it would
 * otherwise leave one that nobody knows of when the manifest is taken out of the work.
 */
export const plannedAnnotation = 'aro.openshift.io/planned-resources';

/** Annotations of one object may have 256 KiB together; more than this is planned in the status instead. */
const longestPlan = 128 * 1024;

/** Makes the record, with its finalizer and what is planned; where it is there already, the one that is. */
export async function createRecord(
  client: KubeClient,
  identity: AgentIdentity,
  work: ManifestWork,
  planned: readonly AppliedResource[],
  signal: AbortSignal,
): Promise<AppliedManifestWork> {
  const workName = work.metadata.name ?? '';
  const name = appliedName(identity.hubHash, workName);
  const { labels } = work.metadata;
  const plan = planText(planned);
  const record: AppliedManifestWork = {
    metadata: {
      name,
      finalizers: [appliedFinalizer],
      ...(labels ? { labels } : {}),
      ...(plan === undefined ? {} : { annotations: { [plannedAnnotation]: plan } }),
    },
    spec: { hubHash: identity.hubHash, agentID: identity.agentId, manifestWorkName: workName },
  };
  try {
    return await client.create(appliedManifestWorks, record, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return client.get(appliedManifestWorks, { name }, { signal });
  }
}

/** Sees to it that the record has its finalizer and labels, and that nothing is applied that is not planned in it. */
export async function ensureRecord(
  client: KubeClient,
  record: AppliedManifestWork,
  work: ManifestWork,
  planned: readonly AppliedResource[],
  signal: AbortSignal,
): Promise<AppliedManifestWork> {
  const { finalizers = [], labels = {}, uid, resourceVersion } = record.metadata;
  const metadata: Record<string, unknown> = {};
  if (!finalizers.includes(appliedFinalizer)) {
    metadata.finalizers = [...finalizers, appliedFinalizer];
    metadata.resourceVersion = resourceVersion;
  }
  const missing = Object.entries(work.metadata.labels ?? {}).filter(([name, value]) => labels[name] !== value);
  if (missing.length > 0) metadata.labels = Object.fromEntries(missing);
  const known = new Set(recordedResources(record).map(resourceKey));
  const isNew = planned.some((each) => !known.has(resourceKey(each)));
  const union = [...plannedResources(record), ...planned];
  const plan = isNew ? planText(distinct(union)) : undefined;
  if (plan !== undefined) metadata.annotations = { [plannedAnnotation]: plan };
  let current = record;
  if (Object.keys(metadata).length > 0) {
    current = await client.patch(
      appliedManifestWorks,
      nameOf(record),
      'merge',
      { metadata: { ...metadata, uid } },
      { signal },
    );
  }
  if (!isNew || plan !== undefined) return current;
  return writeApplied(client, current, distinct([...recordedResources(current), ...planned]), signal);
}

/** The resources that may be there because of this record: applied, or planned to be. */
export function recordedResources(record: AppliedManifestWork): readonly AppliedResource[] {
  const applied = (record.status?.appliedResources ?? []).map(complete);
  return distinct([...applied, ...plannedResources(record)]);
}

/** Writes what is applied now, if that has changed. */
export async function writeApplied(
  client: KubeClient,
  record: AppliedManifestWork,
  applied: readonly AppliedResource[],
  signal: AbortSignal,
): Promise<AppliedManifestWork> {
  const next = applied.toSorted(byName);
  if (isDeepStrictEqual((record.status?.appliedResources ?? []).map(complete), next)) return record;
  return client.patch(
    appliedManifestWorks,
    nameOf(record),
    'merge',
    { metadata: { uid: record.metadata.uid }, status: { appliedResources: next } },
    { subresource: 'status', signal },
  );
}

/** What is planned and not wanted any more has been removed: forgets it. */
export async function trimPlan(
  client: KubeClient,
  record: AppliedManifestWork,
  wanted: readonly AppliedResource[],
  signal: AbortSignal,
): Promise<AppliedManifestWork> {
  const keys = new Set(wanted.map(resourceKey));
  const planned = plannedResources(record);
  const left = planned.filter((each) => keys.has(resourceKey(each)));
  if (left.length === planned.length) return record;
  const annotations = { [plannedAnnotation]: left.length === 0 ? null : (planText(left) ?? null) };
  const { uid } = record.metadata;
  return client.patch(appliedManifestWorks, nameOf(record), 'merge', { metadata: { uid, annotations } }, { signal });
}

export function nameOf(record: AppliedManifestWork): { readonly name: string } {
  return { name: record.metadata.name ?? '' };
}

function planText(planned: readonly AppliedResource[]): string | undefined {
  const text = JSON.stringify(
    planned.map(({ group, version, resource, namespace, name }) => [group, version, resource, namespace, name]),
  );
  return text.length <= longestPlan ? text : undefined;
}

function plannedResources(record: AppliedManifestWork): readonly AppliedResource[] {
  const text = record.metadata.annotations?.[plannedAnnotation];
  if (text === undefined) return [];
  try {
    const rows: unknown = JSON.parse(text);
    if (!Array.isArray(rows)) return [];
    return rows.flatMap((row: unknown) => {
      if (!Array.isArray(row) || row.length !== 5 || !row.every((each) => typeof each === 'string')) return [];
      const [group = '', version = '', resource = '', namespace = '', name = ''] = row as string[];
      return [{ group, version, resource, namespace, name, uid: '' }];
    });
  } catch {
    return [];
  }
}

/** The first of each key: what was applied comes before what was planned. */
function distinct(resources: readonly AppliedResource[]): readonly AppliedResource[] {
  const found = new Map<string, AppliedResource>();
  for (const each of resources) if (!found.has(resourceKey(each))) found.set(resourceKey(each), each);
  return [...found.values()];
}

/** The server leaves out what is empty. */
function complete(applied: Partial<AppliedResource>): AppliedResource {
  const {
    group = '',
    version = '',
    resource = '',
    namespace = '',
    name = '',
    uid = '',
  } = isRecord(applied) ? applied : {};
  return { group, version, resource, namespace, name, uid };
}

const order = ['group', 'version', 'resource', 'namespace', 'name'] as const;

function byName(one: AppliedResource, other: AppliedResource): number {
  for (const member of order) {
    if (one[member] !== other[member]) return one[member] < other[member] ? -1 : 1;
  }
  return 0;
}
