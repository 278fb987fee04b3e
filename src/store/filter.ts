/** Member names from the top of a document's body: `['properties', 'provisioningState']`. */
export type Path = readonly string[];

/** What a filter or an order looks at: a place in the body, or the document's id. */
export type Field = Path | 'id';

export type Scalar = string | number | boolean;

export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/**
 * A condition on documents, as data. Every condition is true or false, never unknown: a comparison with a missing member, a
 * null, or a value of another JSON type is false, and `not` of that is true. Strings compare by their UTF-8 bytes.
 */
export type Filter =
  | { readonly op: 'eq' | 'ne'; readonly field: Field; readonly value: Scalar }
  | { readonly op: 'in'; readonly field: Field; readonly values: readonly Scalar[] }
  | { readonly op: 'lt' | 'le' | 'gt' | 'ge'; readonly field: Field; readonly value: string | number }
  /** Both ends included. */
  | { readonly op: 'between'; readonly field: Field; readonly low: string | number; readonly high: string | number }
  | { readonly op: 'prefix'; readonly field: Field; readonly value: string }
  /** SQL patterns: `%` any run, `_` one character, `\` takes the next literally. `ilike` ignores the case of A to Z only. */
  | { readonly op: 'like' | 'ilike'; readonly field: Field; readonly pattern: string }
  /** Missing or null. */
  | { readonly op: 'isNull'; readonly field: Path }
  /**
   * The value there holds at least this: members of objects recursively, array elements in any order, scalars equal.
   * An empty path is the whole body.
   */
  | { readonly op: 'contains'; readonly field: Path; readonly value: Json }
  /** On the container's declared labels. */
  | { readonly op: 'label'; readonly key: string; readonly value: string }
  | { readonly op: 'labelIn'; readonly key: string; readonly values: readonly string[] }
  | { readonly op: 'hasLabel'; readonly key: string }
  | { readonly op: 'not'; readonly filter: Filter }
  | { readonly op: 'and' | 'or'; readonly filters: readonly Filter[] };

/** Values of another type than the one named, and missing ones, come first in ascending order. */
export interface OrderBy {
  readonly field: Field;
  readonly type: 'string' | 'number';
  readonly direction?: 'ascending' | 'descending';
}
