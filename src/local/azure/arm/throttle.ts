// How many calls a caller may make: a bucket of tokens for each subscription and principal and each kind of call, filled again with
// time, as Resource Manager does. Limits are data.
import { ArmError } from '../../../arm/errors.ts';

export type CallKind = 'reads' | 'writes' | 'deletes';

export interface Bucket {
  readonly capacity: number;
  readonly refillPerSecond: number;
}

export type ThrottleLimits = { readonly [kind in CallKind]: Bucket };

/** What Azure gives a principal in a subscription. */
export const azureLimits: ThrottleLimits = {
  reads: { capacity: 250, refillPerSecond: 25 },
  writes: { capacity: 200, refillPerSecond: 10 },
  deletes: { capacity: 200, refillPerSecond: 10 },
};

/** So much that no caller on one machine meets it. */
export const generousLimits: ThrottleLimits = {
  reads: { capacity: 1_000_000, refillPerSecond: 1_000_000 },
  writes: { capacity: 1_000_000, refillPerSecond: 1_000_000 },
  deletes: { capacity: 1_000_000, refillPerSecond: 1_000_000 },
};

interface Level {
  tokens: number;
  at: number;
}

export interface Throttle {
  /** Takes a token; gives what remains. Throws 429 with the time after which there is one again. */
  take(scope: string | undefined, principal: string, kind: CallKind): number;
}

/** Buckets that are full again say nothing; the oldest are forgotten beyond this many. */
const maxBuckets = 10_000;

/** `limits` are asked for with every call, so they can change while the cloud runs. */
export function createThrottle(limits: () => ThrottleLimits, now: () => number): Throttle {
  const levels = new Map<string, Level>();
  return {
    take(scope, principal, kind) {
      const { capacity, refillPerSecond } = limits()[kind];
      const key = `${kind} ${scope ?? 'tenant'} ${principal}`;
      const time = now();
      const level = levels.get(key) ?? { tokens: capacity, at: time };
      const tokens = Math.min(capacity, level.tokens + (Math.max(0, time - level.at) / 1000) * refillPerSecond);
      if (tokens < 1) {
        const seconds = Math.max(1, Math.ceil((1 - tokens) / refillPerSecond));
        throw throttled(scope, kind, seconds);
      }
      level.tokens = tokens - 1;
      level.at = time;
      if (!levels.has(key)) {
        levels.set(key, level);
        const oldest = levels.size > maxBuckets ? levels.keys().next().value : undefined;
        if (oldest !== undefined) levels.delete(oldest);
      }
      return Math.floor(level.tokens);
    },
  };
}

function throttled(scope: string | undefined, kind: CallKind, seconds: number): ArmError {
  const more = { retryAfterSeconds: seconds };
  return scope === undefined
    ? new ArmError(
        429,
        'TooManyRequests',
        `The limit of ${kind} of this tenant is reached. Please try again after '${seconds}' seconds.`,
        more,
      )
    : new ArmError(
        429,
        'SubscriptionRequestsThrottled',
        `Number of ${kind} for subscription '${scope}' exceeded the limit. Please try again after '${seconds}' seconds.`,
        more,
      );
}
