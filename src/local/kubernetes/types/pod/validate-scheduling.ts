// Where a pod may run: tolerations, affinity, spreading.
import { forbiddenField, invalidBy, invalidValue, notSupported, required } from '../../schema/field-errors.ts';
import { inRange, labelName, labelValue, qualifiedName } from '../../schema/names.ts';
import type { FieldError } from '../../status.ts';
import { validateSelector } from '../selectors.ts';
import type { Affinity, NodeSelectorTerm, PodAffinityTerm, PodSpec, Toleration } from './pod-spec.ts';

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTolerations(tolerations: readonly Toleration[], field: string): FieldError[] {
  return tolerations.flatMap(({ key = '', operator = '', value = '', effect = '', tolerationSeconds }, index) => {
    const at = `${field}[${index}]`;
    const found = key ? invalidBy(`${at}.key`, key, qualifiedName(key)) : [];
    if (!key && operator !== 'Exists') {
      found.push(
        invalidValue(
          `${at}.operator`,
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      found.push(invalidValue(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (operator === '' || operator === 'Equal') {
      const wrong = labelValue(value);
      if (wrong.length > 0) found.push(invalidValue(`${at}.operator`, value, wrong.join(';')));
    } else if (operator === 'Exists') {
      if (value) found.push(invalidValue(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    } else found.push(notSupported(`${at}.operator`, operator, ['Equal', 'Exists']));
    if (effect && !taintEffects.includes(effect)) found.push(notSupported(`${at}.effect`, effect, taintEffects));
    return found;
  });
}

function validateNodeTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, field: string): FieldError[] {
  const found: FieldError[] = [];
  for (const [index, { key, operator, values = [] }] of matchExpressions.entries()) {
    const at = `${field}.matchExpressions[${index}]`;
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        found.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        found.push(
          forbiddenField(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
      }
    } else if (operator === 'Gt' || operator === 'Lt') {
      if (values.length !== 1) {
        found.push(required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      }
    } else found.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'));
    found.push(...invalidBy(`${at}.key`, key, qualifiedName(key)));
  }
  for (const [index, { key, operator, values = [] }] of matchFields.entries()) {
    const at = `${field}.matchFields[${index}]`;
    if (operator !== 'In' && operator !== 'NotIn') {
      found.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'));
    } else if (values.length !== 1) {
      found.push(
        required(`${at}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"),
      );
    }
    if (key !== 'metadata.name') found.push(invalidValue(`${at}.key`, key, 'not a valid field selector key'));
  }
  return found;
}

function validatePodTerm(term: PodAffinityTerm, field: string): FieldError[] {
  const found = [
    ...validateSelector(term.labelSelector, `${field}.labelSelector`),
    ...validateSelector(term.namespaceSelector, `${field}.namespaceSelector`),
  ];
  for (const name of term.namespaces ?? [])
    found.push(...invalidBy(`${field}.namespace`, name, labelName(name, false)));
  if (!term.topologyKey) found.push(required(`${field}.topologyKey`, 'can not be empty'));
  return [...found, ...invalidBy(`${field}.topologyKey`, term.topologyKey, qualifiedName(term.topologyKey))];
}

const validateWeight = (weight: number, field: string): FieldError[] => {
  const wrong = inRange(weight, 1, 100);
  return wrong.length > 0 ? [invalidValue(`${field}.weight`, weight, 'must be in the range 1-100')] : [];
};

function validateAffinity(affinity: Affinity | undefined, field: string): FieldError[] {
  if (!affinity) return [];
  const found: FieldError[] = [];
  const node = affinity.nodeAffinity;
  const hard = node?.requiredDuringSchedulingIgnoredDuringExecution;
  if (hard) {
    const at = `${field}.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
    if (!hard.nodeSelectorTerms?.length) found.push(required(at, 'must have at least one node selector term'));
    for (const [index, term] of (hard.nodeSelectorTerms ?? []).entries()) {
      found.push(...validateNodeTerm(term, `${at}[${index}]`));
    }
  }
  for (const [index, soft] of (node?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    const at = `${field}.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    found.push(...validateWeight(soft.weight, at), ...validateNodeTerm(soft.preference, `${at}.preference`));
  }
  for (const member of ['podAffinity', 'podAntiAffinity'] as const) {
    const part = affinity[member];
    for (const [index, term] of (part?.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      found.push(
        ...validatePodTerm(term, `${field}.${member}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`),
      );
    }
    for (const [index, soft] of (part?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      const at = `${field}.${member}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
      found.push(...validateWeight(soft.weight, at), ...validatePodTerm(soft.podAffinityTerm, `${at}.podAffinityTerm`));
    }
  }
  return found;
}

const unsatisfiable = ['DoNotSchedule', 'ScheduleAnyway'];

function validateSpread(spec: PodSpec, field: string): FieldError[] {
  return (spec.topologySpreadConstraints ?? []).flatMap((constraint, index) => {
    const at = `${field}[${index}]`;
    const found: FieldError[] = [];
    if (constraint.maxSkew <= 0)
      found.push(invalidValue(`${at}.maxSkew`, constraint.maxSkew, 'must be greater than zero'));
    if (!constraint.topologyKey) found.push(required(`${at}.topologyKey`, 'can not be empty'));
    if (!unsatisfiable.includes(constraint.whenUnsatisfiable)) {
      found.push(notSupported(`${at}.whenUnsatisfiable`, constraint.whenUnsatisfiable, unsatisfiable));
    }
    return [...found, ...validateSelector(constraint.labelSelector, `${at}.labelSelector`)];
  });
}

export const validateAffinities = (spec: PodSpec, field: string): FieldError[] =>
  validateAffinity(spec.affinity, `${field}.affinity`);

export const validateSpreading = (spec: PodSpec, field: string): FieldError[] =>
  validateSpread(spec, `${field}.topologySpreadConstraints`);
