// A template held against what its expressions may say, before anything is evaluated: that they can be read, and that the functions,
// parameters and variables they name are there. So a mistake in an output is told with the request and not at the end of the run.
import { foldCase } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import { textUnits } from '../expressions/budget.ts';
import type { Func } from '../expressions/environment.ts';
import { demandArity, unknownFunction } from '../expressions/evaluate.ts';
import { pureFunctions } from '../expressions/functions/pure.ts';
import { isExpression, type Node, parseExpression } from '../expressions/syntax.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { isArray, isObject, memberOf } from '../expressions/values.ts';
import { notFound, type TemplateContext } from './context.ts';
import { isInner, visitCalls } from './dependencies.ts';
import { runtimeFunctions } from './runtime-functions.ts';
import { limits } from './template.ts';
import { userFunction } from './user-functions.ts';

/** What expressions of a place may name. */
interface Names {
  readonly context: TemplateContext;
  readonly parameters: ReadonlySet<string>;
  /** Undefined where there are none: in functions of the template. */
  readonly variables?: ReadonlySet<string>;
  readonly functions: readonly JsonObject[];
  /** Functions that this place does not have, by folded name. */
  readonly without: RegExp;
}

const atRunTime = /^(?:references?|resourceinfo|list.+)$/;
const inDefaultsOnly = /^(?:newguid|utcnow)$/;
const atRunTimeOrInDefaults = /^(?:references?|resourceinfo|list.+|newguid|utcnow)$/;
/** Known by their names and arguments; nothing is fetched. */
const knownAtRunTime = runtimeFunctions([], () => [], new Map());

/** Throws TemplateError for the first mistake. */
export function checkExpressions(context: TemplateContext): void {
  const { parameters, variables, functions, outputs, resources } = context.template;
  checkSections(
    context,
    { parameters, variables, functions, outputs, resources: resources.map(({ body }) => body) },
    0,
  );
}

interface Sections {
  readonly parameters: JsonObject;
  readonly variables: JsonObject;
  readonly functions: readonly JsonObject[];
  readonly outputs: JsonObject;
  readonly resources: readonly Json[];
}

function checkSections(context: TemplateContext, sections: Sections, depth: number): void {
  const { parameters, variables, functions, outputs, resources } = sections;
  const names: Names = {
    context,
    parameters: namesOf(parameters),
    variables: variableNames(variables),
    functions,
    without: inDefaultsOnly,
  };
  for (const [name, definition] of Object.entries(parameters)) {
    const byDefault = isObject(definition) ? memberOf(definition, 'defaultValue') : undefined;
    told(`parameter '${name}'`, () => check(byDefault ?? null, { ...names, without: atRunTime }, depth));
  }
  for (const [name, value] of Object.entries(variables))
    told(`variable '${name}'`, () => check(value ?? null, { ...names, without: atRunTimeOrInDefaults }, depth));
  for (const group of functions) checkFunctions(group, names, depth);
  for (const resource of resources) {
    const name = isObject(resource) ? memberOf(resource, 'name') : undefined;
    told(`resource '${typeof name === 'string' ? name.slice(0, 200) : ''}'`, () => check(resource, names, depth));
  }
  for (const [name, definition] of Object.entries(outputs))
    told(`output '${name}'`, () => check(withoutRemarks(definition ?? null), names, depth));
}

function told(what: string, run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new TemplateError(`The template ${what} is not valid: ${error.message}`);
  }
}

function namesOf(section: JsonObject): ReadonlySet<string> {
  return new Set(Object.keys(section).map(foldCase));
}

function variableNames(variables: JsonObject): ReadonlySet<string> {
  const loops = memberOf(variables, 'copy');
  const looped = isArray(loops)
    ? loops.flatMap((loop) => (isObject(loop) && typeof loop.name === 'string' ? [foldCase(loop.name)] : []))
    : [];
  return new Set([...namesOf(variables), ...looped]);
}

/** Functions see their own parameters and nothing else. */
function checkFunctions(group: JsonObject, { variables: _, ...names }: Names, depth: number): void {
  const members = memberOf(group, 'members');
  for (const [name, definition] of Object.entries(isObject(members) ? members : {})) {
    if (!isObject(definition)) continue;
    const given = memberOf(definition, 'parameters');
    const own = isArray(given)
      ? given.flatMap((one) => (isObject(one) && typeof one.name === 'string' ? [foldCase(one.name)] : []))
      : [];
    const output = memberOf(definition, 'output');
    const value = isObject(output) ? memberOf(output, 'value') : undefined;
    told(`function '${name}'`, () => check(value ?? null, { ...names, parameters: new Set(own) }, depth));
  }
}

function withoutRemarks(body: Json): Json {
  if (!isObject(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !/^(?:comments|metadata)$/i.test(name)));
}

function check(value: Json, names: Names, depth: number): void {
  names.context.budget.spend(1);
  if (depth > limits.depth) throw new TemplateError('The template is nested too deep');
  if (typeof value === 'string') checkText(value, names);
  else if (isArray(value)) for (const one of value) check(one, names, depth + 1);
  else if (isObject(value)) checkObject(value, names, depth);
}

function checkObject(value: JsonObject, names: Names, depth: number): void {
  const type = memberOf(value, 'type');
  const isDeployment = typeof type === 'string' && foldCase(type) === 'microsoft.resources/deployments';
  const properties = isDeployment ? memberOf(value, 'properties') : undefined;
  const template = isObject(properties) ? memberOf(properties, 'template') : undefined;
  const remarks = typeof type === 'string' && memberOf(value, 'apiVersion') !== undefined;
  for (const [name, one] of Object.entries(remarks ? (withoutRemarks(value) as JsonObject) : value)) {
    checkText(name, names);
    if (isObject(template) && one === properties) {
      for (const [inner, member] of Object.entries(one ?? {}))
        if (foldCase(inner) !== 'template') check(member ?? null, names, depth + 1);
      checkNested(template, isInner(properties), names, depth + 2);
    } else check(one ?? null, names, depth + 1);
  }
}

/** A template that is evaluated within this one has its names; one that is evaluated by itself has its own. */
function checkNested(template: JsonObject, inner: boolean, names: Names, depth: number): void {
  const section = (name: string): JsonObject => {
    const found = memberOf(template, name);
    return isObject(found) ? found : {};
  };
  const own = memberOf(template, 'functions');
  const functions = isArray(own) ? own.filter(isObject) : [];
  const given = memberOf(template, 'resources') ?? [];
  const resources = isArray(given) ? given : isObject(given) ? Object.values(given).map((one) => one ?? null) : [];
  if (inner) {
    const sections = {
      parameters: section('parameters'),
      variables: section('variables'),
      outputs: section('outputs'),
    };
    checkSections(names.context, { ...sections, functions, resources }, depth);
    return;
  }
  const within = { ...names, functions: [...functions, ...names.functions] };
  for (const group of functions) checkFunctions(group, within, depth);
  check(resources, within, depth);
  for (const definition of Object.values(section('outputs'))) check(withoutRemarks(definition ?? null), within, depth);
}

function checkText(text: string, names: Names): void {
  if (!isExpression(text)) return;
  names.context.budget.spend(textUnits(text));
  visitCalls(parseExpression(text), (call) => checkCall(call, names));
}

function checkCall(call: Extract<Node, { kind: 'call' }>, names: Names): void {
  const { key, namespace, args } = call;
  const isOwn = namespace !== undefined && foldCase(namespace) !== 'sys';
  const found = isOwn
    ? userFunction(names.functions, namespace, key, names.context.budget)
    : functionOf(key, names.variables !== undefined, names.context);
  if (found === undefined) throw unknownFunction(call);
  demandArity(call, found);
  if (isOwn) return;
  if (names.without.test(key))
    throw new TemplateError(
      `The template function '${call.name}' is not expected at this location. Please see https://aka.ms/arm-functions for usage details`,
    );
  const [first] = args;
  if (first?.kind !== 'literal' || typeof first.value !== 'string') return;
  const wanted = foldCase(first.value);
  if (key === 'parameters' && !names.parameters.has(wanted)) throw notFound('parameter', first.value);
  if (key === 'variables' && names.variables?.has(wanted) === false) throw notFound('variable', first.value);
}

function functionOf(key: string, inTemplate: boolean, context: TemplateContext): Func | undefined {
  if (inTemplate || key === 'parameters') return context.environment(undefined, knownAtRunTime).find(key, undefined);
  return Object.hasOwn(pureFunctions, key) ? pureFunctions[key] : undefined;
}
