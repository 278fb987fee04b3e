// Writes and deletes at random, of resources that use each other, in a few groups that come and go.
import { ArmError } from '../../../../arm/errors.ts';
import type { ResourceId } from '../../../../arm/resource-id.ts';
import type { Resources } from '../resources.ts';
import { groupOptions, idOf, options, subscriptionId } from './kernel.ts';

const east = { location: 'eastus' };
const pick = (count: number) => Math.floor(Math.random() * count);
const groupId = (n: number) => `/subscriptions/${subscriptionId}/resourceGroups/chaos${n}`;
const within = (n: number, path: string) => idOf(`${groupId(n)}/providers/Microsoft.Test/${path}`);

/** In a group that stays: a number that must never be seen to go back. */
export const counter: ResourceId = within(9, 'cards/counter');

/** Does one thing. Refusals are part of it: nothing is where it was a moment ago. */
export async function step(resources: Resources): Promise<void> {
  const n = pick(3);
  const subnets = Array.from({ length: pick(5) }, (_, at) => ({ name: `s${at}` }));
  const subnet = within(n, `networks/n${pick(3)}/subnets/s${pick(5)}`);
  const things: readonly (() => Promise<unknown>)[] = [
    () => resources.put(idOf(groupId(n)), east, groupOptions),
    () => resources.put(within(n, `networks/n${pick(3)}`), { ...east, properties: { subnets } }, options),
    () =>
      resources.put(within(n, `cards/c${pick(4)}`), { ...east, properties: { subnet: { id: subnet.text } } }, options),
    () => resources.put(within(n, `boxes/b${pick(4)}`), east, options),
    () => resources.put(within(n, `vaults/v${pick(4)}`), east, options),
    () => resources.delete(within(n, `networks/n${pick(3)}`), options),
    () => resources.delete(within(n, `cards/c${pick(4)}`), options),
    () => resources.delete(within(n, `boxes/b${pick(4)}`), options),
    () => resources.delete(within(n, `vaults/v${pick(4)}`), options),
    async () => pick(4) === 0 && resources.delete(idOf(groupId(n)), groupOptions),
  ];
  try {
    await things[pick(things.length)]?.();
  } catch (error) {
    if (!(error instanceof ArmError) || error.status >= 500) throw error;
  }
}

export async function makeCounter(resources: Resources): Promise<void> {
  await resources.put(idOf(groupId(9)), east, groupOptions);
}

export async function setCounter(resources: Resources, n: number): Promise<void> {
  await resources.put(counter, { ...east, properties: { n } }, options);
}
