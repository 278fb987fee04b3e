// What the status of workloads may say: counts that are not negative, and none larger than what it is a part of.
import type { KubeObject } from '../object.ts';
import { invalidValue } from '../schema/field-errors.ts';
import type { FieldError } from '../status.ts';
import { nonNegative } from './numbers.ts';
import type { Subresource } from './resource-type.ts';

interface StatusRules {
  /** Members that are not negative, in the order the server checks them. */
  readonly counts: readonly string[];
  /** Of these, the ones that are parts of `replicas`. */
  readonly partsOfReplicas: readonly string[];
  /** How the refusal names the pods that are ready, of which those available are a part. */
  readonly ready?: string;
  /** Whether `collisionCount` may only grow. */
  readonly collisions?: boolean;
}

const rules = {
  Deployment: {
    counts: [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'collisionCount',
    ],
    partsOfReplicas: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
    ready: 'readyReplicas',
    collisions: true,
  },
  ReplicaSet: {
    counts: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'],
    partsOfReplicas: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
    ready: 'readyReplicas',
  },
  StatefulSet: {
    counts: [
      'replicas',
      'readyReplicas',
      'currentReplicas',
      'updatedReplicas',
      'availableReplicas',
      'observedGeneration',
      'collisionCount',
    ],
    partsOfReplicas: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    ready: 'status.readyReplicas',
    collisions: true,
  },
  DaemonSet: {
    counts: [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ],
    partsOfReplicas: [],
    collisions: true,
  },
} as const satisfies Readonly<Record<string, StatusRules>>;

const countsOf = ({ status }: KubeObject): Readonly<Record<string, number | undefined>> =>
  (status ?? {}) as Record<string, number | undefined>;

function validate(
  { counts, partsOfReplicas, ready, collisions }: StatusRules,
  object: KubeObject,
  old: KubeObject,
): FieldError[] {
  const status = countsOf(object);
  const found = counts.flatMap((member) => nonNegative(`status.${member}`, status[member]));
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0, collisionCount } = status;
  for (const member of partsOfReplicas) {
    const part = status[member] ?? 0;
    if (part > replicas) {
      found.push(invalidValue(`status.${member}`, part, 'cannot be greater than status.replicas'));
    }
  }
  if (ready !== undefined && availableReplicas > readyReplicas) {
    found.push(invalidValue('status.availableReplicas', availableReplicas, `cannot be greater than ${ready}`));
  }
  const before = countsOf(old).collisionCount;
  if (collisions && before !== undefined && (collisionCount ?? 0) < before) {
    found.push(invalidValue('status.collisionCount', collisionCount ?? 0, 'cannot be decremented'));
  }
  return found;
}

/** The status subresource of a workload: another one, with the checks of its kind. */
export function checkedStatus(kind: keyof typeof rules, status: Subresource): Subresource {
  if (status.kind !== 'status') return status;
  return { ...status, validateUpdate: (object, old) => validate(rules[kind], object, old) };
}
