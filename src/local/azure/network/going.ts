// Whether a resource is being deleted, or its group is: what belongs to it may go then.
import { parseResourceId } from '../../../arm/resource-id.ts';
import type { World } from '../kernel/world.ts';

/** True for what is not there any more, too. */
export async function isGoing(world: World, text: string): Promise<boolean> {
  const parsed = parseResourceId(text);
  if (!parsed.ok) return true;
  const { id } = parsed;
  if (await isMarked(world, id.key)) return true;
  return id.resourceGroup !== undefined && isMarked(world, id.key.split('/').slice(0, 5).join('/'));
}

async function isMarked(world: World, key: string): Promise<boolean> {
  const document = await world.resources.read(key);
  return document === undefined || document.body.resource.properties?.provisioningState === 'Deleting';
}
