// The status of a work, from what became of each of its manifests. Pure: the same input gives the same status.
import { isDeepStrictEqual } from 'node:util';
import {
  type Condition,
  findCondition,
  isConditionTrue,
  type NewCondition,
  withCondition,
} from '../kube/conditions.ts';
import type { UntypedObject } from '../kube/object.ts';
import { aggregateRules, evaluateRules, isFromRule } from './condition-rules.ts';
import { readFeedback } from './feedback.ts';
import type { EffectiveConfig } from './manifest-config.ts';
import {
  completeCondition,
  type ManifestStatus,
  type ManifestWork,
  type ManifestWorkStatus,
  type ResourceMeta,
} from './work.ts';

/** What became of one manifest. */
export interface ManifestResult {
  readonly meta: ResourceMeta;
  readonly config: EffectiveConfig;
  /** Undefined where it was applied, or needed not to be. */
  readonly failure: ApplyFailure | undefined;
  /** What is in the cluster now. */
  readonly observed: Observed;
}

export interface ApplyFailure {
  readonly reason: 'AppliedManifestFailed' | 'AppliedManifestSSAIgnoreFieldError';
  readonly message: string;
}

export type Observed =
  | { readonly state: 'present'; readonly object: UntypedObject }
  | { readonly state: 'absent' }
  /** There is no resource to look at: the manifest could not be read, or its kind is not there. */
  | { readonly state: 'unresolved' }
  | { readonly state: 'unknown'; readonly message: string };

export interface StatusOptions {
  readonly maxJsonRawLength: number;
  readonly now: number;
}

/** The server takes 32,768 characters; nobody reads more than this. */
const longestMessage = 4096;

/**
 * The next status of a work. Conditions that others have set stay. Returns the status that the work has when nothing changes, so
 * that `===` tells whether there is anything to write.
 */
export function nextStatus(
  work: ManifestWork,
  results: readonly ManifestResult[],
  options: StatusOptions,
): ManifestWorkStatus {
  const { generation = 0 } = work.metadata;
  const before = work.status?.resourceStatus?.manifests ?? [];
  const manifests = results
    .toSorted((one, other) => one.meta.ordinal - other.meta.ordinal)
    .map((result) => manifestStatus(result, earlier(before, result.meta), generation, options));
  let conditions = work.status?.conditions ?? [];
  for (const condition of [
    appliedOf(results, generation),
    availableOf(manifests, generation),
    ...aggregateRules(manifests, generation),
  ]) {
    conditions = withCondition(conditions, bounded(condition), options.now);
  }
  conditions = withoutOldRules(conditions, generation);
  const next: ManifestWorkStatus = { ...work.status, conditions, resourceStatus: { manifests } };
  return work.status && isDeepStrictEqual(work.status, next) ? work.status : next;
}

/** Whether a work, or a manifest, has run to its end in this generation: it is then not applied again. */
export function isComplete(conditions: readonly Condition[] | undefined, generation = 0): boolean {
  return (
    isConditionTrue(conditions, completeCondition) &&
    findCondition(conditions, completeCondition)?.observedGeneration === generation
  );
}

/** The status that a manifest had: under the same place and name, or under the same name where that is the only one. */
export function earlier(before: readonly ManifestStatus[], meta: ResourceMeta): ManifestStatus | undefined {
  const same = before.filter(({ resourceMeta }) => sameResource(resourceMeta, meta));
  return (
    same.find(({ resourceMeta }) => resourceMeta.ordinal === meta.ordinal) ?? (same.length === 1 ? same[0] : undefined)
  );
}

function sameResource(one: ResourceMeta, other: ResourceMeta): boolean {
  return (
    (one.group ?? '') === other.group &&
    (one.kind ?? '') === other.kind &&
    (one.namespace ?? '') === other.namespace &&
    (one.name ?? '') === other.name
  );
}

function manifestStatus(
  result: ManifestResult,
  before: ManifestStatus | undefined,
  generation: number,
  { maxJsonRawLength, now }: StatusOptions,
): ManifestStatus {
  const { meta, config, failure, observed } = result;
  let conditions = before?.conditions ?? [];
  let values = before?.statusFeedback?.values ?? [];
  const set = (condition: NewCondition): void => {
    conditions = withCondition(conditions, bounded(condition), now);
  };
  set({
    type: 'Applied',
    observedGeneration: generation,
    ...(failure
      ? { status: 'False', reason: failure.reason, message: `Failed to apply manifest: ${failure.message}` }
      : { status: 'True', reason: 'AppliedManifestComplete', message: 'Apply manifest complete' }),
  });
  set({ type: 'Available', ...available(observed) });
  if (observed.state === 'present') {
    const feedback = readFeedback(observed.object, config.feedbackRules, maxJsonRawLength);
    // That values have changed shows in the time of their condition.
    if (!isDeepStrictEqual(values, feedback.values)) {
      conditions = conditions.filter(({ type }) => type !== feedback.condition.type);
    }
    set(feedback.condition);
    values = feedback.values;
    for (const condition of evaluateRules(observed.object, config.conditionRules, generation)) set(condition);
  }
  conditions = withoutOldRules(conditions, generation);
  return { resourceMeta: meta, statusFeedback: values.length === 0 ? {} : { values }, conditions };
}

function available(observed: Observed): Pick<NewCondition, 'status' | 'reason' | 'message'> {
  switch (observed.state) {
    case 'present':
      return { status: 'True', reason: 'ResourceAvailable', message: 'Resource is available' };
    case 'absent':
      return { status: 'False', reason: 'ResourceNotAvailable', message: 'Resource is not available' };
    case 'unresolved':
      return { status: 'Unknown', reason: 'IncompleteResourceMeta', message: 'Resource meta is incomplete' };
    case 'unknown':
      return {
        status: 'Unknown',
        reason: 'FetchingResourceFailed',
        message: `Failed to fetch resource: ${observed.message}`,
      };
  }
}

function appliedOf(results: readonly ManifestResult[], generation: number): NewCondition {
  const failed = results.some(({ failure }) => failure !== undefined);
  return {
    type: 'Applied',
    observedGeneration: generation,
    ...(failed
      ? { status: 'False', reason: 'AppliedManifestWorkFailed', message: 'Failed to apply manifest work' }
      : { status: 'True', reason: 'AppliedManifestWorkComplete', message: 'Apply manifest work complete' }),
  };
}

function availableOf(manifests: readonly ManifestStatus[], generation: number): NewCondition {
  const count = (status: Condition['status']): number =>
    manifests.filter(({ conditions }) => findCondition(conditions, 'Available')?.status === status).length;
  const base = { type: 'Available', observedGeneration: generation };
  if (count('False') > 0) {
    const message = `${count('False')} of ${manifests.length} resources are not available`;
    return { ...base, status: 'False', reason: 'ResourcesNotAvailable', message };
  }
  if (count('Unknown') > 0) {
    const message = `${count('Unknown')} of ${manifests.length} resources have unknown status`;
    return { ...base, status: 'Unknown', reason: 'ResourcesStatusUnknown', message };
  }
  return { ...base, status: 'True', reason: 'ResourcesAvailable', message: 'All resources are available' };
}

/** Taking a rule away makes a new generation: what was said in an older one is of a rule that is gone. */
function withoutOldRules(conditions: readonly Condition[], generation: number): readonly Condition[] {
  return conditions.filter((each) => !isFromRule(each) || each.observedGeneration === generation);
}

function bounded(condition: NewCondition): NewCondition {
  return condition.message.length <= longestMessage
    ? condition
    : { ...condition, message: `${condition.message.slice(0, longestMessage)}…` };
}
