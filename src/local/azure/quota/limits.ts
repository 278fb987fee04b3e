// What a subscription may have of machines in a location, and what it has.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { families, findSize, type VmSize } from '../compute/sizes.ts';
import { normalLocation } from '../kernel/place.ts';
import type { JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';

export interface Quota {
  /** `cores`, `virtualMachines`, or a family. */
  readonly name: string;
  readonly label: string;
  readonly limit: number;
  readonly used: number;
}

const machineType = 'microsoft.compute/virtualmachines';
const scaleSetType = 'microsoft.compute/virtualmachinescalesets';

/** What there is when nothing was asked for. */
const defaults: readonly { readonly name: string; readonly label: string; readonly limit: number }[] = [
  { name: 'availabilitySets', label: 'Availability Sets', limit: 2500 },
  { name: 'cores', label: 'Total Regional vCPUs', limit: 20_000 },
  { name: 'virtualMachines', label: 'Virtual Machines', limit: 25_000 },
  { name: 'virtualMachineScaleSets', label: 'Virtual Machine Scale Sets', limit: 2500 },
  { name: 'lowPriorityCores', label: 'Total Regional Low-priority vCPUs', limit: 5000 },
  ...families.map(({ name, label }) => ({ name, label, limit: 5000 })),
];

export function isQuotaName(name: string): boolean {
  return defaults.some((one) => foldCase(one.name) === foldCase(name));
}

/** The id of the resource in which a limit that was asked for is kept. */
export function quotaId(subscriptionId: string, location: string, name: string): string {
  return `/subscriptions/${subscriptionId}/providers/Microsoft.Compute/locations/${location}/providers/Microsoft.Quota/quotas/${name}`;
}

/** All quotas of a subscription in a location. */
export async function quotasOf(world: World, subscriptionId: string, location: string): Promise<readonly Quota[]> {
  const used = await usedIn(world, subscriptionId, location);
  const asked = await limitsAsked(world, subscriptionId, location);
  return defaults.map(({ name, label, limit }) => ({
    name,
    label,
    limit: limitNow(world, location, name, asked.get(foldCase(name)) ?? limit),
    used: used.get(foldCase(name)) ?? 0,
  }));
}

async function limitsAsked(
  world: World,
  subscriptionId: string,
  location: string,
): Promise<ReadonlyMap<string, number>> {
  const parent = `/subscriptions/${subscriptionId}/providers/Microsoft.Compute/locations/${location}`;
  const records = await world.resources.list({ parent, type: 'Microsoft.Quota/quotas' });
  return new Map(
    records.map(({ resource }) => {
      const limit = resource.properties?.limit as JsonObject | undefined;
      return [foldCase(resource.name), Number(limit?.value)];
    }),
  );
}

/** A fault of the kind `quota` has the last word. */
function limitNow(world: World, location: string, name: string, limit: number): number {
  let now = limit;
  for (const fault of world.faults.standing('quota')) {
    if (normalLocation(fault.location) === location && foldCase(fault.family) === foldCase(name)) now = fault.limit;
  }
  return now;
}

async function usedIn(world: World, subscriptionId: string, location: string): Promise<ReadonlyMap<string, number>> {
  const used = new Map<string, number>();
  const add = (name: string, count: number): void => {
    used.set(foldCase(name), (used.get(foldCase(name)) ?? 0) + count);
  };
  const there = async (type: string): Promise<readonly ResourceRecord[]> =>
    (await world.resources.list({ subscriptionId, type })).filter(({ resource }) => resource.location === location);
  for (const machine of await there(machineType)) count(add, needOfMachine(machine), 1);
  for (const set of await there(scaleSetType)) {
    count(add, needOfScaleSet(set), Number((set.resource.sku as JsonObject | undefined)?.capacity ?? 0));
    add('virtualMachineScaleSets', 1);
  }
  add('availabilitySets', (await there('microsoft.compute/availabilitysets')).length);
  return used;
}

function needOfMachine({ resource }: ResourceRecord): VmSize | undefined {
  return findSize(String((resource.properties?.hardwareProfile as JsonObject | undefined)?.vmSize));
}

function needOfScaleSet({ resource }: ResourceRecord): VmSize | undefined {
  return findSize(String((resource.sku as JsonObject | undefined)?.name));
}

function count(add: (name: string, count: number) => void, size: VmSize | undefined, machines: number): void {
  add('virtualMachines', machines);
  if (size === undefined) return;
  add('cores', size.vCpus * machines);
  add(size.series.family, size.vCpus * machines);
}

export interface Need {
  readonly subscriptionId: string;
  readonly location: string;
  readonly size: VmSize;
  readonly machines: number;
  /** What the resource has now and gives back. */
  readonly instead?: { readonly size: VmSize; readonly machines: number } | undefined;
}

/** Throws OperationNotAllowed when the machines would be more than the subscription may have. */
export async function demandQuota(world: World, need: Need): Promise<void> {
  const { subscriptionId, location, size, machines, instead } = need;
  const cores = size.vCpus * machines;
  const before = (instead?.size.vCpus ?? 0) * (instead?.machines ?? 0);
  const isSameFamily = instead !== undefined && instead.size.series.family === size.series.family;
  const wanted = [
    { name: 'cores', words: 'Total Regional Cores', more: cores - before },
    { name: size.series.family, words: `${size.series.family} Cores`, more: cores - (isSameFamily ? before : 0) },
    { name: 'virtualMachines', words: 'Virtual Machines', more: machines - (instead?.machines ?? 0) },
  ];
  if (wanted.every(({ more }) => more <= 0)) return;
  const quotas = await quotasOf(world, subscriptionId, location);
  for (const { name, words, more } of wanted) {
    const quota = quotas.find((one) => foldCase(one.name) === foldCase(name));
    if (quota === undefined || more <= 0 || quota.used + more <= quota.limit) continue;
    throw exceeded(need, name, words, quota, more);
  }
}

function exceeded({ location }: Need, name: string, words: string, { limit, used }: Quota, more: number): ArmError {
  const article = name === 'cores' ? 'regional-quota-requests' : 'per-vm-quota-requests';
  return new ArmError(
    409,
    'OperationNotAllowed',
    `Operation could not be completed as it results in exceeding approved ${words} quota. Additional details - Deployment Model: Resource ` +
      `Manager, Location: ${location}, Current Limit: ${limit}, Current Usage: ${used}, Additional Required: ${more}, (Minimum) New Limit ` +
      `Required: ${used + more}. Setup Alerts when Quota reaches threshold. Learn more at https://aka.ms/quotamonitoringalerting . Submit a ` +
      'request for Quota increase at https://aka.ms/ProdportalCRP by specifying parameters listed in the ‘Details’ section for deployment ' +
      `to succeed. Please read more about quota limits at https://docs.microsoft.com/en-us/azure/azure-supportability/${article}`,
  );
}
