// apps/v1: what runs pods.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../object.ts';
import { forbiddenField, required } from '../schema/field-errors.ts';
import { labelName } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import { declare, scale } from './declare.ts';
import { immutable } from './metadata.ts';
import { templateGeneration } from './metadata-alone.ts';
import { type IntOrPercent, nonNegative } from './numbers.ts';
import { podSpecDefaults } from './pod/pod-defaults.ts';
import type { ResourceType, Strategy } from './resource-type.ts';
import { keepStatus, ownStatus, status, statusKeepingLabels } from './status.ts';
import {
  type DeploymentSpec,
  type RollingUpdate,
  type SetSpec,
  type StatefulSetSpec,
  specOf,
  templateWarnings,
  validateDaemonSet,
  validateDeployment,
  validateReplicaSet,
  validateStatefulSet,
} from './validate-workloads.ts';
import { checkedStatus } from './workload-status.ts';

const group = 'apps';

const fixedSelector = (object: KubeObject, old: KubeObject): FieldError[] =>
  immutable('spec.selector', specOf(object).selector, specOf(old).selector);

/** A stateful set's spec but for what may change. */
function fixedPart(object: KubeObject): Record<string, unknown> {
  const {
    replicas: _,
    template: __,
    updateStrategy: ___,
    revisionHistoryLimit: ____,
    persistentVolumeClaimRetentionPolicy: _____,
    minReadySeconds: ______,
    ordinals: _______,
    ...rest
  } = object.spec as StatefulSetSpec & { ordinals?: unknown };
  return rest;
}

function rollingDefaults(
  update: { type?: string; rollingUpdate?: RollingUpdate },
  surge: IntOrPercent,
  unavailable: IntOrPercent,
): void {
  update.type ||= 'RollingUpdate';
  if (update.type !== 'RollingUpdate') return;
  update.rollingUpdate ??= {};
  update.rollingUpdate.maxUnavailable ??= unavailable;
  update.rollingUpdate.maxSurge ??= surge;
}

const replicasField: Strategy['fields'] = (object) => ({
  'status.replicas': String((object.status as { replicas?: number } | undefined)?.replicas ?? 0),
});

export const appsTypes: readonly ResourceType[] = [
  declare(group, {
    kind: 'ControllerRevision',
    plural: 'controllerrevisions',
    namespaced: true,
    strategy: {
      generation: false,
      validate: ({ revision, data }) => [
        ...nonNegative('revision', revision as number),
        ...(data === null || data === undefined ? [required('data', 'data is mandatory')] : []),
      ],
      validateUpdate: (object, old) => [
        ...nonNegative('revision', object.revision as number),
        ...immutable('data', object.data, old.data),
      ],
    },
  }),
  declare(group, {
    kind: 'DaemonSet',
    plural: 'daemonsets',
    shortNames: ['ds'],
    categories: ['all'],
    namespaced: true,
    subresources: { status: checkedStatus('DaemonSet', status) },
    strategy: {
      defaults(object) {
        const spec = specOf<SetSpec>(object);
        rollingDefaults(spec.updateStrategy, 0, 1);
        spec.revisionHistoryLimit ??= 10;
        podSpecDefaults(spec.template.spec);
        const { annotations } = object.metadata;
        object.metadata.annotations = {
          ...annotations,
          [templateGeneration]: annotations?.[templateGeneration] ?? '0',
        };
      },
      prepareCreate(object) {
        ownStatus.prepareCreate(object);
        object.metadata.annotations = { ...object.metadata.annotations, [templateGeneration]: '1' };
      },
      prepareUpdate(object, old) {
        keepStatus(object, old);
        const before = Number(old.metadata.annotations?.[templateGeneration] ?? '1');
        const changed = !isDeepStrictEqual(specOf(object).template, specOf(old).template);
        object.metadata.annotations = {
          ...object.metadata.annotations,
          [templateGeneration]: String(changed ? before + 1 : before),
        };
      },
      validate: validateDaemonSet,
      validateUpdate: (object, old) => [...validateDaemonSet(object), ...fixedSelector(object, old)],
      warnings: templateWarnings,
    },
  }),
  declare(group, {
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    categories: ['all'],
    namespaced: true,
    subresources: { scale, status: checkedStatus('Deployment', statusKeepingLabels) },
    strategy: {
      ...ownStatus,
      defaults(object) {
        const spec = specOf<DeploymentSpec>(object);
        spec.replicas ??= 1;
        rollingDefaults(spec.strategy, '25%', '25%');
        spec.revisionHistoryLimit ??= 10;
        spec.progressDeadlineSeconds ??= 600;
        podSpecDefaults(spec.template.spec);
      },
      // Pausing by annotation counts as well.
      generation: (object, old) =>
        !isDeepStrictEqual(object.spec, old.spec) ||
        !isDeepStrictEqual(object.metadata.annotations, old.metadata.annotations),
      validate: validateDeployment,
      validateUpdate: (object, old) => [...validateDeployment(object), ...fixedSelector(object, old)],
      warnings: templateWarnings,
    },
  }),
  declare(group, {
    kind: 'ReplicaSet',
    plural: 'replicasets',
    shortNames: ['rs'],
    categories: ['all'],
    namespaced: true,
    subresources: { scale, status: checkedStatus('ReplicaSet', status) },
    strategy: {
      ...ownStatus,
      defaults(object) {
        const spec = specOf(object);
        spec.replicas ??= 1;
        podSpecDefaults(spec.template.spec);
      },
      validate: validateReplicaSet,
      validateUpdate: (object, old) => [...validateReplicaSet(object), ...fixedSelector(object, old)],
      warnings: templateWarnings,
      fields: replicasField,
    },
  }),
  declare(group, {
    kind: 'StatefulSet',
    plural: 'statefulsets',
    shortNames: ['sts'],
    categories: ['all'],
    namespaced: true,
    subresources: { scale, status: checkedStatus('StatefulSet', status) },
    strategy: {
      ...ownStatus,
      nameRule: labelName,
      defaults(object) {
        const spec = specOf<StatefulSetSpec>(object);
        spec.podManagementPolicy ||= 'OrderedReady';
        if (!spec.updateStrategy.type) {
          spec.updateStrategy.type = 'RollingUpdate';
          spec.updateStrategy.rollingUpdate ??= {};
        }
        if (spec.updateStrategy.type === 'RollingUpdate' && spec.updateStrategy.rollingUpdate) {
          spec.updateStrategy.rollingUpdate.partition ??= 0;
        }
        spec.persistentVolumeClaimRetentionPolicy ??= {};
        spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= 'Retain';
        spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= 'Retain';
        spec.replicas ??= 1;
        spec.revisionHistoryLimit ??= 10;
        for (const claim of spec.volumeClaimTemplates ?? []) {
          claim.apiVersion = 'v1';
          claim.kind = 'PersistentVolumeClaim';
          claim.spec.volumeMode ??= 'Filesystem';
          claim.status = { ...claim.status, phase: claim.status?.phase || 'Pending' };
        }
        podSpecDefaults(spec.template.spec);
      },
      validate: validateStatefulSet,
      validateUpdate: (object, old) => {
        const found = validateStatefulSet(object);
        if (isDeepStrictEqual(fixedPart(object), fixedPart(old))) return found;
        return [
          ...found,
          forbiddenField(
            'spec',
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
          ),
        ];
      },
      warnings: templateWarnings,
    },
  }),
];
