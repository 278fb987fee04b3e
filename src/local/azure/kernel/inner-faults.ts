// Faults of calls that do not come over the wire: what deployments and providers write meets the same faults as clients do.
import { setTimeout as wait } from 'node:timers/promises';
import type { ResourceId } from '../../../arm/resource-id.ts';
import { faultError } from './fault-table.ts';
import type { FaultEffect } from './faults.ts';
import type { Kernel } from './kernel.ts';

/** Counts the call; errors are thrown and latency is waited for. The rest is answered. */
export async function askFaults(
  { faults }: Pick<Kernel, 'faults'>,
  method: string,
  id: ResourceId,
): Promise<readonly FaultEffect[]> {
  const effects = faults.on({ method, host: 'localhost', path: id.text });
  for (const effect of effects) {
    if (effect.kind === 'latency') await wait(effect.ms);
    else if (effect.kind === 'error') throw faultError(effect);
  }
  return effects;
}
