import { isStoreError, StoreError } from './errors.ts';
import type { Lease, Leases } from './store.ts';

/** What work done under a lease is given. */
export interface Held {
  /**
   * Aborts, with a StoreError LeaseLost as its reason, when the lease is lost or its deadline has passed. Asking it
   * (`aborted`, `throwIfAborted()`) looks at the clock, so that a process that was frozen past the deadline sees it on its
   * first look, before any timer has run.
   */
  readonly signal: AbortSignal;
  /** The lease as last renewed, to write under. Throws the signal's reason once the lease is lost. */
  current(): Lease;
}

export interface HoldOptions {
  /** A sixth of the lease when left out. */
  readonly renewEverySeconds?: number;
  /** Told of every renewal that failed and will be tried again. Must not throw. */
  readonly onRenewError?: (error: unknown) => void;
}

const longestTimerMilliseconds = 2 ** 31 - 1;

/**
 * Keeps a lease renewed while `work` runs, and settles as `work` does. A renewal that fails is tried again, sooner, for as
 * long as the lease's own deadline has not passed; only then, or when the database says that the lease is lost, is the
 * signal aborted. Work should then end: its writes under the lease are refused. How it ends is what the caller gets, so work
 * whose last write took the document out of the queue succeeds although that write ended the lease. Does not start work under
 * a lease that has lapsed, and does not release it afterwards. No timer outlives `work`.
 */
export async function holdLease<R>(
  leases: Pick<Leases<unknown>, 'renew'>,
  lease: Lease,
  work: (held: Held) => Promise<R>,
  options: HoldOptions = {},
): Promise<R> {
  const everyMilliseconds = (options.renewEverySeconds ?? lease.leaseSeconds / 6) * 1000;
  const controller = new AbortController();
  let newest = lease;
  let lost: StoreError | undefined;
  let ended = false;
  let renewal: NodeJS.Timeout | undefined;
  let lapse: NodeJS.Timeout | undefined;

  function stopTimers() {
    clearTimeout(renewal);
    clearTimeout(lapse);
  }
  function lose(reason: StoreError) {
    lost = reason;
    stopTimers();
    controller.abort(reason);
  }
  function lossByNow(): StoreError | undefined {
    if (!lost && !ended && performance.now() >= newest.deadline) lose(lapsed(newest));
    return lost;
  }
  function armLapse() {
    clearTimeout(lapse);
    lapse = setTimeout(
      () => {
        if (!lossByNow()) armLapse();
      },
      timerMilliseconds(newest.deadline - performance.now()),
    );
  }
  function armRenewal(milliseconds: number) {
    renewal = setTimeout(renew, timerMilliseconds(milliseconds));
  }
  async function renew() {
    if (lossByNow()) return;
    try {
      const renewed = await leases.renew(newest);
      if (ended || lost) return;
      newest = renewed;
      armLapse();
      armRenewal(everyMilliseconds);
    } catch (error) {
      if (ended || lost) return;
      if (isStoreError(error, 'LeaseLost')) return lose(error);
      armRenewal(everyMilliseconds / 4);
      options.onRenewError?.(error);
    }
  }

  const lapsedBefore = lossByNow();
  if (lapsedBefore) throw lapsedBefore;
  const signal = askingFirst(controller.signal, lossByNow);
  armLapse();
  armRenewal(everyMilliseconds);
  try {
    return await work({
      signal,
      current() {
        signal.throwIfAborted();
        return newest;
      },
    });
  } finally {
    ended = true;
    stopTimers();
  }
}

/** The same signal, except that looking at it asks `reason` first. */
function askingFirst(signal: AbortSignal, reason: () => unknown): AbortSignal {
  return Object.defineProperties(signal, {
    aborted: { get: () => reason() !== undefined },
    reason: { get: reason },
    throwIfAborted: {
      value: () => {
        const why = reason();
        if (why !== undefined) throw why;
      },
    },
  });
}

function lapsed({ container, partition, id, token }: Lease): StoreError {
  return new StoreError(
    'LeaseLost',
    `the lease on ${container} ${partition}/${id} (token ${token}) lapsed before it could be renewed; stop, and let the document be claimed again`,
  );
}

function timerMilliseconds(wanted: number): number {
  return Math.min(Math.max(wanted, 0), longestTimerMilliseconds);
}
