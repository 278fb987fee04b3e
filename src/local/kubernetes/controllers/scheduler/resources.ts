// What pods ask for and what nodes have, as numbers that can be added and compared.
import type { Entry } from '../../objects/objects.ts';
import { parseQuantity, quantityMilliValue, quantityValue } from '../../schema/quantity.ts';
import type { Container, Resources } from '../../types/pod/pod-spec.ts';
import { parsed } from '../parsed.ts';
import type { Pod } from '../shapes.ts';

/** By resource: thousandths of cpu, whole units of everything else. */
export type Amounts = ReadonlyMap<string, number>;

const none: Amounts = new Map();

function amount(name: string, text: string): number {
  const quantity = parseQuantity(text);
  return Number(name === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity));
}

export function amounts(resources: Resources | undefined): Amounts {
  if (!resources) return none;
  return new Map(Object.entries(resources).map(([name, text]) => [name, amount(name, text)]));
}

export function add(to: Map<string, number>, more: Amounts): void {
  for (const [name, value] of more) to.set(name, (to.get(name) ?? 0) + value);
}

/** Init containers run one after the other, before the others; those that restart run beside them. */
export function requestsOf({ spec }: Pod): Amounts {
  const total = new Map<string, number>();
  const beside = new Map<string, number>();
  const initial = new Map<string, number>();
  for (const { resources } of spec.containers ?? []) add(total, amounts(resources.requests));
  for (const container of spec.initContainers ?? []) {
    const own = amounts(container.resources.requests);
    if (isSidecar(container)) {
      add(beside, own);
      add(total, own);
      raise(initial, beside);
    } else {
      const together = new Map(beside);
      add(together, own);
      raise(initial, together);
    }
  }
  raise(total, initial);
  add(total, amounts(spec.overhead));
  return total;
}

export const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

function raise(to: Map<string, number>, least: Amounts): void {
  for (const [name, value] of least) to.set(name, Math.max(to.get(name) ?? 0, value));
}

const known = new WeakMap<Entry, Amounts>();

/** The same for a stored pod, worked out once. */
export function requestsOfEntry(entry: Entry): Amounts {
  let found = known.get(entry);
  if (!found) {
    found = requestsOf(parsed<Pod>(entry));
    known.set(entry, found);
  }
  return found;
}
