// Label selectors as objects: whether they are well formed, and whether they match.
import { forbiddenField, invalidBy, invalidValue, required } from '../schema/field-errors.ts';
import { labelValue, qualifiedName } from '../schema/names.ts';
import type { FieldError } from '../status.ts';
import { validateLabels } from './metadata.ts';
import type { LabelSelector } from './pod/pod-spec.ts';

const setOperators = ['In', 'NotIn'];
const existenceOperators = ['Exists', 'DoesNotExist'];

function validateRequirement(
  { key, operator, values = [] }: { key: string; operator: string; values?: string[] },
  field: string,
): FieldError[] {
  const found: FieldError[] = [];
  if (setOperators.includes(operator)) {
    if (values.length === 0) {
      found.push(required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (existenceOperators.includes(operator)) {
    if (values.length > 0) {
      found.push(
        forbiddenField(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
    }
  } else found.push(invalidValue(`${field}.operator`, operator, 'not a valid selector operator'));
  found.push(...invalidBy(`${field}.key`, key, qualifiedName(key)));
  for (const [index, value] of values.entries()) {
    found.push(...invalidBy(`${field}.values[${index}]`, value, labelValue(value)));
  }
  return found;
}

export function validateSelector(selector: LabelSelector | null | undefined, field: string): FieldError[] {
  if (!selector) return [];
  return [
    ...validateLabels(selector.matchLabels, `${field}.matchLabels`),
    ...(selector.matchExpressions ?? []).flatMap((expression, index) =>
      validateRequirement(expression, `${field}.matchExpressions[${index}]`),
    ),
  ];
}

export const isEmptySelector = ({ matchLabels, matchExpressions }: LabelSelector): boolean =>
  Object.keys(matchLabels ?? {}).length + (matchExpressions ?? []).length === 0;

/** Whether a well-formed selector matches labels; an empty one matches everything. */
export function selects(selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) if (labels[key] !== value) return false;
  return (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const value = labels[key];
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      default:
        return value === undefined;
    }
  });
}
