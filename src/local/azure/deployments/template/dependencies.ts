// Which resource of a template waits for which: by `dependsOn`, by `reference` and `list…` of resources in the template, by serial loops.
import { foldCase, idKey } from '../../../../arm/resource-id.ts';
import type { Json } from '../../kernel/record.ts';
import { textUnits } from '../expressions/budget.ts';
import { evaluate } from '../expressions/evaluate.ts';
import { isExpression, type Node, parseExpression } from '../expressions/syntax.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { isArray, isObject, memberOf } from '../expressions/values.ts';
import type { TemplateContext, TemplateEnvironment } from './context.ts';
import { evaluateTree } from './evaluate-tree.ts';
import type { PlannedResource } from './plan.ts';

/** Finds resources of the plan by what expressions call them. */
export type Locate = (text: string) => readonly number[];

export function createLocate(resources: readonly PlannedResource[]): Locate {
  const index = new Map<string, number[]>();
  const note = (key: string, at: number): void => {
    const known = index.get(key);
    if (known === undefined) index.set(key, [at]);
    else if (known.at(-1) !== at) known.push(at);
  };
  for (const [at, resource] of resources.entries()) {
    note(resource.id.key, at);
    if (resource.symbol !== undefined) {
      note(`symbol ${foldCase(resource.symbol)}`, at);
      if (resource.copy !== undefined) note(`symbol ${foldCase(resource.symbol)}[${resource.copy.index}]`, at);
    }
    if (resource.copy !== undefined) note(`loop ${foldCase(resource.copy.name)}`, at);
    note(`name ${foldCase(resource.name)}`, at);
    // A relative id: `Microsoft.Network/virtualNetworks/net`.
    const relative = resource.id.key.lastIndexOf('/providers/');
    if (relative !== -1) note(`name ${resource.id.key.slice(relative + '/providers/'.length)}`, at);
  }
  return (text) => {
    const key = idKey(text);
    if (key.startsWith('/')) return index.get(key) ?? [];
    return index.get(`symbol ${key}`) ?? index.get(`loop ${key}`) ?? index.get(`name ${key}`) ?? [];
  };
}

/** Throws TemplateError for names that are not there and for circles. */
export function connect(
  resources: readonly PlannedResource[],
  context: TemplateContext,
): readonly ReadonlySet<number>[] {
  const locate = createLocate(resources);
  const waits = resources.map((resource, at) => {
    const found = new Set<number>();
    const environment = context.environment(resource.loops);
    for (const name of namesIn(memberOf(resource.body, 'dependsOn'), environment, resource)) {
      const targets = locate(name);
      if (targets.length === 0) {
        throw new TemplateError(
          `The resource '${name.slice(0, 300)}' is not defined in the template. Please see https://aka.ms/arm-syntax for usage details`,
        );
      }
      context.budget.spend(targets.length);
      for (const target of targets) found.add(target);
    }
    for (const target of implied(resource, environment, locate)) found.add(target);
    found.delete(at);
    return found;
  });
  serialLoops(resources, waits);
  refuseCircles(resources, waits);
  return waits;
}

function namesIn(
  given: Json | undefined,
  environment: TemplateEnvironment,
  resource: PlannedResource,
): readonly string[] {
  if (given === undefined || given === null) return [];
  const value = evaluateTree(given, environment);
  const names = isArray(value) ? value.filter((one) => one !== null) : [value];
  return names.map((name) => {
    if (typeof name !== 'string')
      throw new TemplateError(
        `The 'dependsOn' of the template resource '${resource.name}' holds a value that is not a text`,
      );
    return name;
  });
}

/** Members that say where and when, and templates that are evaluated by themselves, refer to nothing at run time. */
const outside = new Set(['dependson', 'resources', 'copy', 'condition', 'name', 'type', 'apiversion', 'scope']);

function implied(resource: PlannedResource, environment: TemplateEnvironment, locate: Locate): readonly number[] {
  const found: number[] = [];
  const inText = (text: string): void => {
    environment.budget.spend(textUnits(text));
    if (!isExpression(text) || !/reference|list/i.test(text)) return;
    visitCalls(parseExpression(text), (call) => {
      if (!/^(references?|list.+)$/i.test(call.name) || call.namespace !== undefined) return;
      const first = call.args[0];
      if (first === undefined) return;
      const name = quietly(first, environment);
      if (typeof name !== 'string') return;
      const targets = locate(name);
      environment.budget.spend(targets.length);
      found.push(...targets);
    });
  };
  const walk = (value: Json | undefined): void => {
    if (typeof value === 'string') inText(value);
    else if (isArray(value)) for (const one of value) walk(one);
    else if (isObject(value)) {
      const inner = isInner(value);
      for (const [name, one] of Object.entries(value)) if (!(inner && foldCase(name) === 'template')) walk(one);
    }
  };
  for (const [name, value] of Object.entries(resource.body)) if (!outside.has(foldCase(name))) walk(value);
  return found;
}

/** Properties of a nested deployment whose template sees nothing of this one. */
export function isInner(properties: Json | undefined): boolean {
  const options = isObject(properties) ? memberOf(properties, 'expressionEvaluationOptions') : undefined;
  const scope = isObject(options) ? memberOf(options, 'scope') : undefined;
  return typeof scope === 'string' && foldCase(scope) === 'inner';
}

function quietly(node: Node, environment: TemplateEnvironment): Json | undefined {
  try {
    return evaluate(node, environment);
  } catch (error) {
    // It depends on a loop of properties, on a lambda or on another resource: nothing that could be waited for by name.
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

export function visitCalls(node: Node, visit: (call: Extract<Node, { kind: 'call' }>) => void): void {
  switch (node.kind) {
    case 'literal':
      return;
    case 'member':
      visitCalls(node.target, visit);
      return;
    case 'index':
      visitCalls(node.target, visit);
      visitCalls(node.index, visit);
      return;
    case 'call':
      visit(node);
      for (const arg of node.args) visitCalls(arg, visit);
  }
}

/** A batch of a serial loop waits for the batch before it. */
function serialLoops(resources: readonly PlannedResource[], waits: readonly Set<number>[]): void {
  const loops = new Map<string, number[]>();
  for (const [at, { copy }] of resources.entries()) {
    if (copy?.batchSize === undefined) continue;
    const members = loops.get(foldCase(copy.name));
    if (members === undefined) loops.set(foldCase(copy.name), [at]);
    else members.push(at);
  }
  for (const members of loops.values()) {
    for (const at of members) {
      const copy = resources[at]?.copy;
      const size = copy?.batchSize ?? 1;
      const batch = Math.floor((copy?.index ?? 0) / size);
      for (const other of members) {
        if (Math.floor((resources[other]?.copy?.index ?? 0) / size) === batch - 1) waits[at]?.add(other);
      }
    }
  }
}

function refuseCircles(resources: readonly PlannedResource[], waits: readonly ReadonlySet<number>[]): void {
  const left = new Set(resources.keys());
  const open = waits.map((one) => one.size);
  const followers = resources.map((): number[] => []);
  for (const [at, targets] of waits.entries()) for (const target of targets) followers[target]?.push(at);
  const ready = [...left].filter((at) => open[at] === 0);
  for (let at = ready.pop(); at !== undefined; at = ready.pop()) {
    left.delete(at);
    for (const follower of followers[at] ?? []) {
      const still = (open[follower] ?? 0) - 1;
      open[follower] = still;
      if (still === 0) ready.push(follower);
    }
  }
  const [first] = left;
  if (first !== undefined) {
    throw new TemplateError(
      `Circular dependency detected on resource: '${resources[first]?.id.text ?? ''}'. Please see https://aka.ms/arm-syntax-resources for usage details`,
    );
  }
}
