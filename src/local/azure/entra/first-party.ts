// Applications that every tenant has: Azure's own services, which tokens are made for, and its command lines, which people sign in
// with. Their ids are the ones Azure publishes.
import type { Cloud } from '../cloud.ts';

export interface FirstParty {
  readonly appId: string;
  readonly displayName: string;
  /** Names of it as a resource, beside its app id. */
  readonly names: (cloud: Pick<Cloud, 'origin' | 'suffix'>) => readonly string[];
  /** People sign in with it; no client credential. */
  readonly publicClient?: boolean;
}

export const resourceProviderAppId = 'f1dd0a37-89c6-4e07-bcd1-ffd3d43d8875';
export const resourceManagerAppId = '797f4846-ba00-4fd7-ba43-dac1f8f63013';
export const graphAppId = '00000003-0000-0000-c000-000000000000';
export const azureCliAppId = '04b07795-8ddb-461a-bbee-02f9e1bf7b46';

export const firstParties: readonly FirstParty[] = [
  {
    appId: resourceManagerAppId,
    displayName: 'Windows Azure Service Management API',
    names: ({ origin, suffix }) => [
      origin,
      `https://management.${suffix}`,
      'https://management.azure.com',
      'https://management.core.windows.net',
    ],
  },
  {
    appId: graphAppId,
    displayName: 'Microsoft Graph',
    names: ({ suffix }) => [`https://graph.${suffix}`, 'https://graph.microsoft.com'],
  },
  {
    appId: '00000002-0000-0000-c000-000000000000',
    displayName: 'Windows Azure Active Directory',
    names: () => ['https://graph.windows.net'],
  },
  {
    appId: 'cfa8b339-82a2-471a-a3c9-0fc0be7a4093',
    displayName: 'Azure Key Vault',
    names: ({ suffix }) => [`https://vault.${suffix}`, 'https://vault.azure.net'],
  },
  {
    appId: 'e406a681-f3d4-42a8-90b6-c2b029497af1',
    displayName: 'Azure Storage',
    names: ({ suffix }) => [`https://storage.${suffix}`, 'https://storage.azure.com'],
  },
  {
    appId: '6a0ec4d3-30cb-4a83-91c0-ae56bc0e3d26',
    displayName: 'Azure Container Registry',
    names: ({ suffix }) => [`https://azurecr.${suffix}`, 'https://containerregistry.azure.net'],
  },
  {
    appId: '4962773b-9cdb-44cf-a8bf-237846a00ab7',
    displayName: 'Microsoft.EventGrid',
    names: ({ suffix }) => [`https://eventgrid.${suffix}`, 'https://eventgrid.azure.net'],
  },
  {
    appId: '123cd850-d9df-40bd-94d5-c9f07b7fa203',
    displayName: 'Azure OSSRDBMS Database',
    names: () => ['https://ossrdbms-aad.database.windows.net'],
  },
  {
    appId: 'a232010e-820c-4083-83bb-3ace5fc29d0b',
    displayName: 'Azure Cosmos DB',
    names: ({ suffix }) => [`https://documents.${suffix}`, 'https://cosmos.azure.com'],
  },
  {
    appId: '5861f7fb-5582-4c1a-83c0-fc5ffdb531a6',
    displayName: 'Azure RBAC Data Plane',
    names: ({ suffix }) => [`https://authorization.${suffix}`, 'https://authorization.azure.net'],
  },
  {
    appId: '6dae42f8-4368-4678-94ff-3960e28e3630',
    displayName: 'Azure Kubernetes Service AAD Server',
    names: () => [],
  },
  { appId: resourceProviderAppId, displayName: 'Azure Red Hat OpenShift RP', names: () => [] },
  { appId: azureCliAppId, displayName: 'Microsoft Azure CLI', names: () => [], publicClient: true },
  {
    appId: '1950a258-227b-4e31-a9cf-717495945fc2',
    displayName: 'Microsoft Azure PowerShell',
    names: () => [],
    publicClient: true,
  },
];

const byId: ReadonlyMap<string, FirstParty> = new Map(firstParties.map((party) => [party.appId, party]));

export function firstParty(appId: string): FirstParty | undefined {
  return byId.get(appId.toLowerCase());
}
