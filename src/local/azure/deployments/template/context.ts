// One template being evaluated: its parameters, its variables as they are asked for, and the place it is deployed to.
import { foldCase } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import { type Budget, createBudget } from '../expressions/budget.ts';
import type { Environment, Func } from '../expressions/environment.ts';
import { pureFunctions } from '../expressions/functions/pure.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { isArray, isObject } from '../expressions/values.ts';
import { evaluateTree, loopCount } from './evaluate-tree.ts';
import { loopFunctions } from './loops.ts';
import { placeFunctions } from './place-functions.ts';
import type { DeploymentScope } from './scope.ts';
import type { Template } from './template.ts';
import { userFunction } from './user-functions.ts';

/** What functions tell about the place and the deployment itself, as they return it. */
export interface Place {
  readonly scope: DeploymentScope;
  readonly subscription?: JsonObject;
  readonly resourceGroup?: JsonObject;
  readonly managementGroup?: JsonObject;
  readonly tenant: JsonObject;
  /** Who deploys. */
  readonly deployer: JsonObject;
  readonly environment: JsonObject;
  /** The types of a namespace, as `providers()` gives them; undefined for a namespace that is not there. */
  typesOf(namespace: string): readonly JsonObject[] | undefined;
  /** Whether a location has zones 1 to 3. */
  hasZones(location: string): boolean;
}

/** The loops an expression stands in: index by folded name. `''` is the innermost loop of resources. */
export type Loops = ReadonlyMap<string, number>;

/** Gives the functions that only work where resources can be asked: `reference`, `list…`. */
export type RuntimeFunctions = (name: string) => Func | undefined;

export interface TemplateContext {
  readonly template: Template;
  readonly place: Place;
  readonly budget: Budget;
  /** By folded name. */
  readonly parameters: ReadonlyMap<string, Json>;
  environment(loops?: Loops, runtime?: RuntimeFunctions): TemplateEnvironment;
}

/** An environment that knows how to step into loops. */
export interface TemplateEnvironment extends Environment {
  readonly loops: Loops;
  inLoops(loops: Loops): TemplateEnvironment;
}

export interface ContextOptions {
  readonly template: Template;
  readonly place: Place;
  readonly parameters: ReadonlyMap<string, Json>;
  /** What `deployment()` gives. */
  readonly deployment: JsonObject;
  readonly budget?: Budget;
}

export const noLoops: Loops = new Map();

export function createContext(options: ContextOptions): TemplateContext {
  const { template, place, parameters, deployment } = options;
  const budget = options.budget ?? createBudget();
  const ofPlace = placeFunctions(place, deployment);
  const ofParameters = named('parameter', (wanted) => parameters.get(foldCase(wanted)));
  const ofVariables = named(
    'variable',
    variableReader(template, () => environment(noLoops)),
  );

  function environment(loops: Loops = noLoops, runtime: RuntimeFunctions = noRuntime): TemplateEnvironment {
    const loop = loopFunctions(loops);
    return {
      budget,
      locals: new Map(),
      loops,
      inLoops: (next) => environment(next, runtime),
      find(folded, namespace) {
        if (namespace !== undefined && foldCase(namespace) !== 'sys') {
          return userFunction(template.functions, namespace, folded, budget);
        }
        if (folded === 'parameters') return ofParameters;
        if (folded === 'variables') return ofVariables;
        return own(loop, folded) ?? own(ofPlace, folded) ?? runtime(folded) ?? own(pureFunctions, folded);
      },
    };
  }
  return { template, place, budget, parameters, environment };
}

function own(table: { readonly [name: string]: Func }, name: string): Func | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** `parameters` or `variables`. */
export function named(word: 'parameter' | 'variable', read: (name: string) => Json | undefined): Func {
  return {
    kind: 'function',
    arity: [1, 1],
    run([name]) {
      const value = typeof name === 'string' ? read(name) : undefined;
      if (value === undefined) throw notFound(word, String(name));
      return value;
    },
  };
}

export function notFound(word: 'parameter' | 'variable', name: string): TemplateError {
  return new TemplateError(
    `The template ${word} '${name.slice(0, 100)}' is not found. Please see https://aka.ms/arm-syntax-${word}s for usage details`,
  );
}

const runtimeNames = /^(reference|references|list.+)$/;

/** Where resources cannot be asked, for their names would depend on themselves. */
export const noRuntime: RuntimeFunctions = (name) =>
  runtimeNames.test(name) ? notHere(name) : name === 'newguid' || name === 'utcnow' ? notHere(name) : undefined;

export function notHere(name: string): Func {
  return {
    kind: 'form',
    arity: [0, 256],
    run(_, call) {
      throw new TemplateError(
        `The template function '${call.name || name}' is not expected at this location. Please see https://aka.ms/arm-functions for usage details`,
      );
    },
  };
}

/** Each variable is evaluated when it is first asked for, once. */
function variableReader(
  template: Template,
  environment: () => TemplateEnvironment,
): (name: string) => Json | undefined {
  const raw = new Map<string, { readonly value: Json; readonly loop?: JsonObject }>();
  for (const [name, value] of Object.entries(template.variables)) {
    if (foldCase(name) === 'copy' && isArray(value)) {
      for (const loop of value) {
        if (!isObject(loop) || typeof loop.name !== 'string')
          throw new TemplateError("A loop of the template variables has no 'name'");
        raw.set(foldCase(loop.name), { value: loop.input ?? null, loop });
      }
    } else raw.set(foldCase(name), { value: value ?? null });
  }
  const known = new Map<string, Json>();
  const open = new Set<string>();
  return (name) => {
    const folded = foldCase(name);
    const before = known.get(folded);
    if (before !== undefined) return before;
    const found = raw.get(folded);
    if (found === undefined) return undefined;
    if (open.has(folded)) throw new TemplateError(`The template variable '${name}' depends on itself`);
    if (open.size > 100)
      throw new TemplateError('The template variables depend on each other in a chain that is too long');
    open.add(folded);
    try {
      const within = environment();
      const value =
        found.loop === undefined
          ? evaluateTree(found.value, within)
          : variableLoop(folded, found.loop, found.value, within);
      known.set(folded, value);
      return value;
    } finally {
      open.delete(folded);
    }
  };
}

function variableLoop(name: string, loop: JsonObject, input: Json, environment: TemplateEnvironment): Json {
  const count = loopCount(loop.count, environment);
  return Array.from({ length: count }, (_, index) =>
    evaluateTree(input, environment.inLoops(new Map(environment.loops).set(name, index))),
  );
}
