// Ids within bodies that name other resources: what they must be, and what using them needs a right to.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { ArmResource, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';

export interface Demand {
  /** Full type in lower case. */
  readonly type: string;
  /** Who names it. */
  readonly by: ResourceId;
  /** Where it must be; anywhere when left out. */
  readonly location?: string | undefined;
}

/** The record that an id in a body names. Throws what Azure says to malformed ids, other types, missing resources, other regions. */
export async function demandReference(world: World, text: string, demand: Demand): Promise<ResourceRecord> {
  const id = parseReference(text, demand);
  const document = await world.resources.read(id.key);
  if (document === undefined) throw invalidReference(text, demand.by);
  const { location } = document.body.resource;
  if (demand.location !== undefined && location !== undefined && location !== demand.location)
    throw new ArmError(
      400,
      'InvalidResourceReference',
      `Resource ${text} referenced by resource ${demand.by.text} is in location '${location}', not in '${demand.location}'. Both ` +
        'resources must be in the same region.',
    );
  return document.body;
}

/** An id of the right type, whether there is such a resource or not. */
export function parseReference(text: string, { type, by }: Demand): ResourceId {
  const parsed = parseResourceId(text);
  if (!parsed.ok)
    throw new ArmError(
      400,
      'LinkedInvalidPropertyId',
      `Property id '${text.slice(0, 200)}' of resource '${by.text}' is invalid. Expect fully qualified resource Id that start with ` +
        "'/subscriptions/{subscriptionId}' or '/providers/{resourceProviderNamespace}/'.",
    );
  if (foldCase(parsed.id.type) !== type)
    throw new ArmError(
      400,
      'InvalidRequestFormat',
      `Cannot parse the request: the id '${text.slice(0, 400)}' in resource '${by.text}' should be one of type '${type}'.`,
    );
  return parsed.id;
}

export function invalidReference(text: string, by: ResourceId): ArmError {
  return new ArmError(
    400,
    'InvalidResourceReference',
    `Resource ${text.slice(0, 800)} referenced by resource ${by.text} was not found. Please make sure that the referenced resource exists, ` +
      'and that both resources are in the same region.',
  );
}

/** The id of what a resource is a child of. */
export function parentId(id: string): string {
  return id.split('/').slice(0, -2).join('/');
}

/** What a part that is kept within its owner (a frontend of a load balancer) is in it. */
export function findPart(owner: ArmResource, member: string, id: string): JsonObject | undefined {
  const parts = owner.properties?.[member];
  if (!Array.isArray(parts)) return undefined;
  const key = foldCase(id);
  return (parts as readonly JsonObject[]).find((part) => typeof part.id === 'string' && foldCase(part.id) === key);
}
