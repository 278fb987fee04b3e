// Microsoft.Compute/skus: what can be had where, and what is restricted.
import { foldCase } from '../../../arm/resource-id.ts';
import type { Location } from '../cloud.ts';
import { normalLocation } from '../kernel/place.ts';
import type { ProviderRoute } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { machineVersions, skuVersions } from './api-versions.ts';
import { capabilitiesOf, type VmSize, vmSizes } from './sizes.ts';

/** The zones of a location in which a size is. */
export function zonesOfSize({ series }: VmSize, { zones }: Pick<Location, 'zones'>): readonly string[] {
  return zones ? (series.zones ?? ['1', '2', '3']) : [];
}

/** Whether a fault says that the subscription may not have the size in the location. */
export function isRestricted(world: Pick<World, 'faults'>, location: string, size: string): boolean {
  return world.faults
    .standing('skuRestricted')
    .some(({ location: place, sku }) => normalLocation(place) === location && foldCase(sku) === foldCase(size));
}

function vmSku(world: Pick<World, 'faults'>, size: VmSize, location: Location): JsonObject {
  const zones = zonesOfSize(size, location);
  const { name } = location;
  const restricted = isRestricted(world, name, size.name);
  return {
    resourceType: 'virtualMachines',
    name: size.name,
    tier: 'Standard',
    size: size.shortName,
    family: size.series.family,
    locations: [name],
    locationInfo: [
      {
        location: name,
        zones,
        zoneDetails: [],
      },
    ],
    capabilities: capabilitiesOf(size),
    restrictions: restricted
      ? [
          {
            type: 'Location',
            values: [name],
            restrictionInfo: { locations: [name] },
            reasonCode: 'NotAvailableForSubscription',
          },
          ...(zones.length === 0
            ? []
            : [
                {
                  type: 'Zone',
                  values: [name],
                  restrictionInfo: { locations: [name], zones },
                  reasonCode: 'NotAvailableForSubscription',
                },
              ]),
        ]
      : [],
  };
}

const diskSkus = [
  'Standard_LRS',
  'StandardSSD_LRS',
  'StandardSSD_ZRS',
  'Premium_LRS',
  'Premium_ZRS',
  'PremiumV2_LRS',
  'UltraSSD_LRS',
];

function otherSkus({ name, zones }: Location): readonly JsonObject[] {
  const locationInfo = [{ location: name, zones: zones ? ['1', '2', '3'] : [], zoneDetails: [] }];
  return [
    ...diskSkus
      .filter((sku) => zones || !/ZRS|V2|Ultra/.test(sku))
      .map((sku) => ({
        resourceType: 'disks',
        name: sku,
        tier: sku.split('_')[0] ?? sku,
        locations: [name],
        locationInfo,
        capabilities: [{ name: 'MaxSizeGiB', value: '32767' }],
        restrictions: [],
      })),
    ...['Classic', 'Aligned'].map((sku) => ({
      resourceType: 'availabilitySets',
      name: sku,
      locations: [name],
      locationInfo,
      capabilities: [{ name: 'MaximumPlatformFaultDomainCount', value: '3' }],
      restrictions: [],
    })),
  ];
}

const wantedLocation = /\blocation\s+eq\s+'([^']{1,64})'/i;

export const skuRoutes: readonly ProviderRoute[] = [
  {
    method: 'GET',
    scope: 'subscription',
    path: 'skus',
    apiVersions: skuVersions,
    action: 'Microsoft.Compute/skus/read',
    async run({ world, query }) {
      const wanted = wantedLocation.exec(query.$filter ?? '')?.[1];
      const places = world.cloud.locations.filter(
        ({ name }) => wanted === undefined || normalLocation(wanted) === name,
      );
      return {
        value: places.flatMap((place) => [...vmSizes.map((size) => vmSku(world, size, place)), ...otherSkus(place)]),
      };
    },
  },
  {
    method: 'GET',
    scope: 'subscription',
    path: 'locations/{location}/vmSizes',
    apiVersions: machineVersions,
    action: 'Microsoft.Compute/locations/vmSizes/read',
    run: async () => ({ value: vmSizes.map(sizeView) }),
  },
];

/** A size as lists of sizes show it. */
export function sizeView(size: VmSize): JsonObject {
  return {
    name: size.name,
    numberOfCores: size.vCpus,
    osDiskSizeInMB: 1_047_552,
    resourceDiskSizeInMB: size.localDiskMiB,
    memoryInMB: Math.round(size.memoryGiB * 1024),
    maxDataDiskCount: size.maxDataDisks,
  };
}
