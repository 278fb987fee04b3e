// OpenAPI v3: an index, and one document for each group and version.
import { createHash } from 'node:crypto';
import { definitionName } from '../schema/decode.ts';
import type { Schema } from '../schema/schema.ts';
import type { ResourceType, TypeTable } from '../types/resource-type.ts';
import { kindName, publishedDefinitions } from './definitions.ts';
import { groupsOf } from './groups.ts';
import { type Operation, type Parameter, type PathItem, pathsOf } from './operations.ts';

export const documentInfo = { title: 'Kubernetes', version: '1.34' };

const refTo = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

/** A schema in which references stand as OpenAPI v3 wants them: alone, or wrapped where something stands beside them. */
function published(schema: Schema): object {
  const { $ref, properties, items, additionalProperties, allOf, anyOf, oneOf, not, ...rest } = schema;
  if ($ref !== undefined) {
    return Object.keys(rest).length > 0 ? { ...rest, allOf: [refTo($ref)] } : refTo($ref);
  }
  return {
    ...rest,
    ...(properties
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, published(child)])) }
      : {}),
    ...(items ? { items: published(items) } : {}),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === 'object' ? published(additionalProperties) : additionalProperties,
        }),
    ...(allOf ? { allOf: allOf.map(published) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(published) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(published) } : {}),
    ...(not ? { not: published(not) } : {}),
  };
}

const parameter = ({ name, in: where, type }: Parameter): object => ({
  name,
  in: where,
  ...(where === 'path' ? { required: true } : {}),
  schema: { type, uniqueItems: true },
});

const patchTypes = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'];

/** What a type may be patched with. kubectl takes from here whether it can send a strategic merge patch. */
const patchTypesOf = ({ custom }: ResourceType): readonly string[] =>
  custom ? patchTypes : [...patchTypes, 'application/strategic-merge-patch+json'];

const meta = (kind: string): object => refTo(`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`);

function operation(type: ResourceType, { kind, ...operation }: Operation): object {
  const own = kind.kind === type.kind && kind.group === type.group;
  const scale = kind.kind === 'Scale' && kind.group === 'autoscaling';
  const object = own ? refTo(kindName(type)) : scale ? refTo('io.k8s.api.autoscaling.v1.Scale') : { type: 'object' };
  const list = refTo(type.custom ? `${kindName(type)}List` : definitionName(type.group, type.version, type.listKind));
  const answers = { object, list, status: meta('Status') };
  const bodies = {
    object: { content: { '*/*': { schema: object } }, required: true },
    patch: {
      content: Object.fromEntries(patchTypesOf(type).map((media) => [media, { schema: { type: 'object' } }])),
      required: true,
    },
    deleteOptions: { content: { '*/*': { schema: meta('DeleteOptions') } } },
    none: undefined,
  };
  const body = bodies[operation.body];
  return {
    tags: [operation.tag],
    operationId: operation.id,
    ...(operation.parameters.length > 0 ? { parameters: operation.parameters.map(parameter) } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: {
      '200': { description: 'OK', content: { 'application/json': { schema: answers[operation.answer] } } },
      '401': { description: 'Unauthorized' },
    },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': kind,
  };
}

const pathItem = (type: ResourceType, { parameters, operations }: PathItem): object => ({
  ...Object.fromEntries(operations.map((each) => [each.method, operation(type, each)])),
  parameters: parameters.map(parameter),
});

/** The document of one group and version; undefined for what is not served. */
export function openapiV3Document(table: TypeTable, group: string, version: string): object | undefined {
  const types = groupsOf(table)
    .find((each) => each.group === group)
    ?.versions.find((each) => each.version === version)?.types;
  if (!types) return undefined;
  const paths = types.flatMap((type) => pathsOf(type).map((each) => [each.path, pathItem(type, each)] as const));
  const schemas = [...publishedDefinitions(types)].map(([name, schema]) => [name, published(schema)] as const);
  return {
    openapi: '3.0.0',
    info: documentInfo,
    paths: Object.fromEntries(paths.sort(([one], [other]) => (one < other ? -1 : 1))),
    components: {
      schemas: Object.fromEntries(schemas),
      securitySchemes: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
    },
  };
}

export const hashOf = (bytes: Buffer): string => createHash('sha512').update(bytes).digest('hex').toUpperCase();
