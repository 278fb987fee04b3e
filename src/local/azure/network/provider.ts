// Microsoft.Network.
import type { Provider } from '../kernel/provider.ts';
import { applicationSecurityGroups } from './application-security-groups.ts';
import { baseType } from './base-type.ts';
import { privateDnsZoneGroups } from './dns-zone-groups.ts';
import { privateZones, publicZones, zoneRoutes, zoneTypes } from './dns-zones.ts';
import { backendAddressPools, inboundNatRules } from './load-balancer-parts.ts';
import { loadBalancerRoutes, loadBalancers } from './load-balancers.ts';
import { locationRoutes } from './locations.ts';
import { natGateways } from './nat-gateways.ts';
import { networkInterfaceRoutes, networkInterfaces } from './network-interfaces.ts';
import { networkSecurityGroups, securityRules } from './network-security-groups.ts';
import { peerings } from './peerings.ts';
import { privateEndpoints } from './private-endpoints.ts';
import { privateEndpointConnections, privateLinkServices } from './private-link-services.ts';
import { publicIpAddresses } from './public-ip-addresses.ts';
import { publicIpPrefixes } from './public-ip-prefixes.ts';
import { routes, routeTables } from './route-tables.ts';
import { subnets } from './subnets.ts';
import { virtualNetworkLinks } from './virtual-network-links.ts';
import { virtualNetworkRoutes, virtualNetworks } from './virtual-networks.ts';

export const networkProvider: Provider = {
  namespace: 'Microsoft.Network',
  types: [
    virtualNetworks,
    subnets,
    peerings,
    networkSecurityGroups,
    securityRules,
    applicationSecurityGroups,
    routeTables,
    routes,
    natGateways,
    publicIpAddresses,
    publicIpPrefixes,
    networkInterfaces,
    loadBalancers,
    backendAddressPools,
    inboundNatRules,
    privateEndpoints,
    privateDnsZoneGroups,
    privateLinkServices,
    privateEndpointConnections,
    ...zoneTypes(publicZones),
    ...zoneTypes(privateZones),
    virtualNetworkLinks,
    // Azure makes one in every location that has a network; clients look for it.
    { ...baseType, type: 'networkWatchers', asynchrony: { create: 'none', update: 'none', delete: 'operation' } },
  ],
  routes: [
    ...virtualNetworkRoutes,
    ...networkInterfaceRoutes,
    ...loadBalancerRoutes,
    ...zoneRoutes(publicZones),
    ...zoneRoutes(privateZones),
    ...locationRoutes,
  ],
};
