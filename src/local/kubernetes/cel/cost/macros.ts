// What macros cost: each is a loop over a list or map that builds up its result.
import type { ASTNode } from '@marcbachmann/cel-js';
import { type CelType, dyn, optionalOf } from '../types.ts';
import { eitherOf, fixedSize, listBase, mapBase, type Size, times } from './amounts.ts';
import { extend } from './field-paths.ts';
import { type Entries, type Estimating, knownSize, sizeOf, type Term, typeOf } from './term.ts';

type Call = Extract<ASTNode, { op: 'call' | 'rcall' }>;

interface Loop {
  /** Of what is there before the first item. */
  readonly start: number;
  /** Of each item, besides the expressions that the macro is given. */
  readonly step: number;
  /** Of the result when all is done. */
  readonly end: number;
  /** How many of the macro's arguments are expressions. */
  readonly bodies: 1 | 2;
  readonly makes: 'value' | 'list' | 'map';
}

const quantifier = { start: 0, end: 1, bodies: 1, makes: 'value' } as const;
const all: Loop = { ...quantifier, step: 3 };
const exists: Loop = { ...quantifier, step: 4 };
const existsOne: Loop = { ...quantifier, step: 2, end: 2 };
// Each item is put into a list of its own, which is added to the result.
const made: Loop = { start: listBase, step: listBase + 2, end: 1, bodies: 1, makes: 'list' };
const filter: Loop = { ...made, step: listBase + 3 };
const transformMap: Loop = { start: mapBase, step: 3, end: 1, bodies: 1, makes: 'map' };

/** By name and number of arguments. */
const loops: ReadonlyMap<string, Loop> = new Map([
  ['all/2', all],
  ['all/3', all],
  ['exists/2', exists],
  ['exists/3', exists],
  ['exists_one/2', existsOne],
  ['existsOne/2', existsOne],
  ['exists_one/3', existsOne],
  ['existsOne/3', existsOne],
  ['filter/2', filter],
  ['map/2', made],
  ['map/3', { ...made, bodies: 2 }],
  ['transformList/3', made],
  ['transformList/4', { ...made, bodies: 2 }],
  ['transformMap/3', transformMap],
  ['transformMap/4', { ...transformMap, bodies: 2 }],
]);

/** The term of a macro; undefined for calls of functions. */
export function costOfMacro(node: Call, type: CelType, within: Estimating): Term | undefined {
  if (node.op === 'call') return node.args[0] === 'has' ? presence(node.args[1], type, within) : undefined;
  const [name, target, args] = node.args;
  if (within.nodes.get(node)?.calls) return undefined;
  if (name === 'bind' && args.length === 3) return binding(args, type, within);
  if (name === 'optMap' || name === 'optFlatMap') return optionalMap(node, type, within);
  const loop = loops.get(`${name}/${args.length}`);
  return loop && walk(loop, name, target, args, type, within);
}

/** Asking whether a member is there costs nothing more than what has it. */
function presence(args: readonly ASTNode[], type: CelType, within: Estimating): Term {
  const [argument] = args;
  return { cost: argument?.op === '.' ? within.estimate(argument.args[0], within).cost : 0, type, size: fixedSize(1) };
}

const withVariable = (within: Estimating, name: string, term: Term): Estimating => ({
  ...within,
  variables: new Map(within.variables).set(name, term),
});

const nameOf = (node: ASTNode | undefined): string => (node?.op === 'id' ? node.args : '');

function enter(loop: Loop, args: readonly ASTNode[], range: Term, within: Estimating): Estimating {
  const isList = (range.entries?.of ?? range.type.kind) === 'list';
  const variable = (kind: 'key' | 'value'): Term => {
    const step = kind === 'key' ? (isList ? '@indices' : '@keys') : isList ? '@items' : '@values';
    return { cost: 1, type: dyn, path: extend(range.path, step), otherwise: range.entries?.[kind] };
  };
  if (args.length - loop.bodies === 1) {
    return withVariable(within, nameOf(args[0]), variable(isList ? 'value' : 'key'));
  }
  return withVariable(withVariable(within, nameOf(args[0]), variable('key')), nameOf(args[1]), variable('value'));
}

function walk(
  loop: Loop,
  name: string,
  target: ASTNode,
  args: readonly ASTNode[],
  type: CelType,
  within: Estimating,
): Term {
  const range = within.estimate(target, within);
  const inner = enter(loop, args, range, within);
  const bodies = args.slice(-loop.bodies).map((arg) => inner.estimate(arg, inner));
  const result = bodies.at(-1);
  const item = name === 'filter' ? within.estimate(args[0] ?? target, inner) : result;
  const itemSize = item && knownSize(item, inner);
  const step = bodies.reduce((sum, { cost }) => sum + cost, loop.step);
  // Looked up after what is done with the items, as the path may have changed meanwhile.
  const count = knownSize(range, within);
  return {
    cost: range.cost + loop.start + times(count.most, step) + loop.end,
    type,
    size: loop.makes === 'value' ? fixedSize(1) : count,
    entries: loop.makes === 'list' && itemSize ? entriesOf(itemSize) : undefined,
  };
}

const entriesOf = (item: Size): Entries => ({ of: 'list', key: fixedSize(1), value: eitherOf(fixedSize(0), item) });

/** The term of what has a name from here on. */
const bound = (term: Term, { root }: Estimating): Term => ({
  cost: 1,
  type: term.type,
  path: term.path,
  otherwise: sizeOf(term, root),
  entries: term.entries,
});

function binding(args: readonly ASTNode[], type: CelType, within: Estimating): Term {
  const [name, given, expression] = args;
  if (!given || !expression) return { cost: 0, type };
  const value = within.estimate(given, within);
  const result = within.estimate(expression, withVariable(within, nameOf(name), bound(value, within)));
  return { ...result, cost: listBase + value.cost + result.cost, size: sizeOf(result, within.root) };
}

/** The optional is asked for its value twice: whether there is one, and for it. */
function optionalMap(node: Extract<Call, { op: 'rcall' }>, type: CelType, within: Estimating): Term {
  const [name, target, [variable, expression]] = node.args;
  if (!expression) return { cost: 0, type };
  const optional = within.estimate(target, within);
  const of = typeOf(target, within);
  const content: Term = { cost: 1 + optional.cost, type: of.kind === 'optional' ? of.of : dyn };
  const result = within.estimate(expression, withVariable(within, nameOf(variable), bound(content, within)));
  const wrapped = name === 'optMap' ? 1 : 0;
  const found = wrapped + listBase + content.cost + result.cost;
  const whole: Term = { cost: 1 + optional.cost + Math.max(found, 1), type: wrapped ? optionalOf(result.type) : type };
  const size = wrapped ? sizeOf(whole, within.root) : sizeOf(result, within.root);
  return { ...whole, size };
}
