// What a pod asks for and may use as a whole.
import { parseQuantity, type Quantity } from '../schema/quantity.ts';
import type { Container, PodSpec, ResourceList } from './pod.ts';

type Kind = 'requests' | 'limits';

export const podRequests = (spec: PodSpec): Map<string, Quantity> => total(spec, 'requests');
export const podLimits = (spec: PodSpec): Map<string, Quantity> => total(spec, 'limits');

/**
 * Containers run together, and beside them init containers that stay (restartPolicy Always); other init containers run one by
 * one before. So it is the greater of the sum and of each step on the way.
 */
function total(spec: PodSpec, kind: Kind): Map<string, Quantity> {
  const sum = new Map<string, Quantity>();
  for (const container of spec.containers) add(sum, container.resources?.[kind]);
  const staying = new Map<string, Quantity>();
  const steps = new Map<string, Quantity>();
  for (const container of spec.initContainers ?? []) {
    if (isSidecar(container)) {
      add(staying, container.resources?.[kind]);
      raise(steps, staying);
    } else {
      const step = new Map(staying);
      add(step, container.resources?.[kind]);
      raise(steps, step);
    }
  }
  for (const [name, quantity] of staying) addOne(sum, name, quantity);
  raise(sum, steps);
  for (const [name, text] of Object.entries(spec.overhead ?? {})) {
    if (kind === 'requests' || sum.has(name)) addOne(sum, name, parseQuantity(text));
  }
  return sum;
}

const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

function add(sum: Map<string, Quantity>, list: ResourceList = {}): void {
  for (const [name, text] of Object.entries(list)) addOne(sum, name, parseQuantity(String(text)));
}

function addOne(sum: Map<string, Quantity>, name: string, quantity: Quantity): void {
  const before = sum.get(name);
  sum.set(name, before ? { nanos: before.nanos + quantity.nanos, format: before.format } : quantity);
}

function raise(sum: Map<string, Quantity>, other: ReadonlyMap<string, Quantity>): void {
  for (const [name, quantity] of other) {
    const before = sum.get(name);
    if (!before || before.nanos < quantity.nanos) sum.set(name, quantity);
  }
}
