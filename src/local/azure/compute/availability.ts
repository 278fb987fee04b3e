// Whether a size can be had in a location and zones.
import { ArmError } from '../../../arm/errors.ts';
import type { ResourceId } from '../../../arm/resource-id.ts';
import type { World } from '../kernel/world.ts';
import { findSize, type VmSize, vmSizes } from './sizes.ts';
import { isRestricted, zonesOfSize } from './skus.ts';

/** Throws InvalidParameter for sizes that there are not, SkuNotAvailable for those that cannot be had there. */
export function demandSize(
  world: World,
  id: ResourceId,
  name: string,
  location: string,
  zones: readonly string[],
): VmSize {
  const size = findSize(name);
  if (size === undefined)
    throw new ArmError(
      400,
      'InvalidParameter',
      `The value ${name.slice(0, 100)} provided for the VM size is not valid. The valid sizes in the current region are: ${vmSizes
        .map((one) => one.name)
        .join(',')}. Find out more on the valid VM sizes in each region at https://aka.ms/azure-regions.`,
      { target: 'vmSize' },
    );
  const place = world.cloud.locations.find((one) => one.name === location);
  const available = place === undefined ? [] : zonesOfSize(size, place);
  if (!isRestricted(world, location, size.name) && zones.every((zone) => available.includes(zone))) return size;
  throw new ArmError(
    409,
    'SkuNotAvailable',
    `The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: ${size.name}' is currently not available in ` +
      `location '${location}'. The requested size for resource '${id.text}' is currently not available in location '${location}' zones ` +
      `'${zones.join(',')}' for subscription '${id.subscriptionId ?? ''}'. Please try another size or deploy to a different location or ` +
      'zones. See https://aka.ms/azureskunotavailable for details.',
  );
}
