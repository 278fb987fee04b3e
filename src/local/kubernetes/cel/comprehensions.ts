// Macros: calls whose arguments are not values but what is to be done with each item.
import type { ASTNode } from '@marcbachmann/cel-js';
import { placeOf } from './places.ts';
import { attempt, bind, CheckError, type Compiled, type Frame, member, type Scope, withVariable } from './program.ts';
import { bool, type CelType, dyn, int, listOf, mapOf, optionalOf, typeText } from './types.ts';
import { CelError, type CelValue, isMapping, List, Optional, PlainMap } from './values.ts';

type Compile = (node: ASTNode, scope: Scope) => Compiled;
type Call = Extract<ASTNode, { op: 'call' | 'rcall' }>;

/** One item of what is walked through: `first` is the item of a list or the key of a map, `second` what is found there. */
interface Each {
  readonly key: CelValue;
  readonly value: CelValue;
}

function* walk(range: CelValue): Generator<Each> {
  if (range instanceof List) {
    for (const [index, value] of range.items.entries()) yield { key: BigInt(index), value };
  } else if (isMapping(range)) {
    for (const key of range.keys()) yield { key, value: range.get(key) ?? null };
  } else throw new CelError('no such overload');
}

/** The types of the key and the value of what is walked through. */
function rangeTypes(type: CelType, node: ASTNode): { key: CelType; value: CelType; list: boolean | undefined } {
  if (type.kind === 'list') return { key: int, value: type.of, list: true };
  if (type.kind === 'map') return { key: type.key, value: type.value, list: false };
  if (type.kind === 'dyn') return { key: dyn, value: dyn, list: undefined };
  throw new CheckError(
    `expression of type '${typeText(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    node.start,
  );
}

function variableName(node: ASTNode | undefined): string {
  if (node?.op === 'id') return node.args;
  throw new CheckError('argument must be a simple name', node ? placeOf(node) : 0);
}

interface Loop {
  readonly range: Compiled;
  readonly body: readonly Compiled[];
  /** The frame of one item. */
  readonly enter: (frame: Frame, each: Each, range: CelValue) => Frame;
  readonly key: CelType;
  readonly two: boolean;
}

/** Compiles what a macro walks through and does. `bodies` is how many of its arguments are expressions. */
function loopOf(target: ASTNode, args: readonly ASTNode[], bodies: number, scope: Scope, compile: Compile): Loop {
  const range = compile(target, scope);
  const types = rangeTypes(range.type, target);
  const two = args.length - bodies === 2;
  const first = variableName(args[0]);
  const second = two ? variableName(args[1]) : undefined;
  const single = types.list === undefined ? dyn : types.list ? types.value : types.key;
  let inner = withVariable(scope, first, two ? types.key : single);
  if (second !== undefined) inner = withVariable(inner, second, types.value);
  return {
    range,
    two,
    key: types.key,
    body: args.slice(args.length - bodies).map((arg) => compile(arg, inner)),
    enter(frame, { key, value }, walked) {
      frame.budget.spend(1);
      if (second !== undefined) return bind(bind(frame, first, key), second, value);
      return bind(frame, first, walked instanceof List ? value : key);
    },
  };
}

function needBool(compiled: Compiled | undefined, node: ASTNode | undefined): Compiled {
  if (!compiled || !node) throw new CheckError('a predicate is missing', 0);
  if (compiled.type.kind === 'bool' || compiled.type.kind === 'dyn') return compiled;
  throw new CheckError(`expected type 'bool' but found '${typeText(compiled.type)}'`, placeOf(node));
}

const asBool = (value: CelValue): boolean => {
  if (typeof value !== 'boolean') throw new CelError('no such overload');
  return value;
};

type Macro = (node: Call, target: ASTNode, args: readonly ASTNode[], scope: Scope, compile: Compile) => Compiled;

/** Whether the predicate holds of all, or of any. An error counts only where nothing else decides. */
const quantifier =
  (decisive: boolean): Macro =>
  (_node, target, args, scope, compile) => {
    const { range, body, enter } = loopOf(target, args, 1, scope, compile);
    const test = needBool(body[0], args.at(-1));
    return {
      type: bool,
      run(frame) {
        const walked = range.run(frame);
        let failure: CelError | undefined;
        for (const each of walk(walked)) {
          const outcome = attempt(test, enter(frame, each, walked));
          if (outcome === decisive) return decisive;
          if (outcome instanceof CelError) failure ??= outcome;
          else if (typeof outcome !== 'boolean') failure ??= new CelError('no such overload');
        }
        if (failure) throw failure;
        return !decisive;
      },
    };
  };

const existsOne: Macro = (_node, target, args, scope, compile) => {
  const { range, body, enter } = loopOf(target, args, 1, scope, compile);
  const test = needBool(body[0], args.at(-1));
  return {
    type: bool,
    run(frame) {
      const walked = range.run(frame);
      let count = 0;
      for (const each of walk(walked)) if (asBool(test.run(enter(frame, each, walked)))) count += 1;
      return count === 1;
    },
  };
};

const filter: Macro = (_node, target, args, scope, compile) => {
  const { range, body, enter } = loopOf(target, args, 1, scope, compile);
  const test = needBool(body[0], args.at(-1));
  const { type } = range;
  return {
    type: type.kind === 'map' ? listOf(type.key) : type,
    run(frame) {
      const walked = range.run(frame);
      const kept: CelValue[] = [];
      for (const each of walk(walked)) {
        if (asBool(test.run(enter(frame, each, walked)))) kept.push(walked instanceof List ? each.value : each.key);
      }
      return new List(kept);
    },
  };
};

/** Maps each item; with a condition between, only those of which it holds. */
const transformList =
  (conditional: boolean): Macro =>
  (_node, target, args, scope, compile) => {
    const { range, body, enter } = loopOf(target, args, conditional ? 2 : 1, scope, compile);
    const made = body.at(-1);
    const test = conditional ? needBool(body[0], args.at(-2)) : undefined;
    if (!made) throw new CheckError('a transformation is missing', 0);
    return {
      type: listOf(made.type),
      run(frame) {
        const walked = range.run(frame);
        const items: CelValue[] = [];
        for (const each of walk(walked)) {
          const inner = enter(frame, each, walked);
          if (!test || asBool(test.run(inner))) items.push(made.run(inner));
        }
        return new List(items);
      },
    };
  };

const transformMap =
  (conditional: boolean): Macro =>
  (_node, target, args, scope, compile) => {
    const { range, body, enter, key } = loopOf(target, args, conditional ? 2 : 1, scope, compile);
    const made = body.at(-1);
    const test = conditional ? needBool(body[0], args.at(-2)) : undefined;
    if (!made) throw new CheckError('a transformation is missing', 0);
    return {
      type: mapOf(key, made.type),
      run(frame) {
        const walked = range.run(frame);
        const entries: (readonly [CelValue, CelValue])[] = [];
        for (const each of walk(walked)) {
          const inner = enter(frame, each, walked);
          if (!test || asBool(test.run(inner))) entries.push([each.key, made.run(inner)]);
        }
        return new PlainMap(entries);
      },
    };
  };

/** `optional.optMap(x, expression)`, and optFlatMap, whose expression gives an optional itself. */
const mapOptional =
  (flat: boolean): Macro =>
  (_node, target, args, scope, compile) => {
    const of = compile(target, scope);
    const content = of.type.kind === 'optional' ? of.type.of : dyn;
    const name = variableName(args[0]);
    const [, expression] = args;
    if (!expression) throw new CheckError('an expression is missing', 0);
    const made = compile(expression, withVariable(scope, name, content));
    return {
      type: flat ? made.type : optionalOf(made.type),
      run(frame) {
        const value = of.run(frame);
        if (!(value instanceof Optional)) throw new CelError('no such overload');
        if (value.content === undefined) return value;
        const result = made.run(bind(frame, name, value.content));
        return flat ? result : new Optional(result);
      },
    };
  };

const bindName: Macro = (_node, _target, args, scope, compile) => {
  const name = variableName(args[0]);
  const [, given, expression] = args;
  if (!given || !expression) throw new CheckError('an expression is missing', 0);
  const value = compile(given, scope);
  const made = compile(expression, withVariable(scope, name, value.type));
  return { type: made.type, run: (frame) => made.run(bind(frame, name, value.run(frame))) };
};

/** By name and number of arguments. */
const macros: ReadonlyMap<string, Macro> = new Map([
  ['all/2', quantifier(false)],
  ['all/3', quantifier(false)],
  ['exists/2', quantifier(true)],
  ['exists/3', quantifier(true)],
  ['exists_one/2', existsOne],
  ['existsOne/2', existsOne],
  ['exists_one/3', existsOne],
  ['existsOne/3', existsOne],
  ['filter/2', filter],
  ['map/2', transformList(false)],
  ['map/3', transformList(true)],
  ['transformList/3', transformList(false)],
  ['transformList/4', transformList(true)],
  ['transformMap/3', transformMap(false)],
  ['transformMap/4', transformMap(true)],
  ['optMap/2', mapOptional(false)],
  ['optFlatMap/2', mapOptional(true)],
]);

/** `has(a.b)`: whether the last member is there. */
function presence(node: ASTNode, args: readonly ASTNode[], scope: Scope, compile: Compile): Compiled {
  const [argument] = args;
  if (args.length !== 1 || argument?.op !== '.') {
    throw new CheckError('invalid argument to has() macro', argument ? argument.start : placeOf(node));
  }
  const [target, name] = argument.args;
  // Compiled for its checks: the member must be one that the type has.
  compile(argument, scope);
  const of = compile(target, scope);
  return {
    type: bool,
    run(frame) {
      const value = of.run(frame);
      if (value instanceof Optional) return value.content !== undefined && member(value.content, name) !== undefined;
      return member(value, name) !== undefined;
    },
  };
}

/** A macro's call compiled; undefined for calls of functions. */
export function comprehension(node: Call, scope: Scope, compile: Compile): Compiled | undefined {
  if (node.op === 'call') {
    return node.args[0] === 'has' ? presence(node, node.args[1], scope, compile) : undefined;
  }
  const [name, target, args] = node.args;
  if (name === 'bind' && target.op === 'id' && target.args === 'cel' && args.length === 3) {
    return bindName(node, target, args, scope, compile);
  }
  return macros.get(`${name}/${args.length}`)?.(node, target, args, scope, compile);
}
