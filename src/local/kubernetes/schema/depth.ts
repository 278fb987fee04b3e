// How deep objects may go. Much of the server walks them by recursion, which must not fail for what a client sent.
import { badRequest } from '../status.ts';

/** What is no deeper may be walked by recursion. */
export const recursiveDepth = 1000;

/** How many objects and lists stand within each other at most. */
export function depthOf(value: unknown): number {
  let deepest = 0;
  const waiting: [value: unknown, depth: number][] = [[value, 1]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [here, depth] = next;
    if (typeof here !== 'object' || here === null) continue;
    if (depth > deepest) deepest = depth;
    for (const inner of Object.values(here)) if (typeof inner === 'object') waiting.push([inner, depth + 1]);
  }
  return deepest;
}

/** Refuses what cannot be walked by recursion. */
export function refuseDeep(depth: number): void {
  if (depth > recursiveDepth) throw badRequest(`the object provided is deeper than ${recursiveDepth} levels`);
}
