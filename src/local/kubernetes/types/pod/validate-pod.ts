// What a pod's spec must look like, and what an update may change in it.
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../object.ts';
import { forbiddenField, invalidBy, invalidValue, notSupported, required } from '../../schema/field-errors.ts';
import { dns1123Label, dns1123Subdomain, userId } from '../../schema/names.ts';
import type { FieldError } from '../../status.ts';
import { validateAddress } from '../addresses.ts';
import { validateAnnotations, validateLabels } from '../metadata.ts';
import type { Container, PodSpec, PodTemplate, Toleration } from './pod-spec.ts';
import { validateContainers, validateDeadline } from './validate-container.ts';
import { validateAffinities, validateSpreading, validateTolerations } from './validate-scheduling.ts';
import { validateVolumes } from './validate-volume.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const preemptionPolicies = ['Never', 'PreemptLowerPriority'];

function validateSecurity(spec: PodSpec, field: string): FieldError[] {
  const context = spec.securityContext ?? {};
  const found: FieldError[] = [];
  for (const member of ['fsGroup', 'runAsUser', 'runAsGroup'] as const) {
    const id = context[member];
    if (id !== undefined) found.push(...invalidBy(`${field}.${member}`, id, userId(id)));
  }
  for (const [index, id] of (context.supplementalGroups ?? []).entries()) {
    found.push(...invalidBy(`${field}.supplementalGroups[${index}]`, id, userId(id)));
  }
  return found;
}

/** The checks of a spec, in a pod or in a template. */
function validatePodSpec(spec: PodSpec, field: string): FieldError[] {
  const { names, errors } = validateVolumes(spec.volumes ?? [], `${field}.volumes`);
  const found = [...errors, ...validateContainers(spec, names, field)];
  const policy = spec.restartPolicy ?? '';
  if (!restartPolicies.includes(policy)) found.push(notSupported(`${field}.restartPolicy`, policy, restartPolicies));
  if (!dnsPolicies.includes(spec.dnsPolicy ?? '')) {
    found.push(notSupported(`${field}.dnsPolicy`, spec.dnsPolicy, dnsPolicies));
  }
  found.push(
    ...validateLabels(spec.nodeSelector, `${field}.nodeSelector`),
    ...validateSecurity(spec, `${field}.securityContext`),
    ...validateAffinities(spec, field),
  );
  if (spec.dnsPolicy === 'None' && !spec.dnsConfig?.nameservers?.length) {
    found.push(
      spec.dnsConfig
        ? required(
            `${field}.dnsConfig.nameservers`,
            'must provide at least one DNS nameserver when `dnsPolicy` is None',
          )
        : required(`${field}.dnsConfig`, 'must provide `dnsConfig` when `dnsPolicy` is None'),
    );
  }
  found.push(...validateSpreading(spec, field));
  for (const [member, rule] of [
    ['serviceAccountName', dns1123Subdomain],
    ['nodeName', dns1123Subdomain],
  ] as const) {
    const value = spec[member];
    if (value) found.push(...invalidBy(`${field}.${member}`, value, rule(value)));
  }
  found.push(...validateDeadline(spec.activeDeadlineSeconds, `${field}.activeDeadlineSeconds`));
  for (const member of ['hostname', 'subdomain'] as const) {
    const value = spec[member];
    if (value) found.push(...invalidBy(`${field}.${member}`, value, dns1123Label(value)));
  }
  found.push(...validateTolerations(spec.tolerations ?? [], `${field}.tolerations`));
  for (const [index, { ip, hostnames = [] }] of (spec.hostAliases ?? []).entries()) {
    const at = `${field}.hostAliases[${index}]`;
    found.push(...validateAddress(`${at}.ip`, ip));
    for (const [number, name] of hostnames.entries()) {
      found.push(...invalidBy(`${at}.hostnames[${number}]`, name, dns1123Subdomain(name)));
    }
  }
  if (spec.priorityClassName) {
    found.push(
      ...invalidBy(`${field}.priorityClassName`, spec.priorityClassName, dns1123Subdomain(spec.priorityClassName)),
    );
  }
  if (spec.preemptionPolicy !== undefined && !preemptionPolicies.includes(spec.preemptionPolicy)) {
    found.push(notSupported(`${field}.preemptionPolicy`, spec.preemptionPolicy, preemptionPolicies));
  }
  return found;
}

/** The checks of a template. */
export const validatePodTemplate = ({ metadata, spec }: PodTemplate, field: string): FieldError[] => [
  ...validateLabels(metadata.labels, `${field}.labels`),
  ...validateAnnotations(metadata.annotations, `${field}.annotations`),
  ...validatePodSpec(spec, `${field}.spec`),
  ...(spec.ephemeralContainers?.length
    ? [forbiddenField(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]
    : []),
];

const specOf = (pod: KubeObject): PodSpec => pod.spec as PodSpec;

/** What is asked of pods and not of templates. */
function validateBeyondTemplate(spec: PodSpec): FieldError[] {
  const found: FieldError[] = [];
  if (!spec.serviceAccountName) {
    for (const [index, volume] of (spec.volumes ?? []).entries()) {
      for (const [source, projection] of (volume.projected?.sources ?? []).entries()) {
        if (projection.serviceAccountToken) {
          found.push(
            forbiddenField(
              `spec.volumes[${index}].projected.sources[${source}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          );
        }
      }
    }
  }
  for (const member of ['containers', 'initContainers'] as const) {
    for (const [index, { image }] of (spec[member] ?? []).entries()) {
      if (image && image.trim() !== image) {
        found.push(
          invalidValue(`spec.${member}[${index}].image`, image, 'must not have leading or trailing whitespace'),
        );
      }
    }
  }
  return found;
}

/** The checks of a new pod. */
export function validatePod(pod: KubeObject): FieldError[] {
  const spec = specOf(pod);
  const found = [...validatePodSpec(spec, 'spec'), ...validateBeyondTemplate(spec)];
  if (spec.ephemeralContainers?.length) {
    found.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'));
  }
  if (spec.nodeName && spec.schedulingGates?.length) {
    found.push(forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  return found;
}

const sameContainers = (containers: Container[] | null | undefined, old: Container[] | null | undefined): boolean =>
  (containers ?? []).length === (old ?? []).length;

function validateAddedTolerations(tolerations: readonly Toleration[], old: readonly Toleration[]): FieldError[] {
  const kept = old.every((one) =>
    tolerations.some(({ tolerationSeconds: _, ...other }) => {
      const { tolerationSeconds: __, ...rest } = one;
      return isDeepStrictEqual(rest, other);
    }),
  );
  return kept
    ? []
    : [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

/** A spec as it was, but for what an update may change. */
function unchangeable(spec: PodSpec, old: PodSpec): PodSpec {
  const images = (
    containers: Container[] | null | undefined,
    before: Container[] | null | undefined,
  ): Container[] | undefined =>
    containers?.map((container, index) => {
      const image = before?.[index]?.image;
      return { ...container, ...(image === undefined ? {} : { image }) };
    });
  const { activeDeadlineSeconds: _, tolerations: __, schedulingGates: ___, ...rest } = spec;
  const result: PodSpec = { ...rest, containers: images(spec.containers, old.containers) ?? null };
  const init = images(spec.initContainers, old.initContainers);
  if (init) result.initContainers = init;
  for (const member of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates'] as const) {
    if (old[member] !== undefined) Object.assign(result, { [member]: old[member] });
  }
  if (old.schedulingGates?.length) {
    // While gated, node selector and affinity may be narrowed.
    if (old.nodeSelector) result.nodeSelector = old.nodeSelector;
    else delete result.nodeSelector;
    if (old.affinity) result.affinity = old.affinity;
    else delete result.affinity;
  }
  return result;
}

const changeable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** The checks of an updated pod. */
export function validatePodUpdate(pod: KubeObject, oldPod: KubeObject): FieldError[] {
  const spec = specOf(pod);
  const old = specOf(oldPod);
  const found = [...validatePodSpec(spec, 'spec'), ...validateBeyondTemplate(spec)];
  for (const member of ['containers', 'initContainers'] as const) {
    if (!sameContainers(spec[member], old[member])) {
      return [...found, forbiddenField(`spec.${member}`, 'pod updates may not add or remove containers')];
    }
  }
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined) {
    if (old.activeDeadlineSeconds !== undefined && old.activeDeadlineSeconds < deadline) {
      return [
        ...found,
        invalidValue('spec.activeDeadlineSeconds', deadline, 'must be less than or equal to previous value'),
      ];
    }
  } else if (old.activeDeadlineSeconds !== undefined) {
    found.push(
      invalidValue('spec.activeDeadlineSeconds', null, 'must not update from a positive integer to nil value'),
    );
  }
  found.push(...validateAddedTolerations(spec.tolerations ?? [], old.tolerations ?? []));
  if (!isDeepStrictEqual(unchangeable(spec, old), old)) found.push(forbiddenField('spec', changeable));
  return found;
}

/** The checks of the way that adds ephemeral containers: those that are there may not change. */
export function validateEphemeralUpdate(pod: KubeObject, oldPod: KubeObject): FieldError[] {
  const spec = specOf(pod);
  const old = specOf(oldPod);
  const found = validatePodSpec(spec, 'spec');
  for (const before of old.ephemeralContainers ?? []) {
    const after = spec.ephemeralContainers?.find(({ name }) => name === before.name);
    if (!after) {
      found.push(
        forbiddenField(
          'spec.ephemeralContainers',
          `existing ephemeral containers ${JSON.stringify(before.name)} may not be removed\n`,
        ),
      );
    } else if (!isDeepStrictEqual(after, before)) {
      found.push(
        forbiddenField(
          'spec.ephemeralContainers',
          `existing ephemeral containers ${JSON.stringify(before.name)} may not be changed\n`,
        ),
      );
    }
  }
  return found;
}
