// What runs pods must be well formed: its selector, its template and the way its pods are replaced.
import type { KubeObject } from '../object.ts';
import { forbiddenField, invalidBy, invalidValue, notSupported, required } from '../schema/field-errors.ts';
import { subdomainName } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import type { ClaimSpec } from './core/persistent-volume-claims.ts';
import { amount, type IntOrPercent, nonNegative, notOver100Percent, validateIntOrPercent } from './numbers.ts';
import type { LabelSelector, PodTemplate } from './pod/pod-spec.ts';
import { validatePodTemplate } from './pod/validate-pod.ts';
import { podWarnings } from './pod/warnings.ts';
import { isEmptySelector, selects, validateSelector } from './selectors.ts';

export interface WorkloadSpec {
  replicas?: number;
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
  selector: LabelSelector | null;
  template: PodTemplate;
}

export interface RollingUpdate {
  maxSurge?: IntOrPercent;
  maxUnavailable?: IntOrPercent;
  partition?: number;
}

export interface DeploymentSpec extends WorkloadSpec {
  strategy: { type?: string; rollingUpdate?: RollingUpdate };
  progressDeadlineSeconds?: number;
  paused?: boolean;
}

export interface SetSpec extends WorkloadSpec {
  updateStrategy: { type?: string; rollingUpdate?: RollingUpdate };
}

export interface StatefulSetSpec extends SetSpec {
  serviceName?: string;
  podManagementPolicy?: string;
  volumeClaimTemplates?: (KubeObject & { spec: ClaimSpec; status?: { phase?: string } })[];
  persistentVolumeClaimRetentionPolicy?: { whenDeleted?: string; whenScaled?: string };
}

/** The spec of a workload that was decoded. */
export const specOf = <Spec extends WorkloadSpec>(object: KubeObject): Spec => object.spec as Spec;

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

/** What a client should know of the pods that a workload makes. */
export const templateWarnings = (object: KubeObject): string[] => {
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

export function validateDeployment(object: KubeObject): FieldError[] {
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

export function validateReplicaSet(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  return [
    ...nonNegative('spec.replicas', spec.replicas),
    ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...validateSelection(spec, 'replicaset', true),
    ...validateTemplate(spec, 'ReplicaSet'),
  ];
}

const claimRetention = ['Retain', 'Delete'];

export function validateStatefulSet(object: KubeObject): FieldError[] {
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

export function validateDaemonSet(object: KubeObject): FieldError[] {
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
