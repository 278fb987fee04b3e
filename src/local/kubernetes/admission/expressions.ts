// CEL as admission uses it: what expressions may name, and how they are compiled and evaluated on a request.
import { costOfExpression, createBudget } from '../cel/budget.ts';
import { CompileError, compileExpression, evaluate, type Program } from '../cel/expression.ts';
import { authorizerFunctions } from '../cel/functions/authorizer.ts';
import { functionsWith } from '../cel/functions.ts';
import type { Functions } from '../cel/overloads.ts';
import { bool, type CelType, dyn, int, listOf, mapOf, objectOf, opaque, text, typeText } from '../cel/types.ts';
import { CelError, type CelValue } from '../cel/values.ts';

/** What an expression may name beside the objects and the request. */
export interface ExpressionScope {
  readonly params: boolean;
  readonly authorizer: boolean;
  /** Of a policy's variables, those that stand before it. */
  readonly variables?: Readonly<Record<string, CelType>>;
  /** Of the objects and the parameters; anything unless given. */
  readonly objectType?: CelType;
  readonly paramsType?: CelType;
}

/** An expression as it stands in a policy. One that cannot be compiled keeps the reason. */
export interface Expression {
  readonly text: string;
  readonly program: Program | undefined;
  /** In the server's words, as `compilation failed: …`. */
  readonly problem: string | undefined;
}

/** What an expression must give; undefined where anything will do. */
export type Wanted = readonly ('bool' | 'string' | 'null')[] | undefined;

const groupVersion = (name: string, last: string): CelType =>
  objectOf(`kubernetes.GroupVersion${name}`, { group: text, version: text, [last]: text });
const kind = groupVersion('Kind', 'kind');
const resource = groupVersion('Resource', 'resource');

const requestType = objectOf('kubernetes.AdmissionRequest', {
  kind,
  resource,
  subResource: text,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: text,
  name: text,
  namespace: text,
  operation: text,
  userInfo: objectOf('kubernetes.UserInfo', {
    username: text,
    uid: text,
    groups: listOf(text),
    extra: mapOf(text, listOf(text)),
  }),
  dryRun: bool,
  options: dyn,
});

const timestamp: CelType = { kind: 'timestamp' };
const namespaceType = objectOf('kubernetes.Namespace', {
  metadata: objectOf('kubernetes.NamespaceMetadata', {
    name: text,
    generateName: text,
    namespace: text,
    labels: mapOf(text, text),
    annotations: mapOf(text, text),
    UID: text,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: text,
    finalizers: listOf(text),
  }),
  spec: objectOf('kubernetes.NamespaceSpec', { finalizers: listOf(text) }),
  status: objectOf('kubernetes.NamespaceStatus', {
    conditions: listOf(
      objectOf('kubernetes.NamespaceCondition', {
        status: text,
        type: text,
        lastTransitionTime: timestamp,
        message: text,
        reason: text,
      }),
    ),
    phase: text,
  }),
});

let functions: Functions | undefined;

function variablesOf(scope: ExpressionScope): Record<string, CelType> {
  const { params, authorizer, variables, objectType = dyn, paramsType = dyn } = scope;
  return {
    object: objectType,
    oldObject: objectType,
    request: requestType,
    namespaceObject: namespaceType,
    ...(params ? { params: paramsType } : {}),
    ...(authorizer ? { authorizer: opaque('authorizer'), 'authorizer.requestResource': opaque('resourceCheck') } : {}),
    ...(variables ? { variables: objectOf('kubernetes.variables', variables) } : {}),
  };
}

/** Compiles an expression; one that cannot be says why in its problem. */
export function expressionOf(source: string, scope: ExpressionScope, wanted: Wanted): Expression {
  functions ??= functionsWith(authorizerFunctions);
  try {
    const program = compileExpression(source, { variables: variablesOf(scope), functions });
    return { text: source, program, problem: wanted && typeProblem(program.type, wanted) };
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    return { text: source, program: undefined, problem: `compilation failed: ${error.message}` };
  }
}

const shownType = (type: CelType): string => (type.kind === 'null' ? 'null_type' : typeText(type));

function typeProblem(type: CelType, wanted: readonly string[]): string | undefined {
  if (wanted.includes(type.kind)) return undefined;
  const names = wanted.map((each) => (each === 'null' ? 'null_type' : each));
  const what = names.length === 1 ? `${names[0]}` : `one of [${names.join(' ')}]`;
  return `must evaluate to ${what} but got ${shownType(type)}`;
}

/** An expression that could not be evaluated. The message is the server's. */
export class EvaluationError extends Error {}

/** All expressions together have cost more than they may; nothing further is evaluated. */
export class OutOfBudgetError extends EvaluationError {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

export interface Evaluator {
  /** Throws EvaluationError. */
  evaluate(expression: Expression): CelValue;
  /** Counts what was spent elsewhere on behalf of the expression that is evaluated. */
  charge(cost: number): void;
}

/** Evaluates the expressions of one policy on one request, which together may cost `most`. */
export function evaluatorOf(values: Readonly<Record<string, CelValue>>, most: number): Evaluator {
  let left = most;
  return {
    charge(cost) {
      left -= cost;
    },
    evaluate({ text: source, program, problem }) {
      if (!program || problem !== undefined) throw new EvaluationError(`compilation error: ${problem ?? ''}`);
      const budget = createBudget(costOfExpression);
      const outcome = attempt(() => evaluate(program, values, budget));
      left -= budget.spent;
      if (left < 0) throw new OutOfBudgetError();
      if (!(outcome instanceof CelError)) return outcome;
      throw new EvaluationError(`expression '${source}' resulted in error: ${outcome.message}`);
    },
  };
}

function attempt(work: () => CelValue): CelValue | CelError {
  try {
    return work();
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}
