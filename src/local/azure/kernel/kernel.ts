// What the parts of the kernel share.
import type { Logger } from '../../../kit/log.ts';
import type { Cloud } from '../cloud.ts';
import type { Catalogue } from './catalogue.ts';
import type { Clock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { Gate } from './gate.ts';
import type { Locks } from './locks.ts';
import type { Names } from './names.ts';
import type { Operations } from './operations.ts';
import type { Profile } from './profiles.ts';
import type { State } from './state.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { World } from './world.ts';

export interface Kernel {
  readonly state: State;
  readonly catalogue: Catalogue;
  readonly subscriptions: Subscriptions;
  readonly cloud: Pick<Cloud, 'locations'>;
  readonly clock: Clock;
  readonly profile: () => Profile;
  readonly faults: Faults;
  readonly logger: Logger;
  readonly gate: Gate;
  readonly locks: Locks;
  readonly names: Names;
  readonly operations: Operations;
  /** What is special about types is given the whole cloud, which holds these resources itself. */
  readonly world: () => World;
  /** Runs one piece of work on a resource after the other. */
  readonly inLine: <T>(key: string, run: () => Promise<T>) => Promise<T>;
}

/** One after the other for the same key; keys without work take no room. */
export function createLines(): Kernel['inLine'] {
  const ends = new Map<string, Promise<unknown>>();
  return (key, run) => {
    const before = ends.get(key) ?? Promise.resolve();
    const result = before.then(run);
    const end = result.then(
      () => undefined,
      () => undefined,
    );
    ends.set(key, end);
    void end.then(() => {
      if (ends.get(key) === end) ends.delete(key);
    });
    return result;
  };
}
