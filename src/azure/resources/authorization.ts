import type { ResourceRequest } from '../arm-client.ts';
import { extensionIdOn, stableGuid, subscriptionScope } from './ids.ts';

export const roleAssignmentsVersion = '2022-04-01';
export const denyAssignmentsVersion = '2018-07-01-preview';

/** Built-in roles that are assigned here, by their ids. */
export const builtInRoles = {
  owner: '8e3af657-a8ff-443c-a75c-2fe8c4bcb635',
  contributor: 'b24988ac-6180-42a0-ab88-20f7382dd24c',
  reader: 'acdd72a7-3385-48ef-bd42-f606fba81ae7',
  networkContributor: '4d97b98b-1d4f-4787-a291-c67834d212e7',
  dnsZoneContributor: 'befefa01-2a29-4197-83a8-272ff33ce314',
  storageBlobDataContributor: 'ba92f5b4-2d11-453d-a403-e96b0029c9fe',
  acrPull: '7f951dda-4ed3-4680-a7ca-43fe172d538d',
  keyVaultSecretsUser: '4633458b-17de-408a-b874-0445c86b69e6',
  keyVaultSecretsOfficer: 'b86a8fe4-44ce-4948-aee5-eccb2c155cd7',
  keyVaultCertificatesOfficer: 'a4417e6f-fecd-4de8-b567-7b0420556985',
  keyVaultCryptoUser: '12338af0-0e69-4776-bea7-57ae8d297424',
} as const;

/** A role's id as assignments name it. */
export function roleDefinitionId(subscriptionId: string, role: string): string {
  return extensionIdOn(subscriptionScope(subscriptionId), 'Microsoft.Authorization/roleDefinitions', role);
}

export interface RoleAssignmentOptions {
  /** A subscription, group or resource. */
  readonly scope: string;
  readonly subscriptionId: string;
  /** The id of the role: one of {@link builtInRoles}, or a custom one's. */
  readonly role: string;
  readonly principalId: string;
  readonly principalType?: 'ServicePrincipal' | 'User' | 'Group';
  /** Follows from scope, principal and role when left out, so that assigning twice is assigning once. */
  readonly name?: string;
}

export function roleAssignment(options: RoleAssignmentOptions): ResourceRequest {
  const { scope, subscriptionId, role, principalId, principalType = 'ServicePrincipal' } = options;
  return {
    id: extensionIdOn(
      scope,
      'Microsoft.Authorization/roleAssignments',
      options.name ?? stableGuid(scope, principalId, role),
    ),
    apiVersion: roleAssignmentsVersion,
    body: { properties: { roleDefinitionId: roleDefinitionId(subscriptionId, role), principalId, principalType } },
  };
}

export interface DenyAssignmentOptions {
  readonly scope: string;
  /** A GUID; follows from the scope and the display name when left out. */
  readonly name?: string;
  readonly displayName: string;
  readonly actions: readonly string[];
  readonly notActions: readonly string[];
  /** Whom it does not apply to; it applies to everybody else. */
  readonly exceptPrincipals: readonly { readonly id: string; readonly type: 'ServicePrincipal' | 'User' | 'Group' }[];
}

/** Stands for every principal of every tenant. */
const everybody = '00000000-0000-0000-0000-000000000000';

/** Forbids everybody but a few. Only the platform may write it. */
export function denyAssignment(options: DenyAssignmentOptions): ResourceRequest {
  const { scope, displayName, actions, notActions, exceptPrincipals } = options;
  return {
    id: extensionIdOn(scope, 'Microsoft.Authorization/denyAssignments', options.name ?? stableGuid(scope, displayName)),
    apiVersion: denyAssignmentsVersion,
    body: {
      properties: {
        denyAssignmentName: displayName,
        permissions: [{ actions, notActions, dataActions: [], notDataActions: [] }],
        scope,
        doNotApplyToChildScopes: false,
        principals: [{ id: everybody, type: 'SystemDefined' }],
        excludePrincipals: exceptPrincipals,
        isSystemProtected: true,
      },
    },
  };
}
