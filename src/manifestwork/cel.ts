// Expressions of condition rules, in CEL: bounded in what they may cost, with regular expressions that take linear time.
import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';
import { isRecord } from '../arm/record.ts';

/** An expression that cannot be read, costs too much, or fails on the object. */
export class CelError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CelError';
  }
}

const longestExpression = 16 * 1024;
/** Operations of one evaluation, estimated before it begins: what is in the expression, as often as its loops may run. */
const mostOperations = 2_000_000;
const loops: ReadonlySet<string> = new Set([
  'all',
  'exists',
  'exists_one',
  'map',
  'filter',
  'transformList',
  'transformMap',
]);

const environment = new Environment({
  unlistedVariablesAreDyn: false,
  enableOptionalTypes: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 2000, maxDepth: 100, maxListElements: 1000, maxMapEntries: 1000, maxCallArguments: 32 },
})
  .registerVariable('object', 'dyn')
  .registerVariable('result', 'bool')
  .registerFunction('hasConditions(dyn): bool', hasConditions)
  .registerFunction('string.matchesLinear(string): bool', (text: string, pattern: string) =>
    RE2JS.compile(pattern).matcher(text).find(),
  );

interface Expression {
  readonly run: (variables: Readonly<Record<string, unknown>>) => unknown;
  readonly nodes: number;
  readonly loopDepth: number;
  /** The longest list or map written in it. */
  readonly widest: number;
}

const remembered = 200;
const expressions = new Map<string, Expression>();

/** The object as CEL sees it: whole numbers are ints. Convert once, evaluate often. */
export interface CelObject {
  readonly value: unknown;
  /** The longest list or largest map in it. */
  readonly widest: number;
}

export function celObject(object: unknown): CelObject {
  let widest = 1;
  const convert = (value: unknown): unknown => {
    if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
    if (Array.isArray(value)) {
      widest = Math.max(widest, value.length);
      return value.map(convert);
    }
    if (!isRecord(value)) return value;
    const members = Object.entries(value);
    widest = Math.max(widest, members.length);
    return Object.fromEntries(members.map(([name, member]) => [name, convert(member)]));
  };
  return { value: convert(object), widest };
}

/** The value of an expression over `object`, and `result` in messages. Throws CelError. */
export function evaluateCel(source: string, object: CelObject, result?: boolean): unknown {
  const expression = compiled(source);
  const width = Math.max(object.widest, expression.widest);
  if (expression.nodes * width ** expression.loopDepth > mostOperations) {
    throw new CelError('the expression may cost too much on this object: it has too many loops within loops');
  }
  try {
    return expression.run({ object: object.value, result: result ?? false });
  } catch (error) {
    throw said(error);
  }
}

function compiled(source: string): Expression {
  const known = expressions.get(source);
  if (known) return known;
  if (source.length > longestExpression) {
    throw new CelError(`the expression is longer than ${longestExpression} characters`);
  }
  let run: ReturnType<Environment['parse']>;
  try {
    run = environment.parse(withLinearMatches(source));
  } catch (error) {
    throw said(error);
  }
  const checked = run.check();
  if (!checked.valid) throw said(checked.error);
  const expression = { run, ...measured(run.ast) };
  if (expressions.size >= remembered) expressions.clear();
  expressions.set(source, expression);
  return expression;
}

const stringOrMatches = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\.\s*matches\s*\(/g;

/** The library's own `matches` would let a pattern run for ever. */
function withLinearMatches(source: string): string {
  return source.replaceAll(stringOrMatches, (_, text?: string) => text ?? '.matchesLinear(');
}

function measured(ast: ASTNode): Omit<Expression, 'run'> {
  let nodes = 0;
  let widest = 1;
  let loopDepth = 0;
  const visit = (value: unknown, depth: number): void => {
    if (Array.isArray(value)) {
      for (const each of value) visit(each, depth);
      return;
    }
    if (!isRecord(value) || typeof value.op !== 'string') return;
    nodes++;
    if (Array.isArray(value.args)) widest = Math.max(widest, value.args.length);
    const [name] = Array.isArray(value.args) ? value.args : [];
    const isCall = value.op === 'rcall' || value.op === 'call';
    if (isCall && name === 'matches') throw new CelError('matches cannot be used here');
    const within = value.op === 'rcall' && loops.has(String(name)) ? depth + 1 : depth;
    loopDepth = Math.max(loopDepth, within);
    visit(value.args, within);
  };
  visit(ast, 0);
  return { nodes, loopDepth, widest };
}

function hasConditions(status: unknown): boolean {
  return isRecord(status) && Array.isArray(status.conditions) && status.conditions.length > 0;
}

/** The first line: the rest shows the expression again. */
function said(error: unknown): CelError {
  if (error instanceof CelError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new CelError(text.split('\n', 1)[0] ?? text);
}
