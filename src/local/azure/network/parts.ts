// Parts: resources of their own that are also written and shown as a list within another one (subnets of a network, rules of a security
// group). They are kept once, as children; the list is made of them.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import type { AlsoWrite, PrepareRequest } from '../kernel/provider.ts';
import type { ArmResource, Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { demandAtMost } from './request-body.ts';

export interface PartFamily {
  /** Of the owner's properties. */
  readonly member: string;
  /** Of the parts' ids. */
  readonly segment: string;
  /** What a write of the owner without the member means. */
  readonly absent: 'keep' | 'remove';
}

/** A part as it was given, or as it is. */
export interface Part {
  readonly name: string;
  readonly body: JsonObject;
}

/** The parts of a kept owner. */
export async function partsOf(world: World, owner: ResourceId, family: PartFamily): Promise<readonly ResourceRecord[]> {
  return world.resources.list({ parent: owner.key, type: `${owner.type}/${family.segment}` });
}

/**
 * What a write of the owner does to its parts: the parts that it will have, and the writes that make it so. Throws for parts without a
 * name and for two of one name.
 */
export async function planParts(
  { world, id, body, current }: PrepareRequest,
  family: PartFamily,
): Promise<{ readonly parts: readonly Part[]; readonly also: readonly AlsoWrite[] }> {
  const there = current === undefined ? [] : await partsOf(world, id, family);
  const given = (body.properties as JsonObject | undefined)?.[family.member];
  if ((given === undefined || given === null) && family.absent === 'keep')
    return { parts: there.map(({ resource }) => ({ name: resource.name, body: resource })), also: [] };
  const parts = namedItems(id, family, given);
  const names = new Set(parts.map(({ name }) => foldCase(name)));
  return {
    parts,
    also: [
      ...there
        .filter(({ resource }) => !names.has(foldCase(resource.name)))
        .map(({ resource }): AlsoWrite => ({ kind: 'delete', id: resource.id })),
      ...parts.map(
        ({ name, body: part }): AlsoWrite => ({ kind: 'put', id: `${id.text}/${family.segment}/${name}`, body: part }),
      ),
    ],
  };
}

const nameForm = /^[a-z0-9]([a-z0-9_.-]{0,78}[a-z0-9_])?$/i;

/** As many as one resource can have, by the member that lists them. */
const maxItems: { readonly [member: string]: number } = {
  subnets: 3000,
  virtualNetworkPeerings: 500,
  routes: 600,
  ipConfigurations: 256,
  frontendIPConfigurations: 600,
  loadBalancingRules: 1500,
  inboundNatRules: 1500,
  outboundRules: 600,
  privateLinkServiceConnections: 10,
  manualPrivateLinkServiceConnections: 10,
  privateDnsZoneConfigs: 10,
};
const maxOfOthers = 1000;

/** The members of a list that have names, which must differ. */
export function namedItems(owner: ResourceId, { member }: Pick<PartFamily, 'member'>, given: Json | undefined): Part[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) throw cannotParse(`'${member}' should be a list.`);
  demandAtMost(maxItems[member] ?? maxOfOthers, given, `items in '${member}' of resource ${owner.text}`);
  const seen = new Set<string>();
  return (given as readonly Json[]).map((item) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item))
      throw cannotParse(`'${member}' should hold objects.`);
    const part = item as JsonObject;
    const { name } = part;
    if (typeof name !== 'string' || name === '')
      throw new ArmError(400, 'MissingNameInRequest', `A part of '${member}' in resource ${owner.text} has no name.`);
    if (!nameForm.test(name))
      throw new ArmError(
        400,
        'InvalidResourceName',
        `Resource name ${name.slice(0, 100)} is invalid. The name can be up to 80 characters long. It must begin with a word character, and ` +
          "it must end with a word character or with '_'. The name may contain word characters or '.', '-', '_'.",
      );
    if (seen.has(foldCase(name)))
      throw new ArmError(
        400,
        'DuplicateResourceName',
        `Resource ${owner.text} has two child resources with the same name (${name}).`,
      );
    seen.add(foldCase(name));
    return { name, body: part };
  });
}

function cannotParse(message: string): ArmError {
  return new ArmError(400, 'InvalidRequestFormat', 'Cannot parse the request.', {
    details: [{ code: 'InvalidJson', message }],
  });
}

/** The owner with its parts in it. */
export async function showWithParts(
  world: World,
  record: ResourceRecord,
  apiVersion: string,
  families: readonly PartFamily[],
): Promise<ArmResource> {
  const { resource } = record;
  const lists: { [member: string]: Json } = {};
  for (const { member, segment } of families) {
    const parts = await world.resources.list({ parent: resource.id, type: `${resource.type}/${segment}` });
    const shown: Json[] = [];
    for (const part of parts) {
      const { systemData: _, ...view } = await world.resources.view(part, apiVersion);
      shown.push(view);
    }
    lists[member] = shown;
  }
  return { ...resource, properties: { ...resource.properties, ...lists } };
}

/**
 * The write of the owner that goes with the write of a part on its own: it gives the owner another etag, so that who has read the owner
 * before cannot overwrite the part unknowingly, and two parts that depend on each other are not written at once.
 */
export function touchOwner(owner: ArmResource): AlsoWrite {
  return { kind: 'put', id: owner.id, body: owner };
}

/** A list kept within its owner, its items named like resources. */
export function ownedItems(
  owner: ResourceId,
  fullType: string,
  member: string,
  segment: string,
  items: readonly Part[],
): readonly JsonObject[] {
  return items.map(({ name, body }) => {
    const { properties, etag: _, ...rest } = body;
    return {
      ...rest,
      name,
      id: `${owner.text}/${segment}/${name}`,
      type: `${fullType}/${member}`,
      properties: { ...(properties as JsonObject | undefined), provisioningState: 'Succeeded' },
    };
  });
}
