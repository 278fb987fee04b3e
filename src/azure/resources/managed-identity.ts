import type { ResourceRequest } from '../arm-client.ts';
import { type Group, resourceIdIn } from './ids.ts';

export const managedIdentityVersion = '2023-01-31';

export function managedIdentity(group: Group, name: string, options: { readonly location: string }): ResourceRequest {
  return {
    id: resourceIdIn(group, 'Microsoft.ManagedIdentity/userAssignedIdentities', name),
    apiVersion: managedIdentityVersion,
    body: { location: options.location },
  };
}

/** Lets whoever shows a token of this issuer and subject be the identity. An identity takes one such write at a time. */
export function federatedCredential(
  identityId: string,
  name: string,
  trust: { readonly issuer: string; readonly subject: string; readonly audience: string },
): ResourceRequest {
  const { issuer, subject, audience } = trust;
  return {
    id: `${identityId}/federatedIdentityCredentials/${name}`,
    apiVersion: managedIdentityVersion,
    body: { properties: { issuer, subject, audiences: [audience] } },
  };
}
