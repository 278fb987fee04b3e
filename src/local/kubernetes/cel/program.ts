// What a compiled expression is made of.
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Budget } from './budget.ts';
import type { Functions, Overload } from './overloads.ts';
import type { CelType } from './types.ts';
import { CelError, type CelValue, CostError, isMapping, List } from './values.ts';

/** Variables, the innermost last. */
export interface Frame {
  readonly values: ReadonlyMap<string, CelValue>;
  readonly budget: Budget;
}

export interface Compiled {
  readonly type: CelType;
  /** Of calls, what is called: one overload, or all that may be where types are only known when it runs. */
  readonly calls?: { readonly name: string; readonly overloads: readonly Overload[] };
  readonly run: (frame: Frame) => CelValue;
}

export interface Scope {
  readonly functions: Functions;
  readonly variables: ReadonlyMap<string, CelType>;
  /** Names that were used. */
  readonly used: Set<string>;
  /** The text of the expression. */
  readonly source: string;
  /** Takes what was found out of each node, where somebody wants to know. */
  readonly checked?: Map<ASTNode, Compiled>;
}

/** Something wrong with an expression, and where. */
export class CheckError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export const withVariable = (scope: Scope, name: string, type: CelType): Scope => ({
  ...scope,
  variables: new Map(scope.variables).set(name, type),
});

export const bind = (frame: Frame, name: string, value: CelValue): Frame => ({
  ...frame,
  values: new Map(frame.values).set(name, value),
});

/** A member; undefined where there is none, as of anything that has no members. */
export function member(value: CelValue, name: string): CelValue | undefined {
  if (isMapping(value)) return value.get(name);
  if (value instanceof List) throw new CelError("unsupported index type 'string' in list");
  return undefined;
}

/** A value, or the error instead of one. */
export function attempt({ run }: Pick<Compiled, 'run'>, frame: Frame): CelValue | CelError {
  try {
    return run(frame);
  } catch (error) {
    if (!(error instanceof CelError) || error instanceof CostError) throw error;
    return error;
  }
}
