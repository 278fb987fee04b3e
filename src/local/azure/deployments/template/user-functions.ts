// Functions that a template defines. They see their own parameters and nothing else of the template.
import { foldCase } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import type { Budget } from '../expressions/budget.ts';
import type { Func } from '../expressions/environment.ts';
import { pureFunctions } from '../expressions/functions/pure.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { isArray, isObject, memberOf } from '../expressions/values.ts';
import { named, type TemplateEnvironment } from './context.ts';
import { evaluateTree } from './evaluate-tree.ts';

const callDepthMax = 16;

/** The function of a namespace; undefined when the template defines no such. */
export function userFunction(
  groups: readonly JsonObject[],
  namespace: string,
  name: string,
  budget: Budget,
  depth = 0,
): Func | undefined {
  const wanted = foldCase(namespace);
  const group = groups.find((one) => typeof one.namespace === 'string' && foldCase(one.namespace) === wanted);
  const members = group === undefined ? undefined : memberOf(group, 'members');
  const definition = isObject(members) ? memberOf(members, name) : undefined;
  if (!isObject(definition)) return undefined;
  const given = memberOf(definition, 'parameters');
  const names = isArray(given)
    ? given.map((one) => (isObject(one) && typeof one.name === 'string' ? foldCase(one.name) : ''))
    : [];
  const output = memberOf(definition, 'output');
  const body = isObject(output) ? (memberOf(output, 'value') ?? null) : null;
  return {
    kind: 'function',
    arity: [names.length, names.length],
    run(args) {
      if (depth >= callDepthMax)
        throw new TemplateError(`Functions of the template call each other deeper than '${callDepthMax}' times`);
      const values = new Map<string, Json>(names.map((one, index) => [one, args[index] ?? null]));
      return evaluateTree(body, functionEnvironment(groups, values, budget, depth + 1));
    },
  };
}

function functionEnvironment(
  groups: readonly JsonObject[],
  values: ReadonlyMap<string, Json>,
  budget: Budget,
  depth: number,
): TemplateEnvironment {
  const parameters = named('parameter', (name) => values.get(foldCase(name)));
  const environment: TemplateEnvironment = {
    budget,
    locals: new Map(),
    loops: new Map(),
    inLoops: () => environment,
    find(folded, namespace) {
      if (namespace !== undefined && foldCase(namespace) !== 'sys')
        return userFunction(groups, namespace, folded, budget, depth);
      if (folded === 'parameters') return parameters;
      return Object.hasOwn(pureFunctions, folded) ? pureFunctions[folded] : undefined;
    },
  };
  return environment;
}
