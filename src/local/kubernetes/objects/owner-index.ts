// Which entries name a given owner, for garbage collection.
import type { Entry } from './objects.ts';

/** Most owners of few dependents: a set only where there is more than one. */
export type OwnerIndex = Map<string, Entry | Set<Entry>>;

const none: readonly Entry[] = [];

export function dependentsOf(index: OwnerIndex, uid: string): Iterable<Entry> {
  const found = index.get(uid);
  if (found === undefined) return none;
  return found instanceof Set ? [...found] : [found];
}

/** Puts `after` in the place of `before`; either may be missing. */
export function reindex(index: OwnerIndex, before: Entry | undefined, after: Entry | undefined): void {
  if (before?.owners) for (const uid of before.owners) leave(index, uid, before);
  if (after?.owners) for (const uid of after.owners) enter(index, uid, after);
}

function enter(index: OwnerIndex, uid: string, entry: Entry): void {
  const found = index.get(uid);
  if (found === undefined) index.set(uid, entry);
  else if (found instanceof Set) found.add(entry);
  else if (found !== entry) index.set(uid, new Set([found, entry]));
}

function leave(index: OwnerIndex, uid: string, entry: Entry): void {
  const found = index.get(uid);
  if (found === entry) index.delete(uid);
  if (!(found instanceof Set)) return;
  found.delete(entry);
  if (found.size === 0) index.delete(uid);
}
