// What Microsoft.Network tells about a location: names that are free, usages, service tags.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { normalLocation } from '../kernel/place.ts';
import type { ProviderRoute, RouteRequest } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import { networkVersions } from './api-versions.ts';
import { isLabel, labelName, labelPool } from './public-ip-addresses.ts';
import { reservationsOf } from './reservations.ts';

const limits = [
  ['VirtualNetworks', 'Virtual Networks', 'virtualNetworks', 1000],
  ['StaticPublicIPAddresses', 'Static Public IP Addresses', 'publicIPAddresses', 1000],
  ['NetworkSecurityGroups', 'Network Security Groups', 'networkSecurityGroups', 5000],
  ['PublicIPAddresses', 'Public IP Addresses', 'publicIPAddresses', 1000],
  ['PublicIpPrefixes', 'Public Ip Prefixes', 'publicIPPrefixes', 1000],
  ['NatGateways', 'Nat Gateways', 'natGateways', 1000],
  ['NetworkInterfaces', 'Network Interfaces', 'networkInterfaces', 65_536],
  ['PrivateEndpoints', 'Private Endpoints', 'privateEndpoints', 65_536],
  ['PrivateLinkServices', 'Private Link Services', 'privateLinkServices', 800],
  ['LoadBalancers', 'Load Balancers', 'loadBalancers', 1000],
  ['ApplicationSecurityGroups', 'Application Security Groups.', 'applicationSecurityGroups', 3000],
  ['RouteTables', 'Route Tables', 'routeTables', 200],
] as const;

/** The location of a path. Throws for those that there are not. */
function demandLocation({ world, parameters }: RouteRequest): string {
  const location = normalLocation(parameters.location ?? '');
  if (world.cloud.locations.some(({ name }) => name === location)) return location;
  throw new ArmError(
    400,
    'LocationNotAvailableForResourceType',
    `The location '${location.slice(0, 64)}' is not available. Locations are ${world.cloud.locations.map(({ name }) => name).join(', ')}.`,
  );
}

const inLocation = { method: 'GET', scope: 'subscription', apiVersions: networkVersions } as const;

export const locationRoutes: readonly ProviderRoute[] = [
  {
    ...inLocation,
    path: 'locations/{location}/usages',
    action: 'Microsoft.Network/locations/usages/read',
    async run(request) {
      const location = demandLocation(request);
      const { world, subscriptionId = '' } = request;
      const counts = new Map<string, number>();
      for (const type of new Set(limits.map(([, , type]) => type))) {
        const records = await world.resources.list({ subscriptionId, type: `Microsoft.Network/${type}` });
        counts.set(type, records.filter(({ resource }) => resource.location === location).length);
      }
      return {
        value: limits.map(([value, localizedValue, type, limit]) => ({
          id: `/subscriptions/${subscriptionId}/providers/Microsoft.Network/locations/${location}/usages/${value}`,
          unit: 'Count',
          currentValue: counts.get(type) ?? 0,
          limit,
          name: { value, localizedValue },
        })),
      };
    },
  },
  {
    ...inLocation,
    path: 'locations/{location}/CheckDnsNameAvailability',
    action: 'Microsoft.Network/locations/checkDnsNameAvailability/read',
    async run(request) {
      const location = demandLocation(request);
      const label = request.query.domainnamelabel ?? '';
      if (!isLabel(label))
        throw new ArmError(
          400,
          'InvalidDomainNameLabel',
          `The domain name label ${label.slice(0, 64)} is invalid. It must conform to the following regular expression: ^[a-z][a-z0-9-]{1,61}[a-z0-9]$.`,
        );
      const name = labelName(request.world, location, label);
      const owner = await (await reservationsOf(request.world.store)).owner(labelPool, name);
      return { available: owner === undefined };
    },
  },
  {
    ...inLocation,
    path: 'locations/{location}/serviceTags',
    action: 'Microsoft.Network/locations/serviceTags/read',
    async run(request) {
      const location = demandLocation(request);
      const { world, subscriptionId = '' } = request;
      const tag = (name: string, region: string, addressPrefixes: readonly string[]): JsonObject => ({
        name,
        id: name,
        properties: { changeNumber: '1', region, systemService: name.split('.')[0] ?? name, addressPrefixes },
      });
      return {
        name: 'Public',
        id: `/subscriptions/${subscriptionId}/providers/Microsoft.Network/locations/${location}/serviceTags/Public`,
        type: 'Microsoft.Network/serviceTags',
        changeNumber: '1',
        cloud: world.cloud.name,
        values: [
          tag('AzureCloud', '', ['198.18.0.0/15']),
          tag(`AzureCloud.${foldCase(location)}`, location, ['198.18.0.0/15']),
        ],
      };
    },
  },
];
