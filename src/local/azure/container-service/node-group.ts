// The resource group that a cluster keeps its machines in, which comes and goes with the cluster.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { textOf } from '../kept-members.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';

const groupVersion = '2021-04-01';
const longestName = 80;
/** Of AKS itself. */
const platformAppId = '7319c514-987d-4e9b-ac3d-d38c4f427f4c';

export function nodeGroupName(group: string, cluster: string, location: string): string {
  return `MC_${group}_${cluster}_${location}`.slice(0, longestName);
}

/** Makes the group, or finds the one it made. A group that belongs to something else fails the cluster. */
export async function ensureNodeGroup(world: World, cluster: ResourceRecord): Promise<void> {
  const id = nodeGroupId(cluster);
  const there = (await world.resources.read(id.text))?.body.resource;
  if (there) {
    if (foldCase(textOf(there.managedBy) ?? '') === foldCase(cluster.resource.id)) return;
    throw new ArmError(
      409,
      'NodeResourceGroupAlreadyExists',
      `The resource group '${id.name}' exists already and is not of this cluster.`,
    );
  }
  await world.resources.put(
    id,
    {
      location: cluster.resource.location ?? '',
      managedBy: cluster.resource.id,
      tags: { 'aks-managed-cluster-name': cluster.resource.name },
    },
    { apiVersion: groupVersion, caller: platform(world) },
  );
}

/** Begins to delete the group; it goes on by itself. */
export async function removeNodeGroup(world: World, cluster: ResourceRecord): Promise<void> {
  const id = nodeGroupId(cluster);
  const there = (await world.resources.read(id.text))?.body.resource;
  if (!there || foldCase(textOf(there.managedBy) ?? '') !== foldCase(cluster.resource.id)) return;
  try {
    await world.resources.delete(id, { apiVersion: groupVersion, caller: platform(world) });
  } catch (error) {
    // It is on its way already, or somebody has locked it: then it stays, and the lock says why.
    if (!(error instanceof ArmError) || error.status !== 409) throw error;
    world.logger.warn({ code: error.code, group: id.name }, 'the node resource group of a cluster stays');
  }
}

function nodeGroupId({ resource }: ResourceRecord): ResourceId {
  const own = parseResourceId(resource.id);
  const subscription = own.ok ? (own.id.subscriptionId ?? '') : '';
  const name = textOf(resource.properties?.nodeResourceGroup) ?? '';
  const parsed = parseResourceId(`/subscriptions/${subscription}/resourceGroups/${name}`);
  if (!parsed.ok) throw new ArmError(400, 'InvalidParameter', 'The nodeResourceGroup is no name of a resource group.');
  return parsed.id;
}

function platform(world: World): CallerIdentity {
  return {
    tenantId: world.directory.tenantId,
    objectId: platformAppId,
    kind: 'ServicePrincipal',
    appId: platformAppId,
    name: 'AzureContainerService',
    groups: [],
  };
}
