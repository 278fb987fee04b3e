// Values of an applied object that go back to whoever sent the work.
import type { NewCondition } from '../kube/conditions.ts';
import type { UntypedObject } from '../kube/object.ts';
import { groupVersion } from '../kube/resource.ts';
import { type JsonPath, parseJsonPath } from './json-path.ts';
import type { FeedbackRule, FeedbackValue, FieldValue, JsonPathRule } from './work.ts';

export interface Feedback {
  readonly values: readonly FeedbackValue[];
  readonly condition: NewCondition;
}

const synced = 'StatusFeedbackSynced';

/** All values of one manifest together may be as long as this many of the longest. */
const longestTogether = 4;

/** What `WellKnownStatus` means, by apiVersion and kind. */
const wellKnown: Readonly<Record<string, readonly JsonPathRule[]>> = {
  'apps/v1 Deployment': [
    { name: 'ReadyReplicas', path: '.status.readyReplicas' },
    { name: 'Replicas', path: '.status.replicas' },
    { name: 'AvailableReplicas', path: '.status.availableReplicas' },
  ],
  'apps/v1 DaemonSet': [
    { name: 'NumberReady', path: '.status.numberReady' },
    { name: 'DesiredNumberScheduled', path: '.status.desiredNumberScheduled' },
    { name: 'NumberAvailable', path: '.status.numberAvailable' },
  ],
  'batch/v1 Job': [
    { name: 'JobComplete', path: '.status.conditions[?(@.type=="Complete")].status' },
    { name: 'JobSucceeded', path: '.status.succeeded' },
  ],
  'v1 Pod': [
    { name: 'PodReady', path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'PodPhase', path: '.status.phase' },
  ],
};

/** The values that the rules ask for, as far as they can be had, and the condition that says whether all could. */
export function readFeedback(
  object: UntypedObject,
  rules: readonly FeedbackRule[] = [],
  maxJsonRawLength: number,
): Feedback {
  if (rules.length === 0) {
    return { values: [], condition: { type: synced, status: 'True', reason: 'NoStatusFeedbackSynced', message: '' } };
  }
  const values: FeedbackValue[] = [];
  const problems: string[] = [];
  let room = maxJsonRawLength * longestTogether;
  for (const rule of rules) {
    for (const path of pathsOf(object, rule, problems)) {
      try {
        const fieldValue = read(object, path, maxJsonRawLength);
        if (!fieldValue) continue;
        room -= lengthOf(fieldValue);
        if (room < 0) throw new Error(`there is no room for the value of ${path.name ?? ''}: others are too long`);
        values.push({ name: path.name ?? '', fieldValue });
      } catch (error) {
        problems.push(error instanceof Error ? error.message : String(error));
      }
    }
  }
  const condition: NewCondition =
    problems.length === 0
      ? { type: synced, status: 'True', reason: 'StatusFeedbackSynced', message: '' }
      : {
          type: synced,
          status: 'False',
          reason: 'StatusFeedbackSyncFailed',
          message: `Sync status feedback failed with error ${listed(problems)}`,
        };
  return { values, condition };
}

function pathsOf(object: UntypedObject, rule: FeedbackRule, problems: string[]): readonly JsonPathRule[] {
  if (rule.type === 'JSONPaths') return rule.jsonPaths ?? [];
  const kind = `${object.apiVersion ?? ''} ${object.kind ?? ''}`;
  if (rule.type === 'WellKnownStatus') {
    const paths = wellKnown[kind];
    if (!paths) problems.push(`cannot find the wellknown statuses for resource with gvk ${kind}`);
    return paths ?? [];
  }
  problems.push(`the feedback rule type ${rule.type ?? ''} is not known`);
  return [];
}

function read(object: UntypedObject, rule: JsonPathRule, maxJsonRawLength: number): FieldValue | undefined {
  const { name = '', path = '', version } = rule;
  if (version && groupVersion(object.apiVersion ?? '').version !== version) {
    throw new Error(`version set in the path ${name} is not matched for the related resource`);
  }
  const found = withReason(`failed to parse json path ${path} of ${name} with error: `, () => parsed(path));
  const results = withReason(`failed to find value for ${name} with error: `, () => found.find(object));
  const value = results.length > 1 ? results : results[0];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return { type: 'String', string: value };
  if (typeof value === 'boolean') return { type: 'Boolean', boolean: value };
  if (Number.isSafeInteger(value)) return { type: 'Integer', integer: value as number };
  const jsonRaw = JSON.stringify(value);
  if (Buffer.byteLength(jsonRaw) > maxJsonRawLength) {
    throw new Error(
      `the length of returned json raw string for name ${name} is larger than the maximum length ${maxJsonRawLength}`,
    );
  }
  return { type: 'JsonRaw', jsonRaw };
}

function lengthOf(value: FieldValue): number {
  return value.type === 'JsonRaw' ? value.jsonRaw.length : value.type === 'String' ? value.string.length : 1;
}

/** Works have few paths among them, and read each again at every change. */
const remembered = 500;
const paths = new Map<string, JsonPath>();

function parsed(text: string): JsonPath {
  const known = paths.get(text);
  if (known) return known;
  const path = parseJsonPath(text);
  if (paths.size >= remembered) paths.clear();
  paths.set(text, path);
  return path;
}

function withReason<T>(before: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Error(before + (error instanceof Error ? error.message : String(error)));
  }
}

/** As Go lists several errors. */
export function listed(problems: readonly string[]): string {
  return problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`;
}
