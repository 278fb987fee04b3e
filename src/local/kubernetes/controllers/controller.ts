// What a controller is. One set of controllers serves all clusters of the process; see host.ts for how they are driven.
import type { Change, StorageType } from '../objects/objects.ts';
import type { Hands, Reader } from './hands.ts';

/** What a controller looks at: usually the namespace and name of an object of its kind. */
export interface Key {
  readonly namespace: string;
  readonly name: string;
}

/** Look again when this much time has passed, whatever happens meanwhile. */
export interface Later {
  readonly afterMs: number;
}

/** The keys that a change makes due. Called for every change of its type, so it must be quick; it must not wait or write. */
export type Trigger = (change: Change, reader: Reader) => Iterable<Key>;

/**
 * Brings what is to what is wanted, one key at a time.
 *
 * `reconcile` reads desired and observed state, acts on the difference and returns; it keeps nothing between calls. It is called
 * when a trigger named the key, when the time it asked for has come, and for everything there is when a cluster comes into use.
 * One key is never in two calls at once. What it reads is current, its own writes included. When it throws, it is called again
 * after a pause that grows with each failure.
 */
export interface Controller {
  /** Its service account in kube-system: `replicaset-controller`. */
  readonly name: string;
  /** The source of its events; its name unless given. */
  readonly source?: string;
  /** The field manager of its writes; kube-controller-manager unless given. */
  readonly manager?: string;
  /** The user it writes as; its service account in kube-system unless given. */
  readonly user?: string;
  readonly triggers: Readonly<Record<StorageType, Trigger>>;
  /** Hears of every change of every type, custom resources included. */
  readonly everything?: Trigger;
  reconcile(hands: Hands, key: Key): Promise<Later | undefined> | Later | undefined;
}

/** The key of the object that changed. */
export const itself: Trigger = ({ entry }) => [entry];

/** The key of the namespace that the object is in. */
export const itsNamespace: Trigger = ({ entry }) => [{ namespace: '', name: entry.namespace }];

/** The one key of a controller that looks at a whole cluster. */
export const wholeCluster: Key = { namespace: '', name: '' };

/** The earlier of two times to look again. */
export function sooner(one: Later | undefined, other: Later | undefined): Later | undefined {
  if (!one || !other) return one ?? other;
  return one.afterMs <= other.afterMs ? one : other;
}
