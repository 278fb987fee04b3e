// Nested templates that are evaluated in the template around them: what depends on that template becomes values, what depends on the
// nested one (its loops, resources at run time) stays an expression. The outcome stands for itself.
import { foldCase } from '../../../../arm/resource-id.ts';
import type { Json, JsonObject } from '../../kernel/record.ts';
import { textUnits } from '../expressions/budget.ts';
import { evaluate } from '../expressions/evaluate.ts';
import { expressionMaxLength, isExpression, type Node, parseExpression } from '../expressions/syntax.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { isArray, isObject, measure, memberOf } from '../expressions/values.ts';
import type { TemplateEnvironment } from './context.ts';
import { isInner, type Locate, visitCalls } from './dependencies.ts';
import type { PlannedResource } from './plan.ts';
import { limits, type Template } from './template.ts';

export interface Around {
  readonly template: Template;
  readonly environment: TemplateEnvironment;
  readonly resources: readonly PlannedResource[];
  readonly locate: Locate;
}

/** The nested template with everything of the template around it filled in. Throws TemplateError. */
export function closeTemplate(nested: JsonObject, around: Around): JsonObject {
  const closed = closedValue(nested, around, false, 0);
  if (!isObject(closed)) return nested;
  const own = memberOf(nested, 'functions');
  const functions = [...(isArray(own) ? own : []), ...around.template.functions];
  // Its parameters and variables are those of the template around it; what it defines itself is not seen by its expressions.
  const { parameters: _, variables: __, ...rest } = closed;
  return functions.length === 0 ? rest : { ...rest, functions };
}

function closedValue(value: Json, around: Around, inLoop: boolean, depth: number): Json {
  around.environment.budget.spend(1);
  if (depth > limits.depth) throw new TemplateError('The template is nested too deep');
  if (typeof value === 'string') return isExpression(value) ? closedText(value, around, inLoop) : value;
  if (isArray(value)) return value.map((one) => closedValue(one, around, inLoop, depth + 1));
  if (!isObject(value)) return value;
  const loops = inLoop || memberOf(value, 'copy') !== undefined;
  const inner = isInner(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const verbatim =
        (inner && foldCase(name) === 'template') || (depth === 0 && /^(functions|parameters|variables)$/i.test(name));
      return [name, verbatim ? (one ?? null) : closedValue(one ?? null, around, loops, depth + 1)];
    }),
  );
}

function closedText(text: string, around: Around, inLoop: boolean): Json {
  around.environment.budget.spend(textUnits(text));
  const node = closedNode(parseExpression(text), around, inLoop);
  if ('known' in node) {
    measure(node.known, around.environment.budget);
    return typeof node.known === 'string' && node.known.startsWith('[') ? `[${node.known}` : node.known;
  }
  const made = `[${spell(node.late, around)}]`;
  if (made.length > expressionMaxLength)
    throw new TemplateError(
      'An expression of a nested template becomes too long with the values of the template around it',
    );
  return made;
}

type Closed = { readonly known: Json } | { readonly late: Node };

function closedNode(node: Node, around: Around, inLoop: boolean): Closed {
  if (!isLate(node, around.environment, inLoop)) return { known: evaluate(node, around.environment) };
  const part = (one: Node): Node => {
    const closed = closedNode(one, around, inLoop);
    return 'late' in closed ? closed.late : asNode(closed.known);
  };
  switch (node.kind) {
    case 'literal':
      return { known: node.value };
    case 'member':
      return { late: { kind: 'member', target: part(node.target), name: node.name } };
    case 'index':
      return { late: { kind: 'index', target: part(node.target), index: part(node.index) } };
    case 'call':
      return { late: located({ ...node, args: node.args.map(part) }, around) };
  }
}

/** Whether a value depends on what only the nested deployment knows. */
function isLate(node: Node, environment: TemplateEnvironment, inLoop: boolean): boolean {
  let late = false;
  visitCalls(node, ({ name, namespace, args }) => {
    const folded = foldCase(name);
    if (namespace !== undefined) return;
    if (/^(references?|list.+|lambda|lambdavariables|resourceinfo)$/.test(folded)) late = true;
    if (folded !== 'copyindex') return;
    const [first] = args;
    const loop = first?.kind === 'literal' && typeof first.value === 'string' ? foldCase(first.value) : '';
    if (loop === '' ? inLoop : !environment.loops.has(loop)) late = true;
  });
  return late;
}

/** A resource of the template around is not in the nested one: it is named by its id and api-version. */
function located(node: Extract<Node, { kind: 'call' }>, { locate, resources }: Around): Node {
  if (node.namespace !== undefined || !/^(reference|list.+)$/i.test(node.name)) return node;
  const [first, version, ...rest] = node.args;
  if (first?.kind !== 'literal' || typeof first.value !== 'string') return node;
  const found = locate(first.value);
  const target = found.length === 1 ? resources[found[0] ?? -1] : undefined;
  if (target === undefined) return node;
  const id: Node = { kind: 'literal', value: target.id.text };
  return { ...node, args: [id, version ?? { kind: 'literal', value: target.apiVersion }, ...rest] };
}

function called(name: string, args: readonly Node[]): Node {
  return { kind: 'call', name, key: name, args };
}

/** A value as an expression. */
function asNode(value: Json): Node {
  if (typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value)))
    return { kind: 'literal', value };
  if (typeof value === 'boolean') return called(value ? 'true' : 'false', []);
  if (value === null) return called('null', []);
  return called('json', [{ kind: 'literal', value: JSON.stringify(value) }]);
}

function spell(node: Node, around: Around): string {
  switch (node.kind) {
    case 'literal':
      return typeof node.value === 'number' ? String(node.value) : `'${node.value.replaceAll("'", "''")}'`;
    case 'member':
      return `${spell(node.target, around)}.${node.name}`;
    case 'index':
      return `${spell(node.target, around)}[${spell(node.index, around)}]`;
    case 'call': {
      const name = node.namespace === undefined ? node.name : `${node.namespace}.${node.name}`;
      const made = `${name}(${node.args.map((arg) => spell(arg, around)).join(', ')})`;
      around.environment.budget.spend(textUnits(made));
      return made;
    }
  }
}
