import type { JsonValue } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
export function validateRules(
  _schema: Schema,
  _value: JsonValue,
  _old: JsonValue | undefined,
): (() => FieldError[]) | undefined {
  return undefined;
}
