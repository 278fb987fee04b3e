// One wrong member of a body, in the words of Kubernetes' field errors, and several of them as one ARM error.
import { ArmError, type ErrorBody } from './errors.ts';

export interface FieldError {
  /** Where: `properties.network.podCidr`, `properties.workerProfiles[0].name`, `tags[some key]`. Empty for the whole body. */
  readonly target: string;
  readonly message: string;
}

const shownMaxLength = 128;

/** Nobody counts further: whoever collects errors may stop at one more. */
export const countedMax = 1000;

/** The message forms. `value` is the caller's; pass undefined for a secret one. */
export const fieldMessage = {
  required: (detail?: string) => (detail === undefined ? 'Required value' : `Required value: ${detail}`),
  invalid: (value: unknown, detail: string) => `Invalid value: ${show(value)}: ${detail}`,
  forbidden: (detail: string) => `Forbidden: ${detail}`,
  unsupported: (value: unknown, supported: readonly unknown[]) =>
    `Unsupported value: ${show(value)}: supported values: ${supported.map((item) => show(item)).join(', ')}`,
  tooLong: (maxLength: number) => `Too long: may not be more than ${maxLength} characters`,
  tooMany: (count: number, max: number) => `Too many: ${count}: must have at most ${max} items`,
  duplicate: (value: unknown) => `Duplicate value: ${show(value)}`,
} as const;

/** A value as a message may show it: JSON, shortened; objects and arrays by their kind only. */
export function show(value: unknown): string {
  if (value === undefined) return '[redacted]';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object' && value !== null) return 'object';
  if (typeof value === 'string' && value.length > shownMaxLength) {
    return `${JSON.stringify(value.slice(0, shownMaxLength).toWellFormed())}… (${value.length} characters)`;
  }
  // JSON has no word for a number too large for it.
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}

/** The place of a member inside a place. Names with characters of the path's own syntax go in brackets. */
export function memberOf(target: string, name: string): string {
  const shown = name.length > shownMaxLength ? `${name.slice(0, shownMaxLength)}…` : name;
  if (!/^[^.[\]/\s]+$/.test(name)) return `${target}[${shown}]`;
  return target === '' ? shown : `${target}.${shown}`;
}

/** One error is itself, as InvalidRequestContent; several are MultipleErrorsOccurred with details, of which at most `max` are named. */
export function fieldErrors(errors: readonly [FieldError, ...FieldError[]], max = 100): ArmError {
  const [first] = errors;
  if (errors.length === 1) {
    return new ArmError(
      400,
      'InvalidRequestContent',
      first.message,
      first.target === '' ? {} : { target: first.target },
    );
  }
  const details: ErrorBody[] = errors.slice(0, max).map(({ target, message }) => ({
    code: 'InvalidRequestContent',
    message,
    ...(target === '' ? {} : { target }),
  }));
  const more = errors.length > max ? `, of which the first ${max} are listed` : '';
  const count = errors.length > countedMax ? `more than ${countedMax}` : String(errors.length);
  return new ArmError(400, 'MultipleErrorsOccurred', `${count} errors occurred${more}`, { details });
}
