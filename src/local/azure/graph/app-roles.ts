// Application permissions on Graph: which there are, and who was granted which.
import { createHash } from 'node:crypto';
import { isRecord } from '../../../arm/record.ts';
import type { ServicePrincipal } from '../entra/directory-objects.ts';
import { graphAppId } from '../entra/first-party.ts';
import type { JsonObject } from '../kernel/record.ts';
import { type GraphCall, type Handlers, noContent, objectOf, pageAnswer } from './call.ts';
import { badRequest, denied, notFound } from './graph-error.ts';
import { demandRead, mayWrite } from './permissions.ts';

/** By name, the ids that Graph publishes. */
export const graphRoles: Readonly<Record<string, string>> = {
  'Application.Read.All': '9a5d68dd-52b0-4cc2-bd40-abcf44ac3a30',
  'Application.ReadWrite.All': '1bfefb4e-e0b5-418b-a88f-73c46d2cc8e9',
  'Application.ReadWrite.OwnedBy': '18a4783c-866b-4cc7-a460-3d5e5662c884',
  'Directory.Read.All': '7ab1d382-f21e-4acd-a863-ba3e13f7da61',
  'Directory.ReadWrite.All': '19dbc75e-c2e2-444c-a770-ec69d8559fc7',
  'Group.Read.All': '5b567255-7703-4780-807c-7be8301ae99b',
  'Group.ReadWrite.All': '62a82d76-70ea-41e2-9197-370581804d09',
  'GroupMember.Read.All': '98830695-27a2-44f7-8c18-0c3ebc9698f6',
  'User.Read.All': 'df021288-bdef-4463-88db-98f22de89214',
  'User.ReadWrite.All': '741f803b-c850-494e-b5df-cde7c675a1ca',
};

const properties: ReadonlySet<string> = new Set([
  'id',
  'appRoleId',
  'principalId',
  'principalDisplayName',
  'principalType',
  'resourceId',
  'resourceDisplayName',
]);

export const appRoleHandlers: Handlers = {
  'GET servicePrincipals/{id}/appRoleAssignments': (call) => {
    const principal = objectOf(call, 'ServicePrincipal');
    demandRead(call.bearer, 'applications', principal);
    const roles = principal.grantedRoles[graphAppId] ?? [];
    const shapes = roles.map((role) => assignment(call, principal, role));
    return pageAnswer(call, 'appRoleAssignment', 'appRoleAssignments', shapes, properties);
  },
  'POST servicePrincipals/{id}/appRoleAssignments': async (call) => {
    const principal = objectOf(call, 'ServicePrincipal');
    if (!mayGrant(call)) throw denied();
    const { principalId, resourceId, appRoleId } = isRecord(call.body) ? call.body : {};
    if (principalId !== principal.id) throw badRequest("The 'principalId' must be the id of this service principal.");
    if (resourceId !== graphPrincipal(call)?.id) {
      throw badRequest(
        "The 'resourceId' must be the id of Microsoft Graph's service principal: only its permissions can be granted here.",
      );
    }
    const [role] = Object.entries(graphRoles).find(([, id]) => id === appRoleId) ?? [];
    if (role === undefined) throw badRequest('Permission being assigned was not found on application.');
    const has = principal.grantedRoles[graphAppId] ?? [];
    if (has.includes(role)) throw badRequest('Permission being assigned already exists on the object.');
    await setRoles(call, principal, (roles) => [...new Set([...roles, role])]);
    return { status: 201, body: assignment(call, principal, role) };
  },
  'DELETE servicePrincipals/{id}/appRoleAssignments/{assignment}': async (call) => {
    const principal = objectOf(call, 'ServicePrincipal');
    if (!mayGrant(call)) throw denied();
    const wanted = call.parameters.assignment ?? '';
    const roles = principal.grantedRoles[graphAppId] ?? [];
    const role = roles.find((one) => assignmentId(principal, one) === wanted);
    if (role === undefined) throw notFound(wanted);
    await setRoles(call, principal, (now) => now.filter((one) => one !== role));
    return noContent;
  },
};

/** Whoever can grant permissions can have them all, so owning or managing applications is not enough. */
function mayGrant(call: GraphCall): boolean {
  return mayWrite(call.bearer, 'users') && mayWrite(call.bearer, 'applications');
}

async function setRoles(
  call: GraphCall,
  principal: ServicePrincipal,
  change: (roles: readonly string[]) => readonly string[],
): Promise<void> {
  await call.entra.objects.change<'ServicePrincipal'>(principal, (now) => ({
    ...now,
    grantedRoles: { ...now.grantedRoles, [graphAppId]: change(now.grantedRoles[graphAppId] ?? []) },
  }));
}

function graphPrincipal(call: GraphCall): ServicePrincipal | undefined {
  return call.entra.objects.servicePrincipal(call.bearer.tenantId, graphAppId);
}

function assignmentId(principal: ServicePrincipal, role: string): string {
  return createHash('sha256').update(`${principal.id} ${role}`).digest('base64url');
}

function assignment(call: GraphCall, principal: ServicePrincipal, role: string): JsonObject {
  const graph = graphPrincipal(call);
  return {
    id: assignmentId(principal, role),
    appRoleId: graphRoles[role] ?? '00000000-0000-0000-0000-000000000000',
    createdDateTime: principal.createdDateTime,
    principalDisplayName: principal.displayName,
    principalId: principal.id,
    principalType: 'ServicePrincipal',
    resourceDisplayName: graph?.displayName ?? 'Microsoft Graph',
    resourceId: graph?.id ?? null,
  };
}
