import type { ResourceRequest } from '../arm-client.ts';
import { type Group, resourceIdIn } from './ids.ts';

export const storageVersion = '2023-05-01';

export interface StorageAccountOptions {
  readonly location: string;
  /** `Standard_LRS` when left out. */
  readonly sku?: 'Standard_LRS' | 'Standard_ZRS' | 'Premium_LRS';
  /** Subnets that reach it; all others, except services of Azure, are shut out. Left out: everybody with a credential. */
  readonly subnetIds?: readonly string[];
  /** Whether the account's keys work; tokens always do. */
  readonly sharedKeys: boolean;
  /** How long a shared access signature may last, as `D.HH:MM:SS`. */
  readonly sasExpirationPeriod?: string;
  readonly tags?: { readonly [name: string]: string };
}

/** An account that speaks TLS 1.2 only and shows nothing to the public. */
export function storageAccount(group: Group, name: string, options: StorageAccountOptions): ResourceRequest {
  const { location, sku = 'Standard_LRS', subnetIds, sharedKeys, sasExpirationPeriod, tags } = options;
  return {
    id: resourceIdIn(group, 'Microsoft.Storage/storageAccounts', name),
    apiVersion: storageVersion,
    body: {
      location,
      kind: 'StorageV2',
      sku: { name: sku },
      ...(tags === undefined ? {} : { tags }),
      properties: {
        minimumTlsVersion: 'TLS1_2',
        supportsHttpsTrafficOnly: true,
        allowBlobPublicAccess: false,
        allowCrossTenantReplication: false,
        allowSharedKeyAccess: sharedKeys,
        encryption: {
          requireInfrastructureEncryption: true,
          keySource: 'Microsoft.Storage',
          services: { blob: { keyType: 'Account', enabled: true }, file: { keyType: 'Account', enabled: true } },
        },
        ...(sasExpirationPeriod === undefined ? {} : { sasPolicy: { sasExpirationPeriod, expirationAction: 'Log' } }),
        ...(subnetIds === undefined
          ? {}
          : {
              networkAcls: {
                bypass: 'AzureServices',
                defaultAction: 'Deny',
                virtualNetworkRules: subnetIds.map((id) => ({ id, action: 'Allow', state: 'Succeeded' })),
              },
            }),
      },
    },
  };
}

export function blobContainer(group: Group, account: string, name: string): ResourceRequest {
  return {
    id: resourceIdIn(group, 'Microsoft.Storage/storageAccounts/blobServices/containers', account, 'default', name),
    apiVersion: storageVersion,
    body: { properties: { publicAccess: 'None' } },
  };
}
