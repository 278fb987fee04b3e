// How the number of replicas is managed once it has been written through a Scale. There it is tracked as a field of another
// object, and what comes back from that is told apart from what its managers own beside it.
import { difference, type FieldSet, intersection, isEmpty } from './fieldset.ts';
import { identityOf, type Managers, setFields } from './managers.ts';
import type { TrackedType } from './ownership.ts';

/** The version in which everybody is seen to manage a Scale. */
export const scaleVersion = 'autoscaling/v1';

const owns = (fields: FieldSet, scaled: FieldSet): boolean => !isEmpty(intersection(fields, scaled));

/** Whether a write through this endpoint is tracked: through a Scale only where somebody manages the replicas. */
export function isTracked({ scaled }: TrackedType, managers: Managers): boolean {
  return !scaled || [...managers.values()].some(({ fields }) => owns(fields, scaled));
}

/**
 * Gives everybody who owns the replicas by an update an entry for them alone, without a time. It has the identity of the entry that
 * is left of the other fields, so that only one of both is found again by the next write. To be called last, before the entries
 * are written.
 */
export function separateScaled({ scaled, apiVersion }: TrackedType, managers: Managers): void {
  if (!scaled) return;
  for (const [identity, entry] of [...managers]) {
    if (entry.operation !== 'Update' || !owns(entry.fields, scaled)) continue;
    setFields(managers, identity, difference(entry.fields, scaled));
    const { manager, operation, subresource } = entry;
    const alone = { manager, operation, apiVersion, subresource, fields: scaled, time: undefined };
    managers.set(`${identityOf(alone)} replicas`, alone);
  }
}
