// A process that writes and deletes resources until it is killed. It is given the database file and the ring's key; it prints one line
// for every write that was acknowledged.
import { ArmError } from '../../../../arm/errors.ts';
import { chaosProviders } from './chaos-providers.ts';
import { groupOptions, idOf, openCloud, options, subscriptionId, testRing } from './kernel.ts';

const [file = '', key = ''] = process.argv.slice(2);
const { resources } = await openCloud({
  file,
  ring: testRing(Buffer.from(key, 'hex')),
  providers: chaosProviders,
});

const east = { location: 'eastus' };
const pick = (count: number) => Math.floor(Math.random() * count);
const groupId = (n: number) => `/subscriptions/${subscriptionId}/resourceGroups/chaos${n}`;
const within = (n: number, path: string) => idOf(`${groupId(n)}/providers/Microsoft.Test/${path}`);

/** The counter that must never be seen to go back. */
const counter = within(9, 'cards/counter');

const steps: readonly (() => Promise<unknown>)[] = [
  () => resources.put(idOf(groupId(pick(3))), east, groupOptions),
  () => {
    const n = pick(3);
    const subnets = Array.from({ length: pick(5) }, (_, at) => ({ name: `s${at}` }));
    return resources.put(within(n, `networks/n${pick(3)}`), { ...east, properties: { subnets } }, options);
  },
  () => {
    const n = pick(3);
    const subnet = within(n, `networks/n${pick(3)}/subnets/s${pick(5)}`);
    return resources.put(
      within(n, `cards/c${pick(4)}`),
      { ...east, properties: { subnet: { id: subnet.text } } },
      options,
    );
  },
  () => resources.put(within(pick(3), `boxes/b${pick(4)}`), east, options),
  () => resources.put(within(pick(3), `vaults/v${pick(4)}`), east, options),
  () => resources.delete(within(pick(3), `networks/n${pick(3)}`), options),
  () => resources.delete(within(pick(3), `cards/c${pick(4)}`), options),
  () => resources.delete(within(pick(3), `boxes/b${pick(4)}`), options),
  () => resources.delete(within(pick(3), `vaults/v${pick(4)}`), options),
  () => (pick(4) === 0 ? resources.delete(idOf(groupId(pick(3))), groupOptions) : Promise.resolve()),
];

await resources.put(idOf(groupId(9)), east, groupOptions);

async function work(): Promise<never> {
  for (;;) {
    try {
      await steps[pick(steps.length)]?.();
    } catch (error) {
      // Refusals are part of it: nothing is where it was a moment ago.
      if (!(error instanceof ArmError) || error.status >= 500) throw error;
    }
  }
}

async function count(): Promise<never> {
  const before = await resources.read(counter.text);
  for (let n = Number(before?.body.resource.properties?.n ?? 0) + 1; ; n++) {
    await resources.put(counter, { ...east, properties: { n } }, options);
    process.stdout.write(`${n}\n`);
  }
}

await Promise.all([count(), ...Array.from({ length: 4 }, work)]);
