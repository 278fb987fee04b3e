// SKUs of addresses, prefixes and gateways, and the zones they may ask for.

import { ArmError } from '../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import type { JsonObject } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { textOf } from './text.ts';

/** The SKU to keep: one of these names, the first when none is given, with the tier. */
export function skuOf(
  id: ResourceId,
  body: JsonObject,
  names: readonly [string, ...string[]],
): { readonly name: string; readonly tier: string } {
  const given = (body.sku ?? {}) as JsonObject;
  const { name = names[0], tier = 'Regional' } = given;
  const fit = names.find((one) => foldCase(one) === foldCase(textOf(name)));
  if (fit === undefined)
    throw new ArmError(
      400,
      'InvalidRequestFormat',
      `Cannot parse the request: '${textOf(name).slice(0, 64)}' is not a SKU of resource ${id.text}. There are ${names.join(', ')}.`,
    );
  return { name: fit, tier: textOf(tier) };
}

/** The zones of a body. Throws for locations without zones and zones that there are not. */
export function zonesOf(world: World, id: ResourceId, body: JsonObject): { readonly zones?: readonly string[] } {
  const { zones, location } = body;
  if (zones === undefined || zones === null || (Array.isArray(zones) && zones.length === 0)) return {};
  if (!Array.isArray(zones) || !zones.every((zone) => typeof zone === 'string'))
    throw new ArmError(400, 'InvalidRequestFormat', 'Cannot parse the request: the zones should be a list of texts.');
  const list = zones as readonly string[];
  const place = world.cloud.locations.find(({ name }) => name === location);
  if (!place?.zones)
    throw new ArmError(
      400,
      'LocationNotSupportAvailabilityZones',
      `The location '${textOf(location)}' of resource ${id.text} does not support availability zones.`,
    );
  const wrong = list.find((zone) => !['1', '2', '3'].includes(zone));
  if (wrong !== undefined)
    throw new ArmError(
      400,
      'InvalidAvailabilityZone',
      `The zone(s) '${wrong.slice(0, 16)}' for resource '${id.text}' is not supported. The supported zones for location '${textOf(location)}' are '1,2,3'`,
    );
  return { zones: list };
}
