// Schema helpers whose JSON is structural (usable in a CRD) and valid OpenAPI 3.0, where TypeBox's own are not.
import type { Static, TSchema, TUnsafe } from 'typebox';
import { Type } from './type.ts';

interface Annotations {
  readonly description?: string;
  readonly default?: unknown;
  /** A value of it never stands in a message or a log. */
  readonly 'x-ms-secret'?: true;
}

/** One of these texts: `{type: 'string', enum: […]}` instead of a union of constants. */
export function Enum<const T extends readonly [string, ...string[]]>(
  values: T,
  annotations: Annotations = {},
): TUnsafe<T[number]> {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...annotations });
}

/** The same, or null: `nullable: true` instead of a union with null. */
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  return Type.Unsafe<Static<T> | null>({ ...schema, nullable: true });
}

/** Any member names, each with such a value: `additionalProperties` instead of `patternProperties`. */
export function MapOf<T extends TSchema>(
  value: T,
  annotations: Annotations & { readonly maxProperties?: number } = {},
): TUnsafe<Record<string, Static<T>>> {
  return Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: value, ...annotations });
}

/** Text that is never shown: a password, a pull secret. */
export function SecretText(annotations: Annotations & { readonly maxLength?: number } = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', 'x-ms-secret': true, ...annotations });
}
