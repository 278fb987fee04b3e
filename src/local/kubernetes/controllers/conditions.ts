// Conditions in the status of objects.
import type { Condition } from './shapes.ts';

/**
 * Conditions with some of them set: those that are there keep their place, and the time of their last transition as long as their
 * status stays.
 */
export function setConditions(
  conditions: readonly Condition[] | undefined,
  set: readonly Condition[],
  now: string,
): Condition[] {
  const result = [...(conditions ?? [])];
  for (const condition of set) {
    const index = result.findIndex(({ type }) => type === condition.type);
    const before = result[index];
    const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
    const complete = { ...condition, lastTransitionTime: since ?? now };
    if (index < 0) result.push(complete);
    else result[index] = complete;
  }
  return result;
}
