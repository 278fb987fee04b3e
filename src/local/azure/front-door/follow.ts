// Keeps records of tracked resources as their provider has them: looks again until the resource is in a state that stays.
import type { Logger } from '../../../kit/log.ts';

export type Seen = 'settled' | 'moving' | 'unknown';

export interface Follower {
  /** Looks soon, and again while the resource is moving. */
  follow(key: string): void;
  /** Looks at once, besides the looks that are planned. */
  look(key: string): Promise<void>;
  stop(): Promise<void>;
}

const firstMs = 200;
const longestMs = 10_000;

/** `look` never changes what it looks at; it writes down what it sees. */
export function createFollower(look: (key: string) => Promise<Seen>, logger: Logger): Follower {
  const planned = new Map<string, NodeJS.Timeout>();
  const looking = new Set<Promise<void>>();
  let isStopped = false;

  const plan = (key: string, delayMs: number): void => {
    if (isStopped) return;
    clearTimeout(planned.get(key));
    const timer = setTimeout(() => {
      planned.delete(key);
      track(step(key, delayMs));
    }, delayMs);
    timer.unref();
    planned.set(key, timer);
  };
  const step = async (key: string, delayMs: number): Promise<void> => {
    let seen: Seen = 'unknown';
    try {
      seen = await look(key);
    } catch (err) {
      logger.debug({ err, resource: key }, 'a resource could not be looked at; it is tried again');
    }
    if (seen !== 'settled' && !planned.has(key)) plan(key, Math.min(longestMs, delayMs * 2));
  };
  const track = (work: Promise<void>): Promise<void> => {
    const done = work.finally(() => looking.delete(done));
    looking.add(done);
    return done;
  };

  return {
    follow: (key) => plan(key, firstMs),
    look: (key) => (isStopped ? Promise.resolve() : track(step(key, firstMs))),
    async stop() {
      isStopped = true;
      for (const timer of planned.values()) clearTimeout(timer);
      planned.clear();
      await Promise.allSettled(looking);
    },
  };
}
