// Numbers and percentages in the fields of objects.
import { invalidBy, invalidValue } from '../schema/field-errors.ts';
import { percentage } from '../schema/names.ts';
import type { FieldError } from '../status.ts';

export const nonNegative = (field: string, value: number | undefined): FieldError[] =>
  value !== undefined && value < 0 ? [invalidValue(field, value, 'must be greater than or equal to 0')] : [];

export type IntOrPercent = number | string;

/** A number from 0, or a percentage. */
export const validateIntOrPercent = (field: string, value: IntOrPercent): FieldError[] =>
  typeof value === 'string' ? invalidBy(field, value, percentage(value)) : nonNegative(field, value);

export const notOver100Percent = (field: string, value: IntOrPercent): FieldError[] =>
  typeof value === 'string' && percentage(value).length === 0 && Number(value.slice(0, -1)) > 100
    ? [invalidValue(field, value, 'must not be greater than 100%')]
    : [];

/** The number of a number or percentage, to compare with zero. */
export const amount = (value: IntOrPercent): number =>
  typeof value === 'number' ? value : Number(value.replace('%', ''));
