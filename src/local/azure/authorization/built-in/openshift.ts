// The roles that Azure has for OpenShift's operators, for the service and for its hosted control planes.
import { below, builtIn, type RoleDefinition } from './role.ts';

const network = (endings: readonly string[]): readonly string[] => below('Microsoft.Network', endings);
const compute = (endings: readonly string[]): readonly string[] => below('Microsoft.Compute', endings);
const accounts = (endings: readonly string[]): readonly string[] => below('Microsoft.Storage/storageAccounts', endings);
const identities = (endings: readonly string[]): readonly string[] =>
  below('Microsoft.ManagedIdentity/userAssignedIdentities', endings);
const groupRead = 'Microsoft.Resources/subscriptions/resourceGroups/read';

const operatorRoles: readonly RoleDefinition[] = [
  builtIn(
    'a1f96423-95ce-4224-ab27-4e3dc72facd4',
    'Azure Red Hat OpenShift Cloud Controller Manager',
    'For the operator that keeps load balancers, addresses and rules of a cluster.',
    {
      actions: [
        'Microsoft.Compute/virtualMachines/read',
        ...network([
          'loadBalancers/backendAddressPools/join/action',
          'loadBalancers/read',
          'loadBalancers/write',
          'loadBalancers/inboundNatRules/join/action',
          'networkInterfaces/read',
          'networkInterfaces/write',
          'networkSecurityGroups/read',
          'networkSecurityGroups/write',
          'networkSecurityGroups/join/action',
          'publicIPAddresses/join/action',
          'publicIPAddresses/read',
          'publicIPAddresses/write',
          'virtualNetworks/subnets/join/action',
          'virtualNetworks/subnets/read',
          'publicIPPrefixes/join/action',
          'applicationSecurityGroups/joinNetworkSecurityRule/action',
        ]),
      ],
    },
  ),
  builtIn(
    '0336e1d3-7a87-462b-b6db-342b63f7802c',
    'Azure Red Hat OpenShift Cluster Ingress Operator',
    'For the operator of the router and its names.',
    {
      actions: network([
        'dnsZones/A/delete',
        'dnsZones/A/write',
        'privateDnsZones/A/delete',
        'privateDnsZones/A/write',
        'virtualNetworks/subnets/read',
        'virtualNetworks/subnets/join/action',
      ]),
    },
  ),
  builtIn(
    '5b7237c5-45e1-49d6-bc18-a1f62f400748',
    'Azure Red Hat OpenShift Disk Storage Operator',
    'For the operator of volumes on disks.',
    {
      actions: [
        ...compute([
          'virtualMachines/write',
          'virtualMachines/read',
          'virtualMachineScaleSets/virtualMachines/write',
          'virtualMachineScaleSets/virtualMachines/read',
          'virtualMachineScaleSets/read',
          'snapshots/write',
          'snapshots/read',
          'snapshots/delete',
          'locations/operations/read',
          'locations/DiskOperations/read',
          'disks/write',
          'disks/read',
          'disks/delete',
          'disks/beginGetAccess/action',
          'diskEncryptionSets/read',
        ]),
        groupRead,
      ],
    },
  ),
  builtIn(
    '0d7aedc0-15fd-4a67-a412-efad370c947e',
    'Azure Red Hat OpenShift File Storage Operator',
    'For the operator of volumes on file shares.',
    {
      actions: [
        ...accounts([
          'delete',
          'fileServices/read',
          'fileServices/shares/delete',
          'fileServices/shares/read',
          'fileServices/shares/write',
          'listKeys/action',
          'read',
          'write',
        ]),
        ...network([
          'networkSecurityGroups/join/action',
          'virtualNetworks/subnets/read',
          'virtualNetworks/subnets/write',
          'routeTables/join/action',
          'natGateways/join/action',
        ]),
      ],
    },
  ),
  builtIn(
    '8b32b316-c2f5-4ddf-b05b-83dacd2d08b5',
    'Azure Red Hat OpenShift Image Registry Operator',
    'For the operator of the image registry and its storage.',
    {
      actions: [
        ...accounts([
          'blobServices/read',
          'blobServices/containers/read',
          'blobServices/containers/write',
          'blobServices/containers/delete',
          'blobServices/generateUserDelegationKey/action',
          'read',
          'write',
          'delete',
          'listKeys/action',
          'PrivateEndpointConnectionsApproval/action',
        ]),
        'Microsoft.Resources/tags/write',
        ...network([
          'privateEndpoints/write',
          'privateEndpoints/read',
          'privateEndpoints/privateDnsZoneGroups/write',
          'privateEndpoints/privateDnsZoneGroups/read',
          'privateDnsZones/read',
          'privateDnsZones/write',
          'privateDnsZones/join/action',
          'privateDnsZones/A/write',
          'privateDnsZones/virtualNetworkLinks/write',
          'privateDnsZones/virtualNetworkLinks/read',
          'networkInterfaces/read',
          'virtualNetworks/subnets/read',
          'virtualNetworks/subnets/join/action',
          'virtualNetworks/join/action',
        ]),
      ],
      dataActions: accounts(
        ['delete', 'write', 'read', 'add/action', 'move/action'].map((verb) => `blobServices/containers/blobs/${verb}`),
      ),
    },
  ),
  builtIn(
    '0358943c-7e01-48ba-8889-02cc51d78637',
    'Azure Red Hat OpenShift Machine API Operator',
    'For the operator that makes and removes machines.',
    {
      actions: [
        ...compute([
          'availabilitySets/delete',
          'availabilitySets/read',
          'availabilitySets/write',
          'diskEncryptionSets/read',
          'disks/delete',
          'galleries/images/versions/read',
          'skus/read',
          'virtualMachines/delete',
          'virtualMachines/read',
          'virtualMachines/write',
          'capacityReservationGroups/deploy/action',
        ]),
        ...identities(['assign/action']),
        ...network([
          'applicationSecurityGroups/read',
          'applicationSecurityGroups/joinNetworkSecurityRule/action',
          'loadBalancers/backendAddressPools/join/action',
          'loadBalancers/frontendIPConfigurations/join/action',
          'loadBalancers/inboundNATRules/join/action',
          'loadBalancers/read',
          'loadBalancers/write',
          'networkInterfaces/delete',
          'networkInterfaces/join/action',
          'networkInterfaces/loadBalancers/read',
          'networkInterfaces/read',
          'networkInterfaces/write',
          'networkSecurityGroups/join/action',
          'networkSecurityGroups/read',
          'networkSecurityGroups/write',
          'publicIPAddresses/delete',
          'publicIPAddresses/join/action',
          'publicIPAddresses/read',
          'publicIPAddresses/write',
          'routeTables/read',
          'virtualNetworks/subnets/join/action',
          'virtualNetworks/subnets/read',
        ]),
        groupRead,
      ],
    },
  ),
  builtIn(
    'be7a6435-15ae-4171-8f30-4a343eff9e8f',
    'Azure Red Hat OpenShift Network Operator',
    'For the operator of the cluster network.',
    {
      actions: [
        ...network([
          'networkInterfaces/read',
          'networkInterfaces/write',
          'virtualNetworks/read',
          'virtualNetworks/subnets/join/action',
          'loadBalancers/backendAddressPools/join/action',
          'loadBalancers/backendAddressPools/read',
        ]),
        'Microsoft.Compute/virtualMachines/read',
      ],
    },
  ),
  builtIn(
    '4436bae4-7702-4c84-919b-c4069ff25ee2',
    'Azure Red Hat OpenShift Service Operator',
    "For the service's own operator in a cluster.",
    {
      actions: [
        ...network([
          'virtualNetworks/subnets/read',
          'virtualNetworks/subnets/write',
          'natGateways/join/action',
          'routeTables/join/action',
          'networkSecurityGroups/join/action',
        ]),
        ...accounts(['listKeys/action', 'read']),
      ],
    },
  ),
  builtIn(
    'ef318e2a-8334-4a05-9e4a-295a196c6a6e',
    'Azure Red Hat OpenShift Federated Credential',
    'Keeps the federated credentials of identities.',
    {
      actions: identities([
        'read',
        'federatedIdentityCredentials/write',
        'federatedIdentityCredentials/read',
        'federatedIdentityCredentials/delete',
      ]),
    },
  ),
  builtIn(
    '42f3c60f-e7b1-46d7-ba56-6de681664342',
    'Azure Red Hat OpenShift Network First Party',
    "What the service itself needs of a cluster's network.",
    {
      actions: network([
        'virtualNetworks/read',
        'virtualNetworks/join/action',
        'virtualNetworks/subnets/read',
        'virtualNetworks/subnets/write',
        'virtualNetworks/subnets/join/action',
        'routeTables/read',
        'routeTables/join/action',
        'natGateways/read',
        'natGateways/join/action',
        'networkSecurityGroups/join/action',
      ]),
    },
  ),
];

const hostedRoles: readonly RoleDefinition[] = [
  builtIn(
    '88366f10-ed47-4cc0-9fab-c8a06148393e',
    'Azure Red Hat OpenShift Hosted Control Planes Cluster API Provider',
    'For the provider that makes the machines of node pools.',
    {
      actions: [
        ...compute([
          'availabilitySets/delete',
          'availabilitySets/read',
          'availabilitySets/write',
          'diskEncryptionSets/read',
          'disks/delete',
          'disks/read',
          'disks/write',
          'virtualMachines/delete',
          'virtualMachines/read',
          'virtualMachines/write',
        ]),
        ...network([
          'loadBalancers/backendAddressPools/join/action',
          'networkInterfaces/delete',
          'networkInterfaces/join/action',
          'networkInterfaces/read',
          'networkInterfaces/write',
          'virtualNetworks/subnets/join/action',
        ]),
      ],
    },
  ),
  builtIn(
    'fc0c873f-45e9-4d0d-a7d1-585aab30c6ed',
    'Azure Red Hat OpenShift Hosted Control Planes Control Plane Operator',
    'For the operator of a hosted control plane.',
    { actions: [groupRead, ...network(['virtualNetworks/read', 'networkSecurityGroups/read'])] },
  ),
  builtIn(
    'c0ff367d-66d8-445e-917c-583feb0ef0d4',
    'Azure Red Hat OpenShift Hosted Control Planes Service Managed Identity',
    "What the service needs of a hosted cluster's network.",
    {
      actions: network([
        'virtualNetworks/read',
        'virtualNetworks/join/action',
        'virtualNetworks/subnets/read',
        'virtualNetworks/subnets/write',
        'virtualNetworks/subnets/join/action',
        'routeTables/read',
        'routeTables/join/action',
        'natGateways/read',
        'natGateways/join/action',
        'networkSecurityGroups/read',
        'networkSecurityGroups/write',
        'networkSecurityGroups/join/action',
      ]),
    },
  ),
];

export const openShiftRoles: readonly RoleDefinition[] = [...operatorRoles, ...hostedRoles];
