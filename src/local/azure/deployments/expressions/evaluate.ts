// Values of expressions. Synchronous and bounded: whatever must be fetched is fetched between evaluations (run/fetched.ts).
import type { Json } from '../../kernel/record.ts';
import { textUnits } from './budget.ts';
import type { Environment, FormCall, Func } from './environment.ts';
import { isExpression, literalText, type Node, parseExpression } from './syntax.ts';
import { TemplateError } from './template-error.ts';
import { isObject, memberNames, memberOf } from './values.ts';

/** The value of a text of a template, an expression or not. Throws TemplateError. */
export function evaluateText(text: string, environment: Environment): Json {
  if (!isExpression(text)) return literalText(text);
  environment.budget.spend(textUnits(text));
  return evaluate(parseExpression(text), environment);
}

/** The value of a node. Throws TemplateError. */
export function evaluate(node: Node, environment: Environment): Json {
  environment.budget.spend(1);
  switch (node.kind) {
    case 'literal':
      return node.value;
    case 'member':
      return access(evaluate(node.target, environment), node.name, environment);
    case 'index':
      return access(evaluate(node.target, environment), evaluate(node.index, environment), environment);
    case 'call':
      return callFunction(node, environment);
  }
}

type CallNode = Extract<Node, { kind: 'call' }>;

function wholeName({ namespace, name }: CallNode): string {
  return namespace === undefined ? name : `${namespace}.${name}`;
}

export function unknownFunction(node: CallNode): TemplateError {
  return new TemplateError(
    `The template function '${wholeName(node)}' is not valid. Please see https://aka.ms/arm-functions for usage details`,
  );
}

/** Throws TemplateError for a call with too few or too many arguments. */
export function demandArity(node: CallNode, { arity: [fewest, most] }: Func): void {
  if (node.args.length >= fewest && node.args.length <= most) return;
  const expected = fewest === most ? `'${fewest}' argument(s)` : `at least '${fewest}' argument(s)`;
  throw new TemplateError(
    `Unable to evaluate template language function '${wholeName(node)}': function requires ${expected} while '${node.args.length}' were provided. Please see https://aka.ms/arm-functions for usage details`,
  );
}

function callFunction(node: CallNode, environment: Environment): Json {
  const whole = wholeName(node);
  const found = environment.find(node.key, node.namespace);
  if (found === undefined) throw unknownFunction(node);
  demandArity(node, found);
  const { budget } = environment;
  budget.enter();
  try {
    if (found.kind === 'function') {
      const args = node.args.map((arg) => evaluate(arg, environment));
      return found.run(args, { name: whole, budget });
    }
    const call: FormCall = {
      name: whole,
      budget,
      environment,
      evaluate: (arg, locals) => evaluate(arg, locals === undefined ? environment : { ...environment, locals }),
    };
    return found.run(node.args, call);
  } finally {
    budget.leave();
  }
}

function access(target: Json, property: Json, environment: Environment): Json {
  if (Array.isArray(target)) {
    if (typeof property !== 'number' || !Number.isInteger(property)) {
      throw new TemplateError(
        `The language expression property '${shownProperty(property)}' can't be evaluated, property name must be an integer for an array`,
      );
    }
    const value: Json | undefined = target[property];
    if (property < 0 || value === undefined) {
      throw new TemplateError(`The language expression property array index '${property}' is out of bounds`);
    }
    return value;
  }
  if (isObject(target)) {
    if (typeof property !== 'string') {
      throw new TemplateError(
        `The language expression property '${shownProperty(property)}' can't be evaluated, property name must be a string`,
      );
    }
    const value = memberOf(target, property, environment.budget);
    if (value === undefined) {
      throw new TemplateError(
        `The language expression property '${shownProperty(property)}' doesn't exist, available properties are '${memberNames(target)}'`,
      );
    }
    return value;
  }
  throw new TemplateError(
    `The language expression property '${shownProperty(property)}' can't be evaluated: the value it is asked of is neither an object nor an array`,
  );
}

function shownProperty(property: Json): string {
  return typeof property === 'string' || typeof property === 'number' ? String(property).slice(0, 100) : 'value';
}
