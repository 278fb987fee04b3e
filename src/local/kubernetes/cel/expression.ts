// Expressions in CEL: compiled once, evaluated often. The parser is a library's; checks, functions and costs are Kubernetes'.
import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { type Budget, createBudget } from './budget.ts';
import { compile } from './compile.ts';
import { kubernetesFunctions } from './functions.ts';
import type { Functions } from './overloads.ts';
import { at } from './places.ts';
import { CheckError, type Compiled } from './program.ts';
import type { CelType } from './types.ts';
import type { CelValue } from './values.ts';

export interface ExpressionEnvironment {
  /** The variables there are, with their types. */
  readonly variables: Readonly<Record<string, CelType>>;
  /** Left out: those of Kubernetes. */
  readonly functions?: Functions;
}

export interface Program {
  readonly source: string;
  /** The type of what it gives. */
  readonly type: CelType;
  /** Which variables it names. */
  readonly uses: ReadonlySet<string>;
  readonly compiled: Compiled;
}

/** An expression that cannot be compiled. The message is the compiler's, with the place. */
export class CompileError extends Error {}

/** Longer ones than anybody writes are refused before they are read. */
const longestExpression = 32 * 1024;

const parser = new Environment({
  unlistedVariablesAreDyn: true,
  enableOptionalTypes: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 20_000, maxDepth: 200, maxListElements: 2000, maxMapEntries: 1000, maxCallArguments: 64 },
});

const startOfExpression =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** What the parser says, in the words of the server's; each is given the text before the place. */
const syntaxWords: readonly (readonly [RegExp, (before: string) => string])[] = [
  [
    /Unexpected token: EOF/,
    (before) =>
      `mismatched input '<EOF>' expecting ${
        before.trimEnd().endsWith('(') ? startOfExpression.replace("'(', ", "'(', ')', ") : startOfExpression
      }`,
  ],
  [/Expected IDENTIFIER, got EOF/, (before) => `no viable alternative at input '${before.trimEnd().at(-1) ?? ''}'`],
  [/Expected RPAREN, got EOF/, () => "missing ')' at '<EOF>'"],
  [/Expected RBRACKET, got EOF/, () => "missing ']' at '<EOF>'"],
];

function syntaxError(source: string, error: ParseError): CompileError {
  const offset = error.range?.start ?? 0;
  const [said = ''] = error.message.split('\n', 1);
  const text = syntaxWords.find(([form]) => form.test(said))?.[1](source.slice(0, offset)) ?? said;
  return new CompileError(at(source, Math.min(offset, source.length), `Syntax error: ${text}`));
}

/** An expression with what is known of its parts. */
export interface CheckedExpression {
  readonly program: Program;
  readonly tree: ASTNode;
  readonly nodes: ReadonlyMap<ASTNode, Compiled>;
}

/** Compiles an expression and keeps what was found out of each of its parts. Throws CompileError. */
export function checkExpression(source: string, environment: ExpressionEnvironment): CheckedExpression {
  const nodes = new Map<ASTNode, Compiled>();
  return { ...compileTree(source, environment, nodes), nodes };
}

/** Compiles an expression. Throws CompileError. */
export const compileExpression = (source: string, environment: ExpressionEnvironment): Program =>
  compileTree(source, environment).program;

function compileTree(
  source: string,
  environment: ExpressionEnvironment,
  checked?: Map<ASTNode, Compiled>,
): { readonly program: Program; readonly tree: ASTNode } {
  if (source.length > longestExpression) {
    throw new CompileError(
      `ERROR: <input>:-1:0: expression code point size exceeds limit: size: ${source.length}, limit ${longestExpression}`,
    );
  }
  const used = new Set<string>();
  try {
    const { ast } = parser.parse(source);
    const compiled = compile(ast, {
      functions: environment.functions ?? kubernetesFunctions,
      variables: new Map(Object.entries(environment.variables)),
      used,
      source,
      ...(checked ? { checked } : {}),
    });
    return { program: { source, type: compiled.type, uses: used, compiled }, tree: ast };
  } catch (error) {
    if (error instanceof CheckError) throw new CompileError(at(source, error.offset, error.message));
    if (error instanceof ParseError) throw syntaxError(source, error);
    throw error;
  }
}

/**
 * Evaluates a program. Throws CelError when it cannot go on, CostError (one of them) when it costs more than the budget, which is
 * that of one expression unless given.
 */
export function evaluate(
  program: Program,
  variables: Readonly<Record<string, CelValue>>,
  budget: Budget = createBudget(),
): CelValue {
  return program.compiled.run({ values: new Map(Object.entries(variables)), budget });
}
