// The end of an AppliedManifestWork: eviction when its work is gone, and the removal of everything it has applied.
import type { KubeClient } from '../kube/client.ts';
import type { Result } from '../kube/controller.ts';
import { removeFinalizer } from '../kube/finalizer.ts';
import { isConflict, isNotFound } from '../kube/kube-error.ts';
import { timeText } from '../kube/time.ts';
import { nameOf, recordedResources } from './applied-record.ts';
import { appliedName, ownerReference } from './ownership.ts';
import { removeResources } from './remove-resources.ts';
import { type AppliedManifestWork, appliedFinalizer, appliedManifestWorks } from './work.ts';
import type { WorkSource } from './work-source.ts';

export interface RecordContext {
  readonly client: KubeClient;
  readonly source: Pick<WorkSource, 'get' | 'complete'>;
  readonly hubHash: string;
  readonly evictionGraceSeconds: number;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

const neverEvictSeconds = 100 * 365 * 24 * 3600;
/** While not all works are known, and between looks at a record that waits for its eviction. */
const waitSeconds = 30;
const firstLookSeconds = 0.05;
const longestLookSeconds = 60;

export async function reconcileRecord(
  record: AppliedManifestWork | undefined,
  context: RecordContext,
): Promise<Result | undefined> {
  if (!record) return undefined;
  if (record.metadata.deletionTimestamp) return tearDown(record, context);
  if (context.evictionGraceSeconds >= neverEvictSeconds || isManaged(record, context)) {
    if (record.status?.evictionStartTime !== undefined) await setEviction(record, null, context);
    return undefined;
  }
  if (!context.source.complete) return { requeueAfter: waitSeconds };
  const since = record.status?.evictionStartTime;
  if (since === undefined) {
    await setEviction(record, timeText(context.now()), context);
    return undefined;
  }
  const left = (Date.parse(since) - context.now()) / 1000 + context.evictionGraceSeconds;
  if (left > 0) return { requeueAfter: left };
  await evict(record, context);
  return undefined;
}

/** Whether its work is there, and comes from where it was applied for. */
function isManaged(record: AppliedManifestWork, { source, hubHash }: RecordContext): boolean {
  const workName = record.spec?.manifestWorkName ?? '';
  return record.metadata.name === appliedName(hubHash, workName) && source.get(workName) !== undefined;
}

async function setEviction(
  record: AppliedManifestWork,
  evictionStartTime: string | null,
  { client, signal }: RecordContext,
): Promise<void> {
  const patch = { metadata: { uid: record.metadata.uid }, status: { evictionStartTime } };
  await gone(client.patch(appliedManifestWorks, nameOf(record), 'merge', patch, { subresource: 'status', signal }));
}

async function evict(record: AppliedManifestWork, { client, signal }: RecordContext): Promise<void> {
  const { uid, resourceVersion } = record.metadata;
  const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
  await gone(client.delete(appliedManifestWorks, nameOf(record), { signal, preconditions }));
}

/** Removes what was applied, then lets the record go. Throws the first failure, which makes the controller try again. */
async function tearDown(record: AppliedManifestWork, context: RecordContext): Promise<Result | undefined> {
  const { client, signal } = context;
  if (!record.metadata.finalizers?.includes(appliedFinalizer)) return undefined;
  const resources = recordedResources(record);
  const { pending, failed } = await removeResources(client, resources, ownerReference(record), signal);
  if (failed[0]) throw failed[0].error;
  if (pending.length > 0) {
    const waited = Math.max(0, (context.now() - Date.parse(record.metadata.deletionTimestamp ?? '')) / 1000);
    // As long again as it has lasted: soon at first, seldom when it takes long.
    return { requeueAfter: Math.min(Math.max(firstLookSeconds, waited / 2), longestLookSeconds) };
  }
  await removeFinalizer(client, appliedManifestWorks, record, appliedFinalizer, { signal });
  return undefined;
}

/** That it has changed or gone meanwhile is seen by the watch, and looked at then. */
async function gone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
