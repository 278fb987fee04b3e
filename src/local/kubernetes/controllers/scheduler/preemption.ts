// A pod that finds no room may push away others that matter less.
import type { Node, Pod } from '../shapes.ts';
import { type Misfit, occupy, type Place, type Placed, placeOf } from './fit.ts';
import { requestsOf } from './resources.ts';

/** Where a pod may go, once these have gone. */
export interface Candidate {
  readonly node: Node;
  readonly victims: readonly Pod[];
}

/** What keeps a pod off a place, among others that are placed. */
export type Judge = (place: Place, placed: readonly Placed[]) => readonly Misfit[];

export const priorityOf = ({ spec }: Pod): number => spec.priority ?? 0;

export const noVictims: Misfit = { reason: 'No preemption victims found for incoming pod', preemptable: false };
export const notHelpful: Misfit = { reason: 'Preemption is not helpful for scheduling', preemptable: false };

const olderFirst = (one: Pod, other: Pod): number =>
  (one.status?.startTime ?? one.metadata.creationTimestamp ?? '') <
  (other.status?.startTime ?? other.metadata.creationTimestamp ?? '')
    ? -1
    : 1;

/** Whom a pod would have to push off a node, as few as possible; or why that does not help. */
export function victimsOn(
  pod: Pod,
  { node }: Place,
  placed: readonly Placed[],
  judge: Judge,
): Candidate | readonly Misfit[] {
  const here = placed.filter((each) => each.node === node);
  const lower = here.filter((each) => priorityOf(each.pod) < priorityOf(pod));
  if (lower.length === 0) return [noVictims];
  const without = (gone: ReadonlySet<Placed>): readonly Misfit[] => {
    const place = placeOf(node);
    for (const each of here) if (!gone.has(each)) occupy(place, each.pod, requestsOf(each.pod));
    return judge(
      place,
      placed.filter((each) => !gone.has(each)),
    );
  };
  const gone = new Set(lower);
  const misfits = without(gone);
  if (misfits.length > 0) return misfits;
  const spared = lower.toSorted(
    (one, other) => priorityOf(other.pod) - priorityOf(one.pod) || olderFirst(one.pod, other.pod),
  );
  for (const each of spared) {
    gone.delete(each);
    if (without(gone).length > 0) gone.add(each);
  }
  return { node, victims: [...gone].map((each) => each.pod) };
}

/** The candidate whose victims matter least, then the one with the fewest. */
export function leastHarm(candidates: readonly Candidate[]): Candidate | undefined {
  const highest = ({ victims }: Candidate): number => Math.max(...victims.map(priorityOf));
  const sum = ({ victims }: Candidate): number =>
    victims.reduce((total, victim) => total + priorityOf(victim) + 2 ** 31, 0);
  const [best] = candidates.toSorted(
    (one, other) => highest(one) - highest(other) || sum(one) - sum(other) || one.victims.length - other.victims.length,
  );
  return best;
}
