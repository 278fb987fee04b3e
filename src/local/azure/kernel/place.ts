// Where a resource may be.
import { ArmError } from '../../../arm/errors.ts';
import type { ResourceId } from '../../../arm/resource-id.ts';
import type { Location } from '../cloud.ts';
import type { KnownType } from './catalogue.ts';
import type { ResourceRecord } from './record.ts';
import { groupType } from './resource-group.ts';

/** `East US` and `eastus` are the same place. */
export function normalLocation(location: string): string {
  return location.replaceAll(' ', '').toLowerCase();
}

/** The location to keep for a body's; undefined for types without one. Throws what ARM says of missing, unknown and changed ones. */
export function checkLocation(
  id: ResourceId,
  known: KnownType,
  given: unknown,
  current: ResourceRecord | undefined,
  locations: readonly Location[],
): string | undefined {
  const { location: rule } = known.definition;
  if (rule === 'none') return undefined;
  const there = current?.resource.location;
  if (given === undefined || given === null || given === '') {
    if (rule === 'global') return 'global';
    // Updates by PUT may leave it out for no type of Azure: the body is the whole resource.
    throw new ArmError(400, 'LocationRequired', 'The location property is required for this definition.', {
      target: 'location',
    });
  }
  if (typeof given !== 'string')
    throw new ArmError(
      400,
      'InvalidRequestContent',
      'The request content was invalid and could not be deserialized: the location must be a text.',
      { target: 'location' },
    );
  const location = normalLocation(given);
  const available = rule === 'global' ? ['global'] : locations.map(({ name }) => name);
  if (!available.includes(location)) {
    const shown = given.slice(0, 128);
    if (known.key === groupType)
      throw new ArmError(
        400,
        'LocationNotAvailableForResourceGroup',
        `The provided location '${shown}' is not available for resource group. List of available regions is '${available.join(',')}'.`,
      );
    throw new ArmError(
      400,
      'LocationNotAvailableForResourceType',
      `The provided location '${shown}' is not available for resource type '${known.fullType}'. ` +
        `List of available regions for the resource type is '${available.join(',')}'.`,
    );
  }
  if (there !== undefined && location !== normalLocation(there)) throw moved(id, known, there, location);
  return location;
}

function moved(id: ResourceId, known: KnownType, there: string, location: string): ArmError {
  if (known.key === groupType)
    return new ArmError(
      409,
      'InvalidResourceGroupLocation',
      `Invalid resource group location '${location}'. The Resource group already exists in location '${there}'.`,
    );
  const group = id.resourceGroup === undefined ? '' : ` in resource group '${id.resourceGroup}'`;
  return new ArmError(
    409,
    'InvalidResourceLocation',
    `The resource '${id.name}' already exists in location '${there}'${group}. A resource with the same name cannot be created ` +
      `in location '${location}'. Please select a new resource name.`,
  );
}
