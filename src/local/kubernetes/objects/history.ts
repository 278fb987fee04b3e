// The last changes of every type of every cluster, so that a watch may begin in the past. One budget for all of them, spent
// oldest first; one type takes at most a part of it, so that a busy one does not push out all others.
import { gone } from '../status.ts';
import type { Change } from './objects.ts';

/** One remembered change, in two lists: those of its type, and those of all types by age. */
interface Memory {
  readonly change: Change;
  readonly past: Past;
  readonly bytes: number;
  older: Memory | undefined;
  newer: Memory | undefined;
  olderOfType: Memory | undefined;
  newerOfType: Memory | undefined;
}

/** What one type of one cluster remembers. */
export interface Past {
  /** Changes after this revision are all remembered. */
  floor: number;
  oldest: Memory | undefined;
  newest: Memory | undefined;
  events: number;
  bytes: number;
}

export interface HistoryLimits {
  /** Over all clusters. */
  readonly events: number;
  /** Of the objects in them, over all clusters. */
  readonly bytes: number;
}

export interface History {
  remember(past: Past, change: Change): void;
  /** Forgets all of one type. */
  forget(past: Past): void;
}

/** One type may have this part of the budget. */
const shareOfType = 1 / 4;

export const newPast = (floor: number): Past => ({
  floor,
  oldest: undefined,
  newest: undefined,
  events: 0,
  bytes: 0,
});

export function createHistory(limits: HistoryLimits): History {
  let oldest: Memory | undefined;
  let newest: Memory | undefined;
  let events = 0;
  let bytes = 0;

  function drop(memory: Memory): void {
    const { past, older, newer, olderOfType, newerOfType } = memory;
    if (older) older.newer = newer;
    else oldest = newer;
    if (newer) newer.older = older;
    else newest = older;
    if (olderOfType) olderOfType.newerOfType = newerOfType;
    else past.oldest = newerOfType;
    if (newerOfType) newerOfType.olderOfType = olderOfType;
    else past.newest = olderOfType;
    events--;
    bytes -= memory.bytes;
    past.events--;
    past.bytes -= memory.bytes;
    past.floor = Math.max(past.floor, memory.change.entry.revision);
  }

  return {
    remember(past, change) {
      const memory: Memory = {
        change,
        past,
        bytes: change.entry.bytes.length,
        older: newest,
        newer: undefined,
        olderOfType: past.newest,
        newerOfType: undefined,
      };
      if (newest) newest.newer = memory;
      else oldest = memory;
      newest = memory;
      if (past.newest) past.newest.newerOfType = memory;
      else past.oldest = memory;
      past.newest = memory;
      events++;
      bytes += memory.bytes;
      past.events++;
      past.bytes += memory.bytes;
      while (past.oldest && (past.events > limits.events * shareOfType || past.bytes > limits.bytes * shareOfType)) {
        drop(past.oldest);
      }
      while (oldest && (events > limits.events || bytes > limits.bytes)) drop(oldest);
    },
    forget(past) {
      while (past.oldest) drop(past.oldest);
    },
  };
}

/** Every change of the type after a revision, oldest first. Throws StatusError 410 when some are no longer remembered. */
export function changesAfter(past: Past, after: number): Change[] {
  if (after < past.floor) throw gone(`too old resource version: ${after} (${past.floor})`);
  const found: Change[] = [];
  for (let memory = past.newest; memory && memory.change.entry.revision > after; memory = memory.olderOfType) {
    found.push(memory.change);
  }
  return found.reverse();
}
