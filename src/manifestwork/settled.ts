// What this process remembers of an object it has applied: that nothing needs to be written while both sides stay as they are.
import { createHash } from 'node:crypto';
import type { UntypedObject } from '../kube/object.ts';
import { contentOf } from './update-object.ts';

/**
 * The server fills in defaults, so an object seldom equals its manifest. Once a write of the manifest has gone through, the object's
 * mark says whether anybody has changed it since.
 */
export interface Settled {
  /** The hash of what was applied, and how. */
  readonly desired: string;
  readonly uid: string;
  readonly mark: string;
  /** When and how often it had to be put right again. */
  readonly repairs: Repairs | undefined;
}

interface Repairs {
  readonly count: number;
  /** As performance.now() tells. */
  readonly at: number;
}

const firstWaitMs = 1000;
const longestWaitMs = 5 * 60 * 1000;
/** After this long without a repair, the next one is the first again. */
const forgottenAfterMs = 15 * 60 * 1000;

/** Changes when somebody changes the object's contents; not when its status or its metadata change. */
export function markOf(object: UntypedObject): string {
  const { generation } = object.metadata;
  return generation ? `generation ${generation}` : hashOf(contentOf(object));
}

export function hashOf(value: unknown): string {
  return createHash('sha1').update(JSON.stringify(value)).digest('base64');
}

export function isSettled(settled: Settled | undefined, desired: string, object: UntypedObject): boolean {
  return (
    settled !== undefined &&
    settled.desired === desired &&
    settled.uid === object.metadata.uid &&
    settled.mark === markOf(object)
  );
}

/**
 * How long to wait before an object that somebody has changed is put right again: not at all the first time, then longer each time,
 * so that two who disagree do not fight.
 */
export function repairWaitMs(settled: Settled | undefined, desired: string, now: number): number {
  const { repairs } = settled ?? {};
  if (settled?.desired !== desired || !repairs) return 0;
  const wait = Math.min(firstWaitMs * 2 ** (repairs.count - 1), longestWaitMs);
  return Math.max(0, repairs.at + wait - now);
}

/** After a write of `desired` that gave `object`. */
export function settledAfter(
  before: Settled | undefined,
  desired: string,
  object: UntypedObject,
  now: number,
): Settled {
  const isRepair = before?.desired === desired;
  const recent = before?.repairs && now - before.repairs.at < forgottenAfterMs ? before.repairs.count : 0;
  return {
    desired,
    uid: object.metadata.uid ?? '',
    mark: markOf(object),
    repairs: isRepair ? { count: recent + 1, at: now } : undefined,
  };
}
