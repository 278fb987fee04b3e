// Expressions checked and made into functions, in one walk over the tree that the parser gives. Messages are the server's.
import type { ASTNode } from '@marcbachmann/cel-js';
import { comprehension } from './comprehensions.ts';
import { resolveCall } from './overloads.ts';
import { placeOf } from './places.ts';
import { attempt, CheckError, type Compiled, type Frame, member, type Scope } from './program.ts';
import { bool, type CelType, dyn, int, listOf, mapOf, nullType, optionalOf, text, typeText } from './types.ts';
import { CelError, type CelValue, isMapping, List, Optional, PlainMap, TypeValue, Uint } from './values.ts';

const binaryNames = new Set(['!=', '==', '+', '-', '*', '/', '%', '<', '<=', '>', '>=']);

/** Names of types are values. */
const typeNames: Readonly<Record<string, CelType>> = {
  bool,
  int,
  uint: { kind: 'uint' },
  double: { kind: 'double' },
  string: text,
  bytes: { kind: 'bytes' },
  list: listOf(dyn),
  map: mapOf(dyn, dyn),
  null_type: nullType,
  type: { kind: 'type', of: dyn },
};

export function compile(node: ASTNode, scope: Scope): Compiled {
  const made = compileNode(node, scope);
  scope.checked?.set(node, made);
  const { run } = made;
  return {
    type: made.type,
    run(frame) {
      frame.budget.spend(1);
      return run(frame);
    },
  };
}

function compileNode(node: ASTNode, scope: Scope): Compiled {
  switch (node.op) {
    case 'value':
      return literal(node.args);
    case 'id':
      return identifier(node, node.args, scope);
    case '.':
      return selection(node, scope);
    case '.?':
      return optionalSelection(node, scope);
    case '[]':
    case '[?]':
      return indexing(node, scope);
    case 'call':
      return comprehension(node, scope, compile) ?? functionCall(node, scope);
    case 'rcall':
      return comprehension(node, scope, compile) ?? methodCall(node, scope);
    case 'list':
      return listLiteral(node.args, scope);
    case 'map':
      return mapLiteral(node.args, scope);
    case '?:':
      return conditional(node, scope);
    case '||':
    case '&&':
      return logical(node, scope);
    case '!_':
      return operator('!_', [node.args], node, scope);
    case '-_':
      return operator('-_', [node.args], node, scope);
    case 'in':
      return operator('@in', node.args, node, scope);
    default:
      if (binaryNames.has(node.op)) return operator(`_${node.op}_`, node.args, node, scope);
      throw new CheckError(`unexpected ${String((node as ASTNode).op)}`, placeOf(node));
  }
}

function literal(value: unknown): Compiled {
  const constant = (type: CelType, content: CelValue): Compiled => ({ type, run: () => content });
  if (value === null) return constant(nullType, null);
  if (typeof value === 'string') return constant(text, value);
  if (typeof value === 'bigint') return constant(int, value);
  if (typeof value === 'number') return constant({ kind: 'double' }, value);
  if (typeof value === 'boolean') return constant(bool, value);
  if (value instanceof Uint8Array) return constant({ kind: 'bytes' }, value);
  return constant({ kind: 'uint' }, new Uint(BigInt(String((value as { valueOf(): unknown }).valueOf()))));
}

const undeclared = (name: string, node: ASTNode, offset?: number): CheckError =>
  new CheckError(`undeclared reference to '${name}' (in container '')`, offset ?? placeOf(node));

function identifier(node: ASTNode, name: string, scope: Scope): Compiled {
  const type = scope.variables.get(name);
  if (type) {
    scope.used.add(name);
    return {
      type,
      run({ values }) {
        const value = values.get(name);
        if (value === undefined) throw new CelError(`no such attribute(s): ${name}`);
        return value;
      },
    };
  }
  const named = Object.hasOwn(typeNames, name) ? typeNames[name] : undefined;
  if (!named) throw undeclared(name, node);
  const value = new TypeValue(name);
  return { type: { kind: 'type', of: named }, run: () => value };
}

const noSuchKey = (name: string): CelError => new CelError(`no such key: ${name}`);

/** The type of a member by name, where the type of what has it is known. */
function memberType(type: CelType, name: string, node: ASTNode): CelType {
  switch (type.kind) {
    case 'dyn':
      return dyn;
    case 'map':
      return type.value;
    case 'object': {
      const found = type.field(name);
      if (!found) throw new CheckError(`undefined field '${name}'`, placeOf(node));
      return found;
    }
    default:
      throw new CheckError(`type '${typeText(type)}' does not support field selection`, placeOf(node));
  }
}

const wellKnownTypes: Readonly<Record<string, CelType>> = {
  'google.protobuf.Timestamp': { kind: 'timestamp' },
  'google.protobuf.Duration': { kind: 'duration' },
  'net.IP': { kind: 'opaque', name: 'net.IP' },
  'net.CIDR': { kind: 'opaque', name: 'net.CIDR' },
};

/** Names with dots that are not members of a variable. */
function dottedName(node: ASTNode, scope: Scope): string | undefined {
  if (node.op === 'id') return scope.variables.has(node.args) ? undefined : node.args;
  if (node.op !== '.') return undefined;
  const before = dottedName(node.args[0], scope);
  return before === undefined ? undefined : `${before}.${node.args[1]}`;
}

/** A variable whose name has a dot in it, such as `authorizer.requestResource`. */
const dottedVariable = ({ args: [of, name] }: Extract<ASTNode, { op: '.' }>): string | undefined =>
  of.op === 'id' ? `${of.args}.${name}` : undefined;

function selection(node: Extract<ASTNode, { op: '.' }>, scope: Scope): Compiled {
  const whole = dottedVariable(node);
  if (whole !== undefined && scope.variables.has(whole)) return identifier(node, whole, scope);
  const dotted = dottedName(node, scope);
  const known = dotted === undefined ? undefined : wellKnownTypes[dotted];
  if (known && dotted) {
    const value = new TypeValue(dotted);
    return { type: { kind: 'type', of: known }, run: () => value };
  }
  const [target, name] = node.args;
  const of = compile(target, scope);
  if (of.type.kind === 'optional') return throughOptional(of, memberType(of.type.of, name, node), name);
  return {
    type: memberType(of.type, name, node),
    run(frame) {
      const value = of.run(frame);
      if (value instanceof Optional) return chosen(value, name);
      const found = member(value, name);
      if (found === undefined) throw noSuchKey(name);
      return found;
    },
  };
}

const chosen = ({ content }: Optional, name: string): Optional =>
  new Optional(content === undefined ? undefined : member(content, name));

const throughOptional = (of: Compiled, type: CelType, name: string): Compiled => ({
  type: optionalOf(type),
  run: (frame) => chosen(of.run(frame) as Optional, name),
});

function optionalSelection(node: Extract<ASTNode, { op: '.?' }>, scope: Scope): Compiled {
  const [target, given] = node.args as readonly [ASTNode, string | ASTNode];
  const name = typeof given === 'string' ? given : String(given.args);
  const of = compile(target, scope);
  const inner = of.type.kind === 'optional' ? of.type.of : of.type;
  const type = memberType(inner, name, node);
  if (of.type.kind === 'optional') return throughOptional(of, type, name);
  return {
    type: optionalOf(type),
    run(frame) {
      const value = of.run(frame);
      return value instanceof Optional ? chosen(value, name) : new Optional(member(value, name));
    },
  };
}

/** An item by its index or key; undefined where there is none. */
function item(of: CelValue, index: CelValue): CelValue | undefined {
  if (of instanceof List) {
    const number = typeof index === 'number' && Number.isInteger(index) ? BigInt(index) : index;
    const position = number instanceof Uint ? number.value : number;
    if (typeof position !== 'bigint') throw new CelError(`unsupported index type '${typeof index}' in list`);
    return position < 0n ? undefined : of.items[Number(position)];
  }
  if (isMapping(of)) return of.get(index);
  throw new CelError('no such overload');
}

function indexing(node: Extract<ASTNode, { op: '[]' | '[?]' }>, scope: Scope): Compiled {
  const [target, key] = node.args;
  const of = compile(target, scope);
  const index = compile(key, scope);
  const optional = node.op === '[?]' || of.type.kind === 'optional';
  const inner = of.type.kind === 'optional' ? of.type.of : of.type;
  const resolved = resolveCall(scope.functions.global.get('_[_]') ?? [], [inner, index.type]);
  if (!resolved) {
    throw new CheckError(
      `found no matching overload for '_[_]' applied to '(${typeText(of.type)}, ${typeText(index.type)})'`,
      placeOf(node),
    );
  }
  return {
    type: optional ? optionalOf(resolved.type) : resolved.type,
    calls: { name: optional ? '_[?_]' : '_[_]', overloads: resolved.overloads },
    run(frame) {
      const value = of.run(frame);
      const by = index.run(frame);
      if (value instanceof Optional) {
        return new Optional(value.content === undefined ? undefined : item(value.content, by));
      }
      const found = item(value, by);
      if (optional) return new Optional(found);
      if (found !== undefined) return found;
      if (value instanceof List)
        throw new CelError(`index out of bounds: ${by instanceof Uint ? by.value : String(by)}`);
      throw noSuchKey(by instanceof Uint ? String(by.value) : String(by));
    },
  };
}

/** A call of what the table has under a name. */
function calling(
  name: string,
  overloads: readonly Parameters<typeof resolveCall>[0][number][],
  args: readonly Compiled[],
  offset: number,
  shownReceiver = false,
): Compiled {
  const resolved = resolveCall(
    overloads,
    args.map(({ type }) => type),
  );
  if (!resolved) {
    const types = args.map(({ type }) => typeText(type));
    const shown = shownReceiver ? `${types[0]}.(${types.slice(1).join(', ')})` : `(${types.join(', ')})`;
    throw new CheckError(`found no matching overload for '${name}' applied to '${shown}'`, offset);
  }
  const { call, type, overloads: fitting } = resolved;
  const runs = args.map(({ run }) => run);
  return {
    type,
    calls: { name, overloads: fitting },
    run: (frame) =>
      call(
        runs.map((run) => run(frame)),
        frame.budget,
      ),
  };
}

function operator(name: string, args: readonly ASTNode[], node: ASTNode, scope: Scope): Compiled {
  const compiled = args.map((arg) => compile(arg, scope));
  return calling(name, scope.functions.global.get(name) ?? [], compiled, placeOf(node));
}

function functionCall(node: Extract<ASTNode, { op: 'call' }>, scope: Scope): Compiled {
  const [name, args] = node.args;
  const overloads = scope.functions.global.get(name);
  if (!overloads) throw undeclared(name, node);
  return calling(
    name,
    overloads,
    args.map((arg) => compile(arg, scope)),
    placeOf(node),
  );
}

function methodCall(node: Extract<ASTNode, { op: 'rcall' }>, scope: Scope): Compiled {
  const [name, target, args] = node.args;
  const dotted = dottedName(target, scope);
  const global = dotted === undefined ? undefined : scope.functions.global.get(`${dotted}.${name}`);
  if (global) {
    const compiled = args.map((arg) => compile(arg, scope));
    return calling(`${dotted}.${name}`, global, compiled, placeOf(node));
  }
  const receiver = compile(target, scope);
  const overloads = scope.functions.methods.get(name);
  if (!overloads) throw undeclared(name, node);
  const compiled = [receiver, ...args.map((arg) => compile(arg, scope))];
  return calling(name, overloads, compiled, placeOf(node), true);
}

/** The type that all of several have; dyn where they differ. */
function common(types: readonly CelType[]): CelType {
  const [first = dyn] = types;
  return types.every((type) => typeText(type) === typeText(first)) ? first : dyn;
}

function listLiteral(nodes: readonly ASTNode[], scope: Scope): Compiled {
  const items = nodes.map((each) => compile(each, scope));
  return {
    type: listOf(items.length === 0 ? dyn : common(items.map(({ type }) => type))),
    run: (frame) => new List(items.map(({ run }) => run(frame))),
  };
}

function mapLiteral(entries: readonly (readonly [ASTNode, ASTNode])[], scope: Scope): Compiled {
  const compiled = entries.map(([key, value]) => [compile(key, scope), compile(value, scope)] as const);
  const keys = compiled.map(([key]) => key.type);
  const values = compiled.map(([, value]) => value.type);
  return {
    type: entries.length === 0 ? mapOf(dyn, dyn) : mapOf(common(keys), common(values)),
    run: (frame) => new PlainMap(compiled.map(([key, value]) => [key.run(frame), value.run(frame)] as const)),
  };
}

function conditional(node: Extract<ASTNode, { op: '?:' }>, scope: Scope): Compiled {
  const [test, yes, no] = node.args.map((arg) => compile(arg, scope));
  if (!test || !yes || !no) throw new CheckError('a condition has three parts', placeOf(node));
  const resolved = resolveCall(scope.functions.global.get('_?_:_') ?? [], [test.type, yes.type, no.type]);
  if (!resolved) {
    const types = [test, yes, no].map(({ type }) => typeText(type)).join(', ');
    throw new CheckError(`found no matching overload for '_?_:_' applied to '(${types})'`, placeOf(node));
  }
  return {
    type: resolved.type,
    run(frame) {
      const decision = test.run(frame);
      if (typeof decision !== 'boolean') throw new CelError('no such overload');
      return decision ? yes.run(frame) : no.run(frame);
    },
  };
}

/** One side decides where it can; only then does the other's error count. */
function logical(node: Extract<ASTNode, { op: '||' | '&&' }>, scope: Scope): Compiled {
  const decisive = node.op === '||';
  const [left, right] = node.args.map((arg) => compile(arg, scope));
  if (!left || !right) throw new CheckError('an operator has two sides', placeOf(node));
  for (const { type } of [left, right]) {
    if (type.kind === 'bool' || type.kind === 'dyn') continue;
    const types = `${typeText(left.type)}, ${typeText(right.type)}`;
    throw new CheckError(`found no matching overload for '_${node.op}_' applied to '(${types})'`, placeOf(node));
  }
  return { type: bool, run: (frame) => decide(frame, left, right, decisive) };
}

function decide(frame: Frame, left: Compiled, right: Compiled, decisive: boolean): CelValue {
  const one = attempt(left, frame);
  if (one === decisive) return decisive;
  const other = attempt(right, frame);
  if (other === decisive) return decisive;
  for (const side of [one, other]) {
    if (side instanceof CelError) throw side;
    if (typeof side !== 'boolean') throw new CelError('no such overload');
  }
  return !decisive;
}
