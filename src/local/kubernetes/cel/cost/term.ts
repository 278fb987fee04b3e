// What an estimate knows of a part of an expression.
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Compiled } from '../program.ts';
import { type CelType, dyn } from '../types.ts';
import { type Size, unknownSize } from './amounts.ts';
import { type Declared, sizeAt } from './declared-sizes.ts';
import type { FieldPath } from './field-paths.ts';

/** How large the keys and values of a list or map that the expression itself makes are. */
export interface Entries {
  readonly of: 'list' | 'map';
  readonly key: Size;
  readonly value: Size;
}

export interface Term {
  /** Of the part and all within it. */
  readonly cost: number;
  readonly type: CelType;
  readonly path?: FieldPath | undefined;
  /** Where it is not to be looked up. */
  readonly size?: Size | undefined;
  /** Where nothing else tells the size. */
  readonly otherwise?: Size | undefined;
  readonly entries?: Entries | undefined;
}

const scalars: ReadonlySet<CelType['kind']> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);

const isScalar = (type: CelType): boolean => (type.kind === 'optional' ? isScalar(type.of) : scalars.has(type.kind));

/** The size of a term; undefined where nothing is known of it. */
export function sizeOf({ size, path, type, otherwise }: Term, root: Declared): Size | undefined {
  return size ?? (path && sizeAt(root, path)) ?? (isScalar(type) ? { least: 1, most: 1 } : otherwise);
}

/** What an estimate is made with. */
export interface Estimating {
  readonly nodes: ReadonlyMap<ASTNode, Compiled>;
  /** What is declared of `self`. */
  readonly root: Declared;
  /** Variables that macros bring. */
  readonly variables: ReadonlyMap<string, Term>;
  readonly estimate: (node: ASTNode, within: Estimating) => Term;
}

export const typeOf = (node: ASTNode, { nodes }: Estimating): CelType => nodes.get(node)?.type ?? dyn;
export const knownSize = (term: Term, { root }: Estimating): Size => sizeOf(term, root) ?? unknownSize;
