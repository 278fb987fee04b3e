// Roles over everything, over access, and over identities, networks, names and machines.
import { below, builtIn, companions, type RoleDefinition } from './role.ts';

export const ownerRole = '8e3af657-a8ff-443c-a75c-2fe8c4bcb635';

export const generalRoles: readonly RoleDefinition[] = [
  builtIn(ownerRole, 'Owner', 'Manages everything, access included.', { actions: ['*'] }),
  builtIn('b24988ac-6180-42a0-ab88-20f7382dd24c', 'Contributor', 'Manages everything but access.', {
    actions: ['*'],
    notActions: [
      'Microsoft.Authorization/*/Delete',
      'Microsoft.Authorization/*/Write',
      'Microsoft.Authorization/elevateAccess/Action',
      'Microsoft.Blueprint/blueprintAssignments/write',
      'Microsoft.Blueprint/blueprintAssignments/delete',
      'Microsoft.Compute/galleries/share/action',
      'Microsoft.Purview/consents/write',
      'Microsoft.Purview/consents/delete',
      'Microsoft.Resources/deploymentStacks/manageDenySetting/action',
      'Microsoft.Subscription/cancel/action',
      'Microsoft.Subscription/enable/action',
    ],
  }),
  builtIn('acdd72a7-3385-48ef-bd42-f606fba81ae7', 'Reader', 'Sees everything, changes nothing.', {
    actions: ['*/read'],
  }),
  builtIn('18d7d88d-d35e-4fb5-a5c3-7773c20a72d9', 'User Access Administrator', 'Manages access.', {
    actions: ['*/read', 'Microsoft.Authorization/*', 'Microsoft.Support/*'],
  }),
  builtIn(
    'f58310d9-a9f6-439a-9e8d-f62e7b41a168',
    'Role Based Access Control Administrator',
    'Manages access by role assignments alone.',
    {
      actions: [
        'Microsoft.Authorization/roleAssignments/write',
        'Microsoft.Authorization/roleAssignments/delete',
        '*/read',
        'Microsoft.Support/*',
      ],
    },
  ),
  builtIn('e40ec5ca-96e0-45a2-b4ff-59039f2c2b59', 'Managed Identity Contributor', 'Manages user-assigned identities.', {
    actions: [
      ...below('Microsoft.ManagedIdentity/userAssignedIdentities', [
        'read',
        'write',
        'delete',
        'federatedIdentityCredentials/read',
        'federatedIdentityCredentials/write',
        'federatedIdentityCredentials/delete',
        'revokeTokens/action',
      ]),
      ...companions.filter((action) => !action.startsWith('Microsoft.ResourceHealth')),
    ],
  }),
  builtIn(
    'f1a07417-d97a-45cb-824c-7a7467783830',
    'Managed Identity Operator',
    'Reads user-assigned identities and gives them to resources.',
    {
      actions: [
        'Microsoft.ManagedIdentity/userAssignedIdentities/*/read',
        'Microsoft.ManagedIdentity/userAssignedIdentities/*/assign/action',
        ...companions.filter((action) => !action.startsWith('Microsoft.ResourceHealth')),
      ],
    },
  ),
  builtIn('4d97b98b-1d4f-4787-a291-c67834d212e7', 'Network Contributor', 'Manages networks.', {
    actions: ['Microsoft.Network/*', ...companions],
  }),
  builtIn(
    'befefa01-2a29-4197-83a8-272ff33ce314',
    'DNS Zone Contributor',
    'Manages public DNS zones and their records.',
    {
      actions: ['Microsoft.Network/dnsZones/*', ...companions],
    },
  ),
  builtIn('b12aa53e-6015-4669-85d0-8515ebb3ae7f', 'Private DNS Zone Contributor', 'Manages private DNS zones.', {
    actions: [
      'Microsoft.Network/privateDnsZones/*',
      'Microsoft.Network/privateDnsOperationResults/*',
      'Microsoft.Network/privateDnsOperationStatuses/*',
      'Microsoft.Network/virtualNetworks/read',
      'Microsoft.Network/virtualNetworks/join/action',
      ...companions.filter((action) => !action.startsWith('Microsoft.ResourceHealth')),
    ],
  }),
  builtIn('9980e02c-c2be-4d73-94e8-173b1dc7cf3c', 'Virtual Machine Contributor', 'Manages virtual machines.', {
    actions: [
      ...below('Microsoft.Compute', [
        'availabilitySets/*',
        'locations/*',
        'virtualMachines/*',
        'virtualMachineScaleSets/*',
        'cloudServices/*',
        'disks/write',
        'disks/read',
        'disks/delete',
      ]),
      ...below('Microsoft.Network', [
        'applicationGateways/backendAddressPools/join/action',
        'loadBalancers/backendAddressPools/join/action',
        'loadBalancers/inboundNatPools/join/action',
        'loadBalancers/inboundNatRules/join/action',
        'loadBalancers/probes/join/action',
        'loadBalancers/read',
        'locations/*',
        'networkInterfaces/*',
        'networkSecurityGroups/join/action',
        'networkSecurityGroups/read',
        'publicIPAddresses/join/action',
        'publicIPAddresses/read',
        'virtualNetworks/read',
        'virtualNetworks/subnets/join/action',
      ]),
      'Microsoft.Storage/storageAccounts/listKeys/action',
      'Microsoft.Storage/storageAccounts/read',
      ...companions,
    ],
  }),
];
