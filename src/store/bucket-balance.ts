/** A live worker of a pool and how many buckets it holds. */
export interface Holder {
  readonly worker: string;
  readonly holds: number;
}

/**
 * How many buckets each worker should hold: all of them in sum, no two workers more than one apart. Where the division
 * leaves a remainder, one more goes to those that hold most already (then to the first by name), so that as few buckets as
 * possible change hands and a balanced pool stays as it is. The same for every worker that sees the same holders, in
 * whatever order; so no master is needed.
 */
export function bucketTargets(buckets: number, holders: readonly Holder[]): ReadonlyMap<string, number> {
  const each = Math.floor(buckets / holders.length);
  const remainder = buckets % holders.length;
  const fullestFirst = holders.toSorted(
    (a, b) => b.holds - a.holds || (a.worker < b.worker ? -1 : a.worker > b.worker ? 1 : 0),
  );
  return new Map(fullestFirst.map(({ worker }, place) => [worker, place < remainder ? each + 1 : each]));
}
