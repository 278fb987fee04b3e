// What an expression costs at most, found without running it: the work of each part, and of what is done with every item of a list
// or map that of as many items as its schema allows. Estimates are those of the real server, to the unit.
import type { ASTNode } from '@marcbachmann/cel-js';
import type { CheckedExpression } from '../expression.ts';
import { type CelType, dyn } from '../types.ts';
import { eitherOf, fixedSize, listBase, mapBase, type Size, unknownSize } from './amounts.ts';
import { type Call, callCost, type Operand } from './calls.ts';
import type { Declared } from './declared-sizes.ts';
import { extend, pathOf } from './field-paths.ts';
import { costOfMacro } from './macros.ts';
import { type Entries, type Estimating, knownSize, sizeOf, type Term, typeOf } from './term.ts';

/** The most that an expression costs, given what is declared of `self`. */
export const estimateCost = ({ tree, nodes }: CheckedExpression, root: Declared): number =>
  estimate(tree, { nodes, root, variables: new Map(), estimate }).cost;

function estimate(node: ASTNode, within: Estimating): Term {
  const type = typeOf(node, within);
  switch (node.op) {
    case 'value':
      return { cost: 0, type, size: literalSize(node.args) };
    case 'id':
      return identifier(node.args, type, within);
    case '.':
      return selection(node, type, within);
    case '.?':
      return computed({ cost: 1 + estimate(node.args[0], within).cost, type }, within);
    case '[]':
    case '[?]':
      return indexing(node, type, within);
    case 'call':
      return costOfMacro(node, type, within) ?? called(node, undefined, node.args[1], type, within);
    case 'rcall':
      return costOfMacro(node, type, within) ?? methodCall(node, type, within);
    case 'list':
      return listLiteral(node.args, type, within);
    case 'map':
      return mapLiteral(node.args, type, within);
    case '?:':
      return conditional(node.args, type, within);
    case '&&':
    case '||':
      return { cost: node.args.reduce((sum, side) => sum + estimate(side, within).cost, 0), type, size: fixedSize(1) };
    case '!_':
    case '-_':
      return unary(node, type, within);
    default:
      return called(node, undefined, node.args, type, within);
  }
}

function literalSize(value: unknown): Size {
  if (typeof value === 'string') return fixedSize([...value].length);
  return fixedSize(value instanceof Uint8Array ? value.length : 1);
}

const identifier = (name: string, type: CelType, { variables }: Estimating): Term => {
  const variable = variables.get(name);
  return variable ? { ...variable, cost: 1, type } : { cost: 1, type, path: pathOf(name) };
};

function selection(node: Extract<ASTNode, { op: '.' }>, type: CelType, within: Estimating): Term {
  const [target, name] = node.args;
  // The name of a type.
  if (!within.nodes.has(target)) return { cost: 1, type, path: pathOf(name) };
  const of = estimate(target, within);
  const step = of.type.kind === 'map' || of.type.kind === 'object' ? 1 : 0;
  return { cost: of.cost + step, type, path: extend(of.path, name) };
}

/** A term of which the size is looked up at once, as that of calls is. */
const computed = (term: Term, { root }: Estimating): Term => ({ ...term, size: sizeOf(term, root) });

function indexing(node: Extract<ASTNode, { op: '[]' | '[?]' }>, type: CelType, within: Estimating): Term {
  const [target, key] = node.args;
  const of = estimate(target, within);
  const cost = 1 + of.cost + estimate(key, within).cost;
  if (type.kind === 'optional' && (node.op === '[?]' || of.type.kind === 'optional')) {
    return computed({ cost, type }, within);
  }
  const overloads = within.nodes.get(node)?.calls?.overloads ?? [];
  const step = overloads.at(-1)?.params[0]?.kind === 'map' ? '@values' : '@items';
  const item: Term = { cost, type, path: extend(of.path, step) };
  return { ...item, size: of.entries?.value ?? sizeOf(item, within.root) };
}

function unary(node: Extract<ASTNode, { op: '!_' | '-_' }>, type: CelType, within: Estimating): Term {
  const { args: inner } = node;
  // A sign is part of the number, and two of the same kind are none, unless there is a bracket between.
  if (!node.input.slice(node.start, inner.start).includes('(')) {
    if (node.op === '-_' && inner.op === 'value') return estimate(inner, within);
    if (inner.op === node.op) return estimate(inner.args, within);
  }
  return computed({ cost: 1 + estimate(inner, within).cost, type }, within);
}

function methodCall(node: Extract<ASTNode, { op: 'rcall' }>, type: CelType, within: Estimating): Term {
  const [, target, args] = node.args;
  // What stands before the dot may be part of a function's name.
  return called(node, within.nodes.has(target) ? target : undefined, args, type, within);
}

function called(
  node: ASTNode,
  receiver: ASTNode | undefined,
  given: readonly ASTNode[],
  type: CelType,
  within: Estimating,
): Term {
  const args = given.map((arg): readonly [Term, Operand] => {
    const term = estimate(arg, within);
    return [term, operand(term, arg, within)];
  });
  const { name = '', overloads = [] } = within.nodes.get(node)?.calls ?? {};
  const [first] = args;
  if (name === 'dyn' && first) {
    const [{ cost, entries }, { known, size }] = first;
    return { cost: 1 + cost, type, entries, size: known ? size : undefined };
  }
  const target = receiver && estimate(receiver, within);
  const call: Call = {
    target: target && operand(target, receiver, within),
    args: args.map(([, each]) => each),
  };
  const costs = overloads.map((overload) => callCost(name, overload, call));
  const sizes = costs.flatMap(({ size }) => (size ? [size] : []));
  const term: Term = {
    cost:
      args.reduce((sum, [{ cost }]) => sum + cost, target?.cost ?? 0) + Math.max(0, ...costs.map(({ cost }) => cost)),
    type,
    entries: name === '_+_' ? eitherEntries(args.map(([{ entries }]) => entries)) : undefined,
  };
  return sizes.length > 0 ? { ...term, size: sizes.reduce(eitherOf) } : computed(term, within);
}

function operand(term: Term, node: ASTNode, within: Estimating): Operand {
  const size = sizeOf(term, within.root);
  const { path } = term;
  return {
    type: term.type,
    size: size ?? unknownSize,
    known: size !== undefined,
    literal: literalNumber(node),
    item() {
      // Not added to the path itself: this one shares nothing.
      const own = path && { ...path, slots: path.slots.slice(0, path.length), capacity: path.length };
      return knownSize({ cost: 0, type: dyn, path: own && extend(own, '@items') }, within);
    },
  };
}

function literalNumber(node: ASTNode): number | undefined {
  if (node.op === '-_') {
    const number = literalNumber(node.args);
    return number === undefined ? undefined : -number;
  }
  return node.op === 'value' && typeof node.args === 'bigint' ? Number(node.args) : undefined;
}

/** The sizes of keys and values of either; unknown where those of one are. */
function eitherEntries(all: readonly (Entries | undefined)[]): Entries | undefined {
  return all.reduce(
    (one, other) =>
      one && other && { of: one.of, key: eitherOf(one.key, other.key), value: eitherOf(one.value, other.value) },
  );
}

const sizesTogether = (sizes: readonly Size[]): Size => (sizes.length === 0 ? fixedSize(0) : sizes.reduce(eitherOf));

function listLiteral(items: readonly ASTNode[], type: CelType, within: Estimating): Term {
  let cost = listBase;
  const sizes = items.map((item) => {
    const term = estimate(item, within);
    cost += term.cost;
    return knownSize(term, within);
  });
  const entries: Entries = { of: 'list', key: fixedSize(1), value: sizesTogether(sizes) };
  return { cost, type, size: fixedSize(items.length), entries };
}

function mapLiteral(entries: readonly (readonly [ASTNode, ASTNode])[], type: CelType, within: Estimating): Term {
  let cost = mapBase;
  const sizeOfPart = (node: ASTNode): Size => {
    const term = estimate(node, within);
    cost += term.cost;
    return knownSize(term, within);
  };
  const sizes = entries.map(([key, value]) => [sizeOfPart(key), sizeOfPart(value)] as const);
  return {
    cost,
    type,
    size: fixedSize(entries.length),
    entries: {
      of: 'map',
      key: sizesTogether(sizes.map(([key]) => key)),
      value: sizesTogether(sizes.map(([, value]) => value)),
    },
  };
}

function conditional(nodes: readonly ASTNode[], type: CelType, within: Estimating): Term {
  const [test, yes, no] = nodes.map((node) => {
    const term = estimate(node, within);
    return { ...term, size: knownSize(term, within) };
  });
  if (!test || !yes || !no) return { cost: 0, type };
  return {
    cost: test.cost + Math.max(yes.cost, no.cost),
    type,
    size: eitherOf(yes.size, no.size),
    entries: eitherEntries([yes.entries, no.entries]),
  };
}
