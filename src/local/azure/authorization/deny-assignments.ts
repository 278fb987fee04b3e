// Microsoft.Authorization/denyAssignments: what is forbidden whatever roles say. Everybody sees them; the platform alone writes them,
// as the service does over the resource group of a cluster.
import { checkBody } from '../../../arm/check-body.ts';
import { ArmError } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase, isGuid } from '../../../arm/resource-id.ts';
import { Type } from '../../../arm/type.ts';
import type { Prepared, PrepareRequest, ProviderRoute, ResourceType, RouteRequest } from '../kernel/provider.ts';
import type { Json, JsonObject } from '../kernel/record.ts';
import { roleAccessOf } from './access.ts';
import { parseListFilter } from './filter.ts';
import { permissionSchema, permissionsOf, shownPermission } from './permission-shape.ts';
import { scopeKey, scopeOfId } from './scope.ts';

const apiVersions = [
  '2024-07-01-preview',
  '2022-04-01',
  '2019-03-01-preview',
  '2018-07-01-preview',
  '2018-07-01',
] as const;

const principals = Type.Array(
  Type.Object({
    id: Type.String({ minLength: 1, maxLength: 64 }),
    type: Type.Optional(Type.String({ maxLength: 64 })),
  }),
  { maxItems: 200 },
);

const schema = Type.Object({
  denyAssignmentName: Type.String({ minLength: 1, maxLength: 1024 }),
  description: Type.Optional(Type.String({ maxLength: 2048 })),
  permissions: Type.Array(permissionSchema, { minItems: 1, maxItems: 64 }),
  scope: Type.Optional(Type.String({ maxLength: 2048 })),
  doNotApplyToChildScopes: Type.Optional(Type.Boolean()),
  principals,
  excludePrincipals: Type.Optional(principals),
  isSystemProtected: Type.Optional(Type.Boolean()),
});

export const denyAssignments: ResourceType = {
  type: 'denyAssignments',
  apiVersions,
  scope: 'extension',
  location: 'none',
  etags: false,
  provisioningState: false,
  prepare,
  async effect(world, event) {
    await roleAccessOf(world).noted(event);
    return undefined;
  },
};

export const denyAssignmentRoutes: readonly ProviderRoute[] = [
  {
    method: 'GET',
    scope: 'extension',
    path: 'denyAssignments',
    apiVersions,
    action: 'Microsoft.Authorization/denyAssignments/read',
    run: list,
  },
];

async function prepare({ world, id, body, current, caller }: PrepareRequest): Promise<Prepared> {
  if (!isGuid(id.name))
    throw new ArmError(
      400,
      'InvalidDenyAssignmentId',
      `The deny assignment ID '${id.name.slice(0, 100)}' is not valid. The deny assignment ID must be a GUID.`,
    );
  if (!isRecord(body.properties))
    throw new ArmError(400, 'BadRequestFormat', 'The request was incorrectly formatted: properties are missing.');
  const given = checkBody(schema, body.properties);
  for (const { id: principalId } of [...given.principals, ...(given.excludePrincipals ?? [])]) {
    if (isGuid(principalId)) continue;
    throw new ArmError(
      400,
      'InvalidDenyAssignmentPrincipalId',
      `The principal ID '${principalId}' of the deny assignment is not a valid GUID.`,
    );
  }
  const before = current?.resource.properties;
  const now = new Date(world.clock.now()).toISOString();
  return {
    resource: {
      properties: {
        denyAssignmentName: given.denyAssignmentName,
        description: given.description ?? null,
        permissions: permissionsOf((body.properties as JsonObject).permissions).map(shownPermission),
        scope: scopeOfId(id.text),
        doNotApplyToChildScopes: given.doNotApplyToChildScopes ?? false,
        principals: given.principals.map(shownPrincipal),
        excludePrincipals: (given.excludePrincipals ?? []).map(shownPrincipal),
        isSystemProtected: given.isSystemProtected ?? true,
        createdOn: before?.createdOn ?? now,
        updatedOn: now,
        createdBy: before?.createdBy ?? caller.objectId,
        updatedBy: caller.objectId,
      },
    },
    references: {},
  };
}

function shownPrincipal({ id, type }: { readonly id: string; readonly type?: string }): JsonObject {
  return { id: foldCase(id), ...(type === undefined ? {} : { type }) };
}

async function list({ world, on, query }: RouteRequest): Promise<Json> {
  const { atScope, values } = parseListFilter(query.$filter, [
    'denyAssignmentName',
    'principalId',
    'gdprExportPrincipalId',
    'assignedTo',
  ]);
  const access = roleAccessOf(world);
  const asked = scopeKey(on?.text ?? '/');
  const name = values.get('denyassignmentname');
  const principal = values.get('principalid') ?? values.get('gdprexportprincipalid') ?? values.get('assignedto');
  const value: Json[] = [];
  for (const deny of (await access.assignments()).denies()) {
    if (name !== undefined && foldCase(name) !== foldCase(deny.name)) continue;
    if (principal !== undefined && !deny.principals.has(foldCase(principal))) continue;
    if (access.reaches(deny.scope, asked) || (!atScope && access.reaches(asked, deny.scope))) value.push(deny.resource);
  }
  return { value };
}
