// apps/v1: what runs pods.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../object.ts';
import { forbiddenField, invalidBy, invalidValue, notSupported, required } from '../schema/field-errors.ts';
import { labelName, subdomainName } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import type { ClaimSpec } from './core/persistent-volume-claims.ts';
import { declare, scale } from './declare.ts';
import { immutable } from './metadata.ts';
import { templateGeneration } from './metadata-alone.ts';
import { amount, type IntOrPercent, nonNegative, notOver100Percent, validateIntOrPercent } from './numbers.ts';
import { podSpecDefaults } from './pod/pod-defaults.ts';
import type { LabelSelector, PodTemplate } from './pod/pod-spec.ts';
import { validatePodTemplate } from './pod/validate-pod.ts';
import { podWarnings } from './pod/warnings.ts';
import type { ResourceType, Strategy } from './resource-type.ts';
import { isEmptySelector, selects, validateSelector } from './selectors.ts';
import { keepStatus, ownStatus, status, statusKeepingLabels } from './status.ts';
import { checkedStatus } from './workload-status.ts';

const group = 'apps';

interface WorkloadSpec {
  replicas?: number;
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
  selector: LabelSelector | null;
  template: PodTemplate;
}

interface RollingUpdate {
  maxSurge?: IntOrPercent;
  maxUnavailable?: IntOrPercent;
  partition?: number;
}

interface DeploymentSpec extends WorkloadSpec {
  strategy: { type?: string; rollingUpdate?: RollingUpdate };
  progressDeadlineSeconds?: number;
  paused?: boolean;
}

interface SetSpec extends WorkloadSpec {
  updateStrategy: { type?: string; rollingUpdate?: RollingUpdate };
}

interface StatefulSetSpec extends SetSpec {
  serviceName?: string;
  podManagementPolicy?: string;
  volumeClaimTemplates?: (KubeObject & { spec: ClaimSpec; status?: { phase?: string } })[];
  persistentVolumeClaimRetentionPolicy?: { whenDeleted?: string; whenScaled?: string };
}

const specOf = <Spec extends WorkloadSpec>(object: KubeObject): Spec => object.spec as Spec;

/** A selector must be there, select something, and select the template's own pods. */
function validateSelection(spec: WorkloadSpec, kind: string, needed: boolean): FieldError[] {
  const { selector, template } = spec;
  const found: FieldError[] = [];
  if (!selector) {
    if (needed) found.push(required('spec.selector'));
  } else {
    found.push(...validateSelector(selector, 'spec.selector'));
    if (isEmptySelector(selector)) {
      found.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${kind}`));
    }
  }
  const wellFormed = found.length === 0 || !selector || isEmptySelector(selector);
  if (!wellFormed) return [...found, invalidValue('spec.selector', selector, 'invalid label selector')];
  const matches = selector ? isEmptySelector(selector) || selects(selector, template.metadata.labels) : false;
  if (!matches) {
    found.push(
      invalidValue(
        'spec.template.metadata.labels',
        template.metadata.labels ?? null,
        '`selector` does not match template `labels`',
      ),
    );
  }
  return found;
}

/** Pods that are kept running restart, and have no deadline. */
function validateTemplate({ template }: WorkloadSpec, kind: string): FieldError[] {
  const found = validatePodTemplate(template, 'spec.template');
  if (template.spec.restartPolicy !== 'Always') {
    found.push(notSupported('spec.template.spec.restartPolicy', template.spec.restartPolicy, ['Always']));
  }
  if (template.spec.activeDeadlineSeconds !== undefined) {
    found.push(
      forbiddenField('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${kind} is not Supported`),
    );
  }
  return found;
}

const templateWarnings: Strategy['warnings'] = (object) => {
  const { template } = specOf(object);
  return podWarnings(template.spec, template.metadata, 'spec.template.spec');
};

function validateRollingUpdate({ maxSurge = 0, maxUnavailable = 0 }: RollingUpdate, field: string): FieldError[] {
  const found = [
    ...validateIntOrPercent(`${field}.maxUnavailable`, maxUnavailable),
    ...validateIntOrPercent(`${field}.maxSurge`, maxSurge),
  ];
  if (amount(maxUnavailable) === 0 && amount(maxSurge) === 0) {
    found.push(invalidValue(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  return [...found, ...notOver100Percent(`${field}.maxUnavailable`, maxUnavailable)];
}

function validateDeployment(object: KubeObject): FieldError[] {
  const spec = specOf<DeploymentSpec>(object);
  const found = nonNegative('spec.replicas', spec.replicas);
  const selection = validateSelection(spec, 'deployment', true);
  const unusable = selection.some(({ message }) => message.endsWith('invalid label selector'));
  found.push(...selection, ...(unusable ? [] : validateTemplate(spec, 'ReplicaSet')));
  const { type, rollingUpdate } = spec.strategy;
  if (type === 'Recreate') {
    if (rollingUpdate) {
      found.push(
        forbiddenField('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'"),
      );
    }
  } else if (type === 'RollingUpdate') {
    if (!rollingUpdate)
      found.push(required('spec.strategy.rollingUpdate', 'this should be defaulted and never be nil'));
    else found.push(...validateRollingUpdate(rollingUpdate, 'spec.strategy.rollingUpdate'));
  } else {
    found.push(
      notSupported('spec.strategy', { Type: type, RollingUpdate: rollingUpdate ?? null }, [
        'Recreate',
        'RollingUpdate',
      ]),
    );
  }
  const { minReadySeconds = 0, progressDeadlineSeconds, revisionHistoryLimit } = spec;
  found.push(...nonNegative('spec.minReadySeconds', minReadySeconds));
  found.push(...nonNegative('spec.revisionHistoryLimit', revisionHistoryLimit));
  found.push(...nonNegative('spec.progressDeadlineSeconds', progressDeadlineSeconds));
  if (progressDeadlineSeconds !== undefined && minReadySeconds >= 0 && progressDeadlineSeconds <= minReadySeconds) {
    found.push(
      invalidValue('spec.progressDeadlineSeconds', progressDeadlineSeconds, 'must be greater than minReadySeconds'),
    );
  }
  return found;
}

function validateReplicaSet(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  return [
    ...nonNegative('spec.replicas', spec.replicas),
    ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...validateSelection(spec, 'replicaset', true),
    ...validateTemplate(spec, 'ReplicaSet'),
  ];
}

const claimRetention = ['Retain', 'Delete'];

function validateStatefulSet(object: KubeObject): FieldError[] {
  const spec = specOf<StatefulSetSpec>(object);
  const found: FieldError[] = [];
  if (spec.podManagementPolicy !== 'OrderedReady' && spec.podManagementPolicy !== 'Parallel') {
    found.push(
      invalidValue('spec.podManagementPolicy', spec.podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"),
    );
  }
  const { type, rollingUpdate } = spec.updateStrategy;
  if (type === 'OnDelete') {
    if (rollingUpdate) {
      found.push(
        invalidValue(
          'spec.updateStrategy.rollingUpdate',
          rollingUpdate,
          "only allowed for updateStrategy 'RollingUpdate'",
        ),
      );
    }
  } else if (type === 'RollingUpdate') {
    found.push(...nonNegative('spec.updateStrategy.rollingUpdate.partition', rollingUpdate?.partition));
  } else {
    found.push(
      invalidValue(
        'spec.updateStrategy',
        { Type: type, RollingUpdate: rollingUpdate ?? null },
        "must be 'RollingUpdate' or 'OnDelete'",
      ),
    );
  }
  for (const member of ['whenDeleted', 'whenScaled'] as const) {
    const policy = spec.persistentVolumeClaimRetentionPolicy?.[member] ?? '';
    if (!claimRetention.includes(policy)) {
      found.push(notSupported(`spec.persistentVolumeClaimRetentionPolicy.${member}`, policy, claimRetention));
    }
  }
  return [
    ...found,
    ...nonNegative('spec.replicas', spec.replicas),
    ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...(spec.serviceName
      ? invalidBy('spec.serviceName', spec.serviceName, subdomainName(spec.serviceName, false))
      : []),
    ...validateSelection(spec, 'statefulset', true),
    ...validateTemplate(spec, 'StatefulSet'),
  ];
}

function validateDaemonSet(object: KubeObject): FieldError[] {
  const spec = specOf<SetSpec>(object);
  const { type, rollingUpdate } = spec.updateStrategy;
  const found = [
    ...validateSelection(spec, 'daemonset', false),
    ...validateTemplate(spec, 'DaemonSet'),
    ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
  ];
  const at = 'spec.updateStrategy.rollingUpdate';
  if (type === 'RollingUpdate') {
    const { maxSurge = 0, maxUnavailable = 0 } = rollingUpdate ?? {};
    found.push(
      ...validateIntOrPercent(`${at}.maxUnavailable`, maxUnavailable),
      ...notOver100Percent(`${at}.maxUnavailable`, maxUnavailable),
      ...validateIntOrPercent(`${at}.maxSurge`, maxSurge),
      ...notOver100Percent(`${at}.maxSurge`, maxSurge),
    );
    if (amount(maxUnavailable) > 0 && amount(maxSurge) > 0) {
      found.push(invalidValue(`${at}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'));
    } else if (amount(maxUnavailable) === 0 && amount(maxSurge) === 0) {
      found.push(required(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
    }
  } else if (type !== 'OnDelete') {
    found.push(notSupported('spec.updateStrategy.type', type, ['RollingUpdate', 'OnDelete']));
  }
  return [...found, ...nonNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit)];
}

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
