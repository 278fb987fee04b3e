import type { ResourceRequest } from '../arm-client.ts';
import type { JsonObject } from '../json.ts';
import { type Group, resourceIdIn } from './ids.ts';

export const networkVersion = '2024-05-01';

export interface SubnetOptions {
  readonly addressPrefix: string;
  readonly networkSecurityGroupId?: string;
  readonly routeTableId?: string;
  readonly natGatewayId?: string;
  /** Services that are reached without leaving Azure's network, such as `Microsoft.Storage`. */
  readonly serviceEndpoints?: readonly string[];
  /** The resource type that puts its own machines there. */
  readonly delegation?: string;
  readonly privateEndpointNetworkPolicies?: 'Enabled' | 'Disabled';
  readonly privateLinkServiceNetworkPolicies?: 'Enabled' | 'Disabled';
}

export function virtualNetwork(
  group: Group,
  name: string,
  options: {
    readonly location: string;
    readonly addressPrefixes: readonly string[];
    readonly subnets?: { readonly [name: string]: SubnetOptions };
    readonly dnsServers?: readonly string[];
  },
): ResourceRequest {
  const { location, addressPrefixes, subnets = {}, dnsServers } = options;
  return {
    id: resourceIdIn(group, 'Microsoft.Network/virtualNetworks', name),
    apiVersion: networkVersion,
    body: {
      location,
      properties: {
        addressSpace: { addressPrefixes },
        subnets: Object.entries(subnets).map(([subnetName, of]) => ({
          name: subnetName,
          properties: subnetProperties(of),
        })),
        ...(dnsServers === undefined ? {} : { dhcpOptions: { dnsServers } }),
      },
    },
  };
}

/** A subnet whole. To change one that others write too, read it, change what is ours and put it back with its etag. */
export function subnet(group: Group, network: string, name: string, options: SubnetOptions): ResourceRequest {
  return {
    id: resourceIdIn(group, 'Microsoft.Network/virtualNetworks/subnets', network, name),
    apiVersion: networkVersion,
    body: { properties: subnetProperties(options) },
  };
}

function subnetProperties(options: SubnetOptions): JsonObject {
  const { addressPrefix, networkSecurityGroupId, routeTableId, natGatewayId, serviceEndpoints, delegation } = options;
  const { privateEndpointNetworkPolicies, privateLinkServiceNetworkPolicies } = options;
  return {
    addressPrefix,
    ...(networkSecurityGroupId === undefined ? {} : { networkSecurityGroup: { id: networkSecurityGroupId } }),
    ...(routeTableId === undefined ? {} : { routeTable: { id: routeTableId } }),
    ...(natGatewayId === undefined ? {} : { natGateway: { id: natGatewayId } }),
    ...(serviceEndpoints === undefined
      ? {}
      : { serviceEndpoints: serviceEndpoints.map((service) => ({ service, locations: ['*'] })) }),
    ...(delegation === undefined
      ? {}
      : { delegations: [{ name: delegation.replaceAll('/', '-'), properties: { serviceName: delegation } }] }),
    ...(privateEndpointNetworkPolicies === undefined ? {} : { privateEndpointNetworkPolicies }),
    ...(privateLinkServiceNetworkPolicies === undefined ? {} : { privateLinkServiceNetworkPolicies }),
  };
}
