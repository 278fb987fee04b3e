import { StoreError } from './errors.ts';
import { isObject } from './paths.ts';

/** Which members a schema knows, and what it knows of their insides. Alternatives are taken together. */
export interface Shape {
  /** Undefined when no alternative knows the member. */
  member(name: string): Shape | undefined;
  /** Of the elements of an array; undefined when the schema says nothing of them. */
  element(index: number): Shape | undefined;
}

type Schema = Record<string, unknown>;
/** A schema and the definitions that its references name. */
interface Node {
  readonly schema: Schema;
  readonly definitions: ReadonlyMap<string, Schema>;
}

/** Says nothing of its insides, so the code takes them as a whole: it knows whatever is there. */
const opaque: Shape = { member: () => opaque, element: () => opaque };

const structural = ['properties', 'patternProperties', 'additionalProperties', 'items', 'prefixItems'];
const alternatives = ['anyOf', 'oneOf', 'allOf'];
const scalarTypes: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'null'];

/**
 * Reads a TypeBox (JSON) schema. References are followed when they are met, so a schema may contain itself. Throws Invalid for
 * one that names what is not defined.
 */
export function shapeOf(schema: object): Shape {
  checkReferences(schema, new Set());
  const cache = new Map<string, Shape>();
  const numbers = new Map<Schema, number>();
  const number = (of: Schema): number => {
    const known = numbers.get(of);
    if (known !== undefined) return known;
    numbers.set(of, numbers.size);
    return numbers.size - 1;
  };
  const shape = (nodes: readonly Node[]): Shape | undefined => {
    if (nodes.length === 0) return undefined;
    const key = nodes.map((node) => number(node.schema)).join();
    let found = cache.get(key);
    if (!found) {
      found = build(nodes, shape);
      cache.set(key, found);
    }
    return found;
  };
  return shape([{ schema: schema as Schema, definitions: new Map() }]) ?? opaque;
}

function build(nodes: readonly Node[], shape: (nodes: readonly Node[]) => Shape | undefined): Shape {
  const branches = nodes.flatMap((node) => flatten(node, 0));
  if (branches.some(({ schema }) => isOpaque(schema))) return opaque;
  const readers = branches.map(memberReader);
  const known = new Map<string, Shape | undefined>();
  const declared = new Set(branches.flatMap(({ schema }) => Object.keys(asSchema(schema.properties) ?? {})));
  return {
    member(name) {
      // Only declared names are remembered: the keys of maps are without number.
      if (known.has(name)) return known.get(name);
      const found = shape(readers.flatMap((read) => read(name)));
      if (declared.has(name)) known.set(name, found);
      return found;
    },
    element: (index) => shape(branches.flatMap((branch) => elementNodes(branch, index))),
  };
}

/** The schemas a value may meet: references followed, alternatives laid side by side. */
function flatten(node: Node, depth: number): Node[] {
  if (depth > 64) throw new StoreError('Invalid', 'the schema refers to itself without end');
  const { schema } = node;
  const own = asSchema(schema.$defs);
  const definitions = own ? new Map([...node.definitions, ...schemasOf(own)]) : node.definitions;
  const inner = (of: unknown): Node[] => {
    const found = asSchema(of);
    return found ? flatten({ schema: found, definitions }, depth + 1) : [];
  };
  if (typeof schema.$ref === 'string') {
    return inner(definitions.get(referenced(schema.$ref)));
  }
  const branches = [
    ...alternatives.flatMap((word) => (Array.isArray(schema[word]) ? schema[word].flatMap(inner) : [])),
    ...['then', 'else'].flatMap((word) => inner(schema[word])),
  ];
  const isOnlyAlternatives = branches.length > 0 && !structural.some((word) => word in schema);
  return isOnlyAlternatives ? branches : [{ schema, definitions }, ...branches];
}

function isOpaque(schema: Schema): boolean {
  if (structural.some((word) => word in schema)) return false;
  if ('const' in schema || 'enum' in schema) return false;
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return !types.every((type) => scalarTypes.includes(type));
}

function memberReader({ schema, definitions }: Node): (name: string) => Node[] {
  const properties = asSchema(schema.properties) ?? {};
  const patterns = Object.entries(asSchema(schema.patternProperties) ?? {}).map(
    ([pattern, of]) => [new RegExp(pattern, 'u'), of] as const,
  );
  const rest = schema.additionalProperties;
  return (name) => {
    const found: unknown[] = Object.hasOwn(properties, name) ? [properties[name]] : [];
    for (const [pattern, of] of patterns) if (pattern.test(name)) found.push(of);
    if (found.length === 0 && rest !== undefined && rest !== false) found.push(rest === true ? {} : rest);
    return found.map((of) => ({ schema: asSchema(of) ?? {}, definitions }));
  };
}

function elementNodes({ schema, definitions }: Node, index: number): Node[] {
  const tuple = Array.isArray(schema.items) ? schema.items : schema.prefixItems;
  const of: unknown = Array.isArray(tuple) && index < tuple.length ? tuple[index] : schema.items;
  const found = asSchema(of);
  return found ? [{ schema: found, definitions }] : [];
}

function checkReferences(schema: unknown, outer: ReadonlySet<string>): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { $defs, $ref } = schema as Schema;
  const names = new Set([...outer, ...Object.keys(asSchema($defs) ?? {})]);
  if (typeof $ref === 'string' && !names.has(referenced($ref)))
    throw new StoreError('Invalid', `the schema refers to ${referenced($ref)}, which it does not define`);
  for (const inner of Object.values(schema)) checkReferences(inner, names);
}

function referenced(reference: string): string {
  return reference.replace(/^#\/\$defs\//, '');
}

function asSchema(value: unknown): Schema | undefined {
  return isObject(value) ? value : undefined;
}

function schemasOf(definitions: Schema): [string, Schema][] {
  return Object.entries(definitions).flatMap(([name, of]) => {
    const found = asSchema(of);
    return found ? [[name, found]] : [];
  });
}
