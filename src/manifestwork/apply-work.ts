// One look at one work: applies what differs, removes what is not wanted any more, and says what became of it.
import type { KubeClient } from '../kube/client.ts';
import { KubeConnectionError } from '../kube/kube-error.ts';
import { keyOf, type OwnerReference, type UntypedObject } from '../kube/object.ts';
import { ensureRecord, recordedResources, trimPlan, writeApplied } from './applied-record.ts';
import { ApplyConflictError, applyManifest } from './apply-manifest.ts';
import { type ExecutorRights, NotAllowedError, againSeconds as notAllowedAgainSeconds } from './executor.ts';
import { IgnoreFieldError } from './ignore-fields.ts';
import { resourceKey } from './manifest.ts';
import type { ObjectWatches } from './object-watches.ts';
import { ownerReference } from './ownership.ts';
import { removeResources } from './remove-resources.ts';
import { type ApplyFailure, earlier, isComplete, type ManifestResult, type Observed } from './status.ts';
import type { AppliedManifestWork, AppliedResource, ManifestWork } from './work.ts';
import { isUnwanted, type PlannedManifest, planWork, refusedResult, resourcesOf, type WorkPlan } from './work-plan.ts';
import { keepWritten, type ObjectState, type WorkState, type WorkStates } from './work-state.ts';

export interface ApplyWorkContext {
  readonly client: KubeClient;
  readonly watches: ObjectWatches;
  readonly states: WorkStates;
  readonly rights: ExecutorRights;
  /** Makes or finds the record of the work, knowing what is about to be applied. */
  readonly record: (planned: readonly AppliedResource[]) => Promise<AppliedManifestWork>;
  readonly signal: AbortSignal;
  /** Whether a server that does not answer is worth a report: it may only restart. */
  readonly reportSilence: boolean;
}

export interface WorkOutcome {
  readonly results: readonly ManifestResult[];
  readonly record: AppliedManifestWork;
  /** Something failed that may work later. */
  readonly retry: boolean;
  /** Seconds after which to look again in any case. */
  readonly againSeconds: number | undefined;
}

/** Objects that cannot be watched are looked at this often. */
const pollSeconds = 10;

/** Rejects when there is no record, when the server does not answer, or when the signal fires; all else is in the results. */
export async function applyWork(work: ManifestWork, state: WorkState, context: ApplyWorkContext): Promise<WorkOutcome> {
  const { client, states, signal } = context;
  const plan = await planWork(work, client.mapper, context.reportSilence);
  let record = await context.record(resourcesOf(plan));
  record = await ensureRecord(client, record, work, resourcesOf(plan), signal);
  const look = createLook(work, state, ownerReference(record), context);
  const results: ManifestResult[] = plan.refused.map(refusedResult);
  for (const manifest of plan.manifests) results.push(await look.at(manifest));
  const recorded = recordedResources(record);
  const left = await removeOthers(recorded, record, plan, context);
  record = await writeApplied(client, record, [...appliedNow(recorded, plan, results), ...left], signal);
  if (left.length === 0) record = await trimPlan(client, record, resourcesOf(plan), signal);
  states.keep(state, plan.keys);
  const retry = look.retry || left.length > 0 || plan.refused.some(({ again }) => again);
  return { results, record, retry, againSeconds: look.againSeconds };
}

interface Look {
  at(manifest: PlannedManifest): Promise<ManifestResult>;
  readonly retry: boolean;
  readonly againSeconds: number | undefined;
}

function createLook(work: ManifestWork, state: WorkState, owner: OwnerReference, context: ApplyWorkContext): Look {
  const { client, watches, states, rights, signal } = context;
  let retry = false;
  let againSeconds: number | undefined;

  function again(seconds: number): void {
    againSeconds = Math.min(againSeconds ?? seconds, seconds);
  }

  async function current(manifest: PlannedManifest, object: ObjectState): Promise<UntypedObject | undefined> {
    if (object.written) return object.written;
    const known = object.watch.get(keyOf(manifest.desired));
    if (known === 'absent') return undefined;
    if (known !== 'unknown' && known !== 'hollow') return known;
    const since = object.tellings;
    const found = await client.find(manifest.ref, keyOf(manifest.desired), { signal });
    if (known === 'hollow') keepWritten(object, found, since);
    else again(pollSeconds);
    return found;
  }

  async function apply(manifest: PlannedManifest, object: ObjectState, existing: UntypedObject | undefined) {
    const { ref, meta, desired, strategy, owned } = manifest;
    const before = earlier(work.status?.resourceStatus?.manifests ?? [], meta);
    if (isComplete(before?.conditions, work.metadata.generation)) return existing;
    const readOnly = strategy.type === 'ReadOnly';
    await rights.check({ executor: work.spec?.executor, ref, meta, owned, object: desired, readOnly }, signal);
    const now = performance.now();
    const since = object.tellings;
    const outcome = await applyManifest({
      ...{ client, ref, desired, strategy, owner, owned, existing, signal, now },
      settled: object.settled,
    });
    object.settled = outcome.settled;
    if (outcome.object !== existing) keepWritten(object, outcome.object, since);
    if (outcome.repairInMs !== undefined) again(outcome.repairInMs / 1000);
    return outcome.object;
  }

  return {
    get retry() {
      return retry;
    },
    get againSeconds() {
      return againSeconds;
    },
    async at(manifest) {
      const { meta, config, key, ref } = manifest;
      const object = states.object(state, key, () => watches.hold(ref, meta.namespace));
      let observed: Observed = { state: 'unknown', message: 'it has not been looked at' };
      let failure: ApplyFailure | undefined;
      try {
        let existing = await current(manifest, object);
        observed = observedAs(existing);
        existing = await apply(manifest, object, existing);
        observed = observedAs(existing);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof KubeConnectionError && !context.reportSilence) throw error;
        failure = failureOf(error);
        if (observed.state === 'unknown') observed = { state: 'unknown', message: failure.message };
        if (error instanceof NotAllowedError) again(notAllowedAgainSeconds);
        // The other manager, or the author of the selector, has to act: that shows as a change.
        else if (!(error instanceof ApplyConflictError || error instanceof IgnoreFieldError)) retry = true;
      }
      object.seen = observed.state === 'present' ? observed.object.metadata.resourceVersion : undefined;
      return { meta, config, failure, observed };
    },
  };
}

function observedAs(object: UntypedObject | undefined): Observed {
  return object ? { state: 'present', object } : { state: 'absent' };
}

function failureOf(error: unknown): ApplyFailure {
  const reason = error instanceof IgnoreFieldError ? 'AppliedManifestSSAIgnoreFieldError' : 'AppliedManifestFailed';
  return { reason, message: error instanceof Error ? error.message : String(error) };
}

/** Removes what is not wanted any more. What is left stays in the record until it is gone. */
async function removeOthers(
  recorded: readonly AppliedResource[],
  record: AppliedManifestWork,
  plan: WorkPlan,
  { client, signal }: ApplyWorkContext,
): Promise<readonly AppliedResource[]> {
  const others = recorded.filter((each) => isUnwanted(each, plan));
  if (others.length === 0) return [];
  const { pending, failed } = await removeResources(client, others, ownerReference(record), signal);
  return [...pending, ...failed.map(({ resource }) => resource)];
}

/** What is there now of what the plan wants, and what was there before and cannot be seen at the moment. */
function appliedNow(
  recorded: readonly AppliedResource[],
  plan: WorkPlan,
  results: readonly ManifestResult[],
): readonly AppliedResource[] {
  const seen = new Map(results.map(({ meta, observed }) => [resourceKey(meta), observed]));
  const present = plan.manifests.flatMap(({ meta, key }) => {
    const observed = seen.get(key);
    if (observed?.state !== 'present') return [];
    const { group, version, resource, namespace, name } = meta;
    return [{ group, version, resource, namespace, name, uid: observed.object.metadata.uid ?? '' }];
  });
  const unseen = recorded.filter((each) => {
    const state = seen.get(resourceKey(each))?.state;
    return each.uid !== '' && (state === undefined ? !isUnwanted(each, plan) : state === 'unknown');
  });
  return [...present, ...unseen];
}
