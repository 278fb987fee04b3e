// Microsoft.Compute.
import { normalLocation } from '../kernel/place.ts';
import type { Provider, ProviderRoute } from '../kernel/provider.ts';
import { quotasOf } from '../quota/limits.ts';
import { machineVersions } from './api-versions.ts';
import { diskEncryptionSets } from './disk-encryption-sets.ts';
import { disks, snapshots } from './disks.ts';
import { machineRoutes } from './instance-views.ts';
import { scaleSetMachines } from './scale-set-machines.ts';
import { scaleSetRoutes, scaleSets } from './scale-sets.ts';
import { skuRoutes } from './skus.ts';
import {
  availabilitySets,
  galleries,
  galleryImages,
  galleryImageVersions,
  images,
  proximityPlacementGroups,
  sshPublicKeys,
} from './small-types.ts';
import { machineExtensions, virtualMachines } from './virtual-machines.ts';

const usages: ProviderRoute = {
  method: 'GET',
  scope: 'subscription',
  path: 'locations/{location}/usages',
  apiVersions: machineVersions,
  action: 'Microsoft.Compute/locations/usages/read',
  async run({ world, subscriptionId = '', parameters }) {
    const quotas = await quotasOf(world, subscriptionId, normalLocation(parameters.location ?? ''));
    return {
      value: quotas.map(({ name, label, limit, used }) => ({
        limit,
        unit: 'Count',
        currentValue: used,
        name: { value: name, localizedValue: label },
      })),
    };
  },
};

export const computeProvider: Provider = {
  namespace: 'Microsoft.Compute',
  types: [
    virtualMachines,
    machineExtensions,
    scaleSets,
    scaleSetMachines,
    disks,
    snapshots,
    diskEncryptionSets,
    availabilitySets,
    proximityPlacementGroups,
    sshPublicKeys,
    images,
    galleries,
    galleryImages,
    galleryImageVersions,
  ],
  routes: [...skuRoutes, usages, ...machineRoutes, ...scaleSetRoutes],
};
