// TypeBox's constructors that request schemas are made of. They give the same JSON Schema and the same static types, without loading
// the library: it is hundreds of modules, which a process that may never see a body would read before it is ready.
import type { TSchema, Type as TypeBox } from 'typebox';

type Used =
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Intersect'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe';

interface Options {
  readonly [keyword: string]: unknown;
}

/** Marks a member that may be left out. Not enumerable, so that it is no part of the JSON. */
const optionalMark = '~optional';

const constructors = {
  Array: (items: TSchema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Intersect: (allOf: readonly TSchema[], options?: Options) => ({ allOf, ...options }),
  Literal: (value: string | number | boolean, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Options) => ({ type: 'null', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Object(properties: { readonly [name: string]: TSchema }, options?: Options) {
    const required = Object.keys(properties).filter((name) => !(optionalMark in (properties[name] ?? {})));
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
  },
  Optional: (schema: TSchema) => Object.defineProperty({ ...schema }, optionalMark, { value: true }),
  /** By any text as name. */
  Record: (_names: TSchema, value: TSchema, options?: Options) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  String: (options?: Options) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly TSchema[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: TSchema) => ({ ...schema }),
} satisfies { readonly [name in Used]: unknown };

/** To be used as TypeBox's own `Type`. What is special about the library's objects is not there: compile through check-body.ts. */
export const Type = constructors as unknown as Pick<typeof TypeBox, Used>;
