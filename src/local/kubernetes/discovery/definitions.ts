// The definitions that OpenAPI documents publish: those of built-ins by their own names, those of custom resources by names made
// of group, version and kind.
import { definitionName } from '../schema/decode.ts';
import { definition } from '../schema/definitions.ts';
import type { Schema } from '../schema/schema.ts';
import type { ResourceType } from '../types/resource-type.ts';

const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const listMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';

/** `com.example.stable.v1.CronTab`, or the name that built-ins have. */
export const kindName = ({ group, version, kind, custom }: ResourceType): string =>
  custom ? [...group.split('.').reverse(), version, kind].join('.') : definitionName(group, version, kind);

const withKind = (schema: Schema, { group, version }: ResourceType, kind: string): Schema => ({
  ...schema,
  'x-kubernetes-group-version-kind': [{ group, kind, version }],
});

/** The schema of a custom resource with what every object has. */
function customSchema(type: ResourceType): Schema {
  const { schema } = type;
  return withKind(
    {
      ...schema,
      type: 'object',
      properties: {
        ...schema.properties,
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { $ref: objectMeta },
      },
    },
    type,
    type.kind,
  );
}

const customList = (type: ResourceType): Schema =>
  withKind(
    {
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: { type: 'string' },
        items: { type: 'array', items: { $ref: kindName(type) } },
        kind: { type: 'string' },
        metadata: { $ref: listMeta },
      },
    },
    type,
    type.listKind,
  );

/** Every name that a schema refers to, itself not included. */
function* references(schema: Schema): Iterable<string> {
  if (schema.$ref !== undefined) yield schema.$ref;
  for (const child of Object.values(schema.properties ?? {})) yield* references(child);
  if (schema.items) yield* references(schema.items);
  if (typeof schema.additionalProperties === 'object') yield* references(schema.additionalProperties);
  for (const part of [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
    yield* references(part);
  }
}

/** The definitions of some types with all that they refer to, by name and in order of names. */
export function publishedDefinitions(types: Iterable<ResourceType>): ReadonlyMap<string, Schema> {
  const found = new Map<string, Schema>();
  const open: string[] = [];
  const add = (name: string, schema: Schema): void => {
    if (found.has(name)) return;
    found.set(name, schema);
    open.push(...references(schema));
  };
  for (const type of types) {
    if (type.custom) {
      add(kindName(type), customSchema(type));
      add(`${kindName(type)}List`, customList(type));
      open.push('io.k8s.apimachinery.pkg.apis.meta.v1.Status', 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions');
      continue;
    }
    open.push(kindName(type));
    if (type.verbs.includes('list')) open.push(definitionName(type.group, type.version, type.listKind));
    for (const subresource of Object.values(type.subresources)) {
      if (subresource.kind === 'scale') open.push('io.k8s.api.autoscaling.v1.Scale');
    }
    open.push('io.k8s.apimachinery.pkg.apis.meta.v1.Status', 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions');
  }
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (!found.has(name)) add(name, definition(name));
  }
  return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
}
