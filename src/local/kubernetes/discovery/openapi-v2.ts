// OpenAPI v2: one document for everything. It knows less than v3, so schemas are cut to what it can say.
import type { Schema } from '../schema/schema.ts';
import type { ResourceType, TypeTable } from '../types/resource-type.ts';
import { kindName, publishedDefinitions } from './definitions.ts';
import { documentInfo } from './openapi-v3.ts';
import { type Operation, type Parameter, pathsOf } from './operations.ts';

const refTo = (name: string): object => ({ $ref: `#/definitions/${name}` });

/** Words that v2 does not have, or that old clients do not bear. */
function cut(schema: Schema): object {
  const {
    $ref,
    properties,
    items,
    additionalProperties,
    allOf: _allOf,
    anyOf: _anyOf,
    oneOf,
    not: _not,
    nullable: _nullable,
    default: _default,
    ...rest
  } = schema;
  if ($ref !== undefined) {
    return { ...Object.fromEntries(Object.entries(rest).filter(([word]) => word.startsWith('x-'))), ...refTo($ref) };
  }
  // Types that are one thing or another are written as strings.
  if (rest.type === undefined && oneOf) return { ...rest, type: 'string' };
  return {
    ...rest,
    ...(properties
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, cut(child)])) }
      : {}),
    ...(items ? { items: cut(items) } : {}),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: cut(additionalProperties) } : {}),
  };
}

const parameter = ({ name, in: where, type }: Parameter): object => ({
  name,
  in: where,
  type,
  uniqueItems: true,
  ...(where === 'path' ? { required: true } : {}),
});

function operation(type: ResourceType, { kind, ...operation }: Operation): object {
  const own = kind.kind === type.kind && kind.group === type.group;
  const schema = own ? refTo(kindName(type)) : { type: 'object' };
  const body =
    operation.body === 'none'
      ? []
      : [{ name: 'body', in: 'body', schema: operation.body === 'object' ? schema : { type: 'object' } }];
  return {
    operationId: operation.id,
    tags: [operation.tag],
    parameters: [...body, ...operation.parameters.map(parameter)],
    responses: { '200': { description: 'OK' }, '401': { description: 'Unauthorized' } },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': kind,
  };
}

export interface OpenapiV2 {
  readonly swagger: '2.0';
  readonly info: typeof documentInfo;
  readonly paths: object;
  readonly definitions: object;
  readonly securityDefinitions: object;
  readonly security: readonly object[];
}

export function openapiV2Document(table: TypeTable): OpenapiV2 {
  const types = [...table.all()];
  const paths = types.flatMap((type) =>
    pathsOf(type).map(
      ({ path, parameters, operations }) =>
        [
          path,
          {
            ...Object.fromEntries(operations.map((each) => [each.method, operation(type, each)])),
            parameters: parameters.map(parameter),
          },
        ] as const,
    ),
  );
  const definitions = [...publishedDefinitions(types)].map(([name, schema]) => [name, cut(schema)] as const);
  return {
    swagger: '2.0',
    info: documentInfo,
    paths: Object.fromEntries(paths.sort(([one], [other]) => (one < other ? -1 : 1))),
    definitions: Object.fromEntries(definitions),
    securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
    security: [{ BearerToken: [] }],
  };
}
