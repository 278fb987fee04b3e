// Objects as controllers read them: parsed once for as long as they are looked at often.
import type { KubeObject } from '../object.ts';
import type { Entry } from '../objects/objects.ts';

/** Few enough to cost little, enough for what one round of reconciling reads again and again. */
const mostKept = 2048;
const kept = new Map<Entry, KubeObject>();

/** The object of an entry in its storage version. Shared between all who read it: never change it, change a copy. */
export function parsed<T extends KubeObject = KubeObject>(entry: Entry): T {
  const known = kept.get(entry);
  if (known) return known as T;
  const object = JSON.parse(entry.bytes.toString()) as T;
  if (kept.size >= mostKept) {
    for (const oldest of kept.keys()) {
      kept.delete(oldest);
      break;
    }
  }
  kept.set(entry, object);
  return object;
}
