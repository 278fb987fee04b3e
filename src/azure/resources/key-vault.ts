import type { ResourceRequest } from '../arm-client.ts';
import { type Group, resourceIdIn } from './ids.ts';

export const keyVaultVersion = '2023-07-01';

/** A vault whose secrets, keys and certificates are reached by role assignments alone. */
export function keyVault(
  group: Group,
  name: string,
  options: { readonly location: string; readonly tenantId: string; readonly retentionDays?: number },
): ResourceRequest {
  const { location, tenantId, retentionDays = 90 } = options;
  return {
    id: resourceIdIn(group, 'Microsoft.KeyVault/vaults', name),
    apiVersion: keyVaultVersion,
    body: {
      location,
      properties: {
        tenantId,
        sku: { family: 'A', name: 'standard' },
        enableRbacAuthorization: true,
        enableSoftDelete: true,
        softDeleteRetentionInDays: retentionDays,
      },
    },
  };
}
