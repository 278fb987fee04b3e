// Priority classes.
import type { KubeObject } from '../object.ts';
import { forbiddenField, notSupported } from '../schema/field-errors.ts';
import type { FieldError } from '../status.ts';
import { declare } from './declare.ts';
import { immutable } from './metadata.ts';
import type { ResourceType } from './resource-type.ts';

interface PriorityClass extends KubeObject {
  value: number;
  globalDefault?: boolean;
  preemptionPolicy?: string;
}

const highestOfUsers = 1_000_000_000;
/** The server's own classes, which nobody may make otherwise. */
const systemClasses: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

function systemProblem({ metadata, value, globalDefault = false }: PriorityClass): string | undefined {
  const { name = '' } = metadata;
  const wanted = systemClasses[name];
  if (wanted === undefined) return `${name} is not a known system priority class`;
  if (value !== wanted) return `value of ${name} PriorityClass must be ${wanted}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

const preemptionPolicies = ['PreemptLowerPriority', 'Never'];

function validate(object: KubeObject): FieldError[] {
  const found: FieldError[] = [];
  const priority = object as PriorityClass;
  if (object.metadata.name?.startsWith('system-')) {
    const problem = systemProblem(priority);
    if (problem !== undefined) {
      found.push(
        forbiddenField(
          'metadata.name',
          `priority class names with 'system-' prefix are reserved for system use only. error: ${problem}`,
        ),
      );
    }
  } else if (priority.value > highestOfUsers) {
    found.push(forbiddenField('value', `maximum allowed value of a user defined priority is ${highestOfUsers}`));
  }
  const policy = priority.preemptionPolicy;
  if (policy !== undefined && !preemptionPolicies.includes(policy)) {
    found.push(notSupported('preemptionPolicy', policy, preemptionPolicies));
  }
  return found;
}

export const schedulingTypes: readonly ResourceType[] = [
  declare('scheduling.k8s.io', {
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    shortNames: ['pc'],
    namespaced: false,
    strategy: {
      // Set once, to 1: the class itself does not change.
      generation: () => false,
      defaults(object) {
        (object as PriorityClass).preemptionPolicy ??= 'PreemptLowerPriority';
      },
      validate,
      validateUpdate: (object, old) => [
        ...(object.value === old.value ? [] : [forbiddenField('value', 'may not be changed in an update.')]),
        ...immutable('preemptionPolicy', object.preemptionPolicy, old.preemptionPolicy),
      ],
    },
  }),
];
