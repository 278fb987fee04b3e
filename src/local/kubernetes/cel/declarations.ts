import type { Schema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
export function validateRuleDeclarations(_schema: Schema, _path: string): FieldError[] {
  return [];
}
