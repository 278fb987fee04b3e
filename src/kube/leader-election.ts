// Leader election by a Lease, as client-go does it, so that Go programs and these can stand for the same office.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from '../kit/log.ts';
import type { KubeClient } from './client.ts';
import { advice, isAlreadyExists, isConflict } from './kube-error.ts';
import { type Lease, leases } from './lease.ts';
import { pause } from './retry.ts';
import { microTimeText } from './time.ts';

export interface LeaderElectionOptions {
  readonly client: KubeClient;
  /** Where the Lease is, and its name: all that stand for one office use the same. */
  readonly namespace: string;
  readonly name: string;
  /** Who this is; host name and a random id unless given. Never the same for two processes. */
  readonly identity?: string;
  /** Others wait this long after the last renewal they saw before they take over; 15 unless given. */
  readonly leaseSeconds?: number;
  /** A leader that has not been able to renew for this long gives up; 10 unless given. Shorter than `leaseSeconds`. */
  readonly renewDeadlineSeconds?: number;
  /** Between two tries; 2 unless given. */
  readonly retrySeconds?: number;
  readonly logger: Logger;
}

/** What a leader does; see {@link runLeaderElection}. */
export interface Office {
  /** This process leads now. `lost` fires when it does not any more, at the latest before another can. */
  lead(lost: AbortSignal): void | Promise<void>;
  /** It does not lead any more. What it did as the leader must have ended when this settles. */
  resign(): Promise<void>;
}

export interface LeaderElection {
  readonly identity: string;
  readonly leading: boolean;
  /** The identity of the leader, as last seen. */
  readonly leader: string | undefined;
  /** Resigns, lets go of the Lease so that another need not wait, and settles. */
  stop(): Promise<void>;
}

interface Observed {
  readonly lease: Lease;
  /** Which holder and renewal it was seen with, and when that was first seen, by this process's own clock. */
  readonly record: string;
  readonly at: number;
}

/** Tries of many that wait are spread, so that they do not all come at once. */
const jitter = 1.2;
/** Letting go is a courtesy; a stop does not wait long for it. */
const releaseSeconds = 3;

/**
 * Stands for the office until stopped: waits for the Lease, leads, renews, and when it cannot renew in time resigns and stands
 * again. Clocks of different machines are never compared: a Lease counts as held until it has been seen unchanged for its whole
 * duration by this process's monotonic clock.
 *
 * This keeps two processes from leading at the same time as long as a leader whose `lost` signal fires stops within
 * `leaseSeconds - renewDeadlineSeconds`; what must never happen twice needs a guard of its own, such as a resourceVersion.
 */
export function runLeaderElection(options: LeaderElectionOptions, office: Office): LeaderElection {
  const { client, namespace, name, logger } = options;
  const identity = options.identity ?? `${hostname()}_${randomUUID()}`;
  const leaseSeconds = options.leaseSeconds ?? 15;
  const renewDeadlineMs = (options.renewDeadlineSeconds ?? 10) * 1000;
  const retryMs = (options.retrySeconds ?? 2) * 1000;
  if (!Number.isInteger(leaseSeconds)) throw new TypeError('leader election: leaseSeconds must be a whole number');
  if (leaseSeconds * 1000 <= renewDeadlineMs || renewDeadlineMs <= retryMs * jitter) {
    throw new TypeError('leader election: leaseSeconds > renewDeadlineSeconds > 1.2 × retrySeconds must hold');
  }
  const key = { namespace, name };
  const stopping = new AbortController();
  let observed: Observed | undefined;
  let leading = false;
  let lastProblem = '';

  function observe(lease: Lease): void {
    const { holderIdentity = '', renewTime = '', acquireTime = '', leaseTransitions = 0 } = lease.spec ?? {};
    const record = JSON.stringify([holderIdentity, renewTime, acquireTime, leaseTransitions]);
    if (observed?.record === record) observed = { ...observed, lease };
    else observed = { lease, record, at: performance.now() };
  }

  const holder = (): string => observed?.lease.spec?.holderIdentity ?? '';

  /** Takes or renews the Lease. False when another holds it or was faster; throws when the server cannot be asked. */
  async function take(signal: AbortSignal): Promise<boolean> {
    const call = { signal, retry: { attempts: 1 } };
    const now = microTimeText(Date.now());
    const mine = { holderIdentity: identity, leaseDurationSeconds: leaseSeconds, renewTime: now };
    // A leader knows its Lease; that nobody has changed it shows when it is written.
    if (!leading || observed === undefined) {
      const found = await client.find(leases, key, call);
      if (!found) {
        const fresh: Lease = { metadata: key, spec: { ...mine, acquireTime: now, leaseTransitions: 0 } };
        return written(() => client.create(leases, fresh, call), signal);
      }
      observe(found);
    }
    if (!observed) return false;
    const { lease, at } = observed;
    const spec = lease.spec ?? {};
    const heldMs = (spec.leaseDurationSeconds ?? leaseSeconds) * 1000;
    const isMine = spec.holderIdentity === identity;
    if (spec.holderIdentity && !isMine && performance.now() < at + heldMs) return false;
    const next = isMine ? mine : { ...mine, acquireTime: now, leaseTransitions: (spec.leaseTransitions ?? 0) + 1 };
    return written(() => client.replace(leases, { ...lease, spec: { ...spec, ...next } }, call), signal);
  }

  async function written(write: () => Promise<Lease>, signal: AbortSignal): Promise<boolean> {
    try {
      observe(await write());
      return true;
    } catch (error) {
      // Somebody else wrote it, or this process did and the answer was lost: the next try goes by what it says now.
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
      const found = await client.find(leases, key, { signal, retry: { attempts: 1 } });
      if (found) observe(found);
      return false;
    }
  }

  async function tried(timeoutMs: number): Promise<boolean> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    // Who waits can leave at once; who leads finishes a renewal, so that it knows what it has to let go of.
    const leave = (): void => {
      if (!leading) late.abort(stopping.signal.reason);
    };
    stopping.signal.addEventListener('abort', leave, { once: true });
    try {
      const got = await take(late.signal);
      lastProblem = '';
      return got;
    } catch (err) {
      if (stopping.signal.aborted) return false;
      const text = err instanceof Error ? err.message : String(err);
      const advised = advice(err);
      const fields = { err, lease: `${namespace}/${name}`, ...(advised ? { advice: advised } : {}) };
      if (text !== lastProblem)
        logger.warn(fields, `the lease ${namespace}/${name} cannot be ${leading ? 'renewed' : 'taken'}`);
      lastProblem = text;
      return false;
    } finally {
      clearTimeout(timer);
      stopping.signal.removeEventListener('abort', leave);
    }
  }

  async function acquire(): Promise<void> {
    let seen = '';
    while (!(await tried(renewDeadlineMs))) {
      if (holder() !== seen) {
        seen = holder();
        logger.info({ leader: seen, lease: `${namespace}/${name}` }, `waiting: the leader is ${seen || 'not known'}`);
      }
      await pause(retryMs * (1 + Math.random() * (jitter - 1)), stopping.signal);
    }
  }

  /** Settles when the Lease could not be renewed in time, or another has it. */
  async function renew(): Promise<void> {
    let renewedAt = performance.now();
    for (;;) {
      await pause(retryMs, stopping.signal);
      const left = renewedAt + renewDeadlineMs - performance.now();
      if (left <= 0) return;
      const before = performance.now();
      if (await tried(left)) renewedAt = before;
      else if (holder() !== '' && holder() !== identity) return;
      if (performance.now() >= renewedAt + renewDeadlineMs) return;
    }
  }

  async function release(): Promise<void> {
    const lease = observed?.lease;
    if (!lease || holder() !== identity) return;
    const now = microTimeText(Date.now());
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    try {
      await client.replace(leases, { ...lease, spec }, { timeoutSeconds: releaseSeconds, retry: { attempts: 1 } });
    } catch (err) {
      logger.warn(
        { err },
        `the lease ${namespace}/${name} was not let go; another leader has to wait for it to run out`,
      );
    }
  }

  async function term(): Promise<void> {
    await acquire();
    leading = true;
    const lost = new AbortController();
    logger.info({ identity, lease: `${namespace}/${name}` }, 'leading');
    // A leader that cannot begin goes on holding the office: the next one would fail as well, and this one can be seen.
    const began = Promise.resolve()
      .then(() => office.lead(lost.signal))
      .catch((err: unknown) => logger.error({ err }, 'the leader could not begin its work'));
    let why = `${identity} does not lead any more`;
    try {
      await renew();
      why = `the lease ${namespace}/${name} was lost: ${holder() === identity ? 'it could not be renewed in time' : `the leader is ${holder()}`}`;
      logger.error({ identity }, why);
    } finally {
      lost.abort(new Error(why));
      await began;
      await office.resign().catch((err: unknown) => logger.error({ err }, 'the leader failed to end its work'));
      leading = false;
    }
  }

  const ended = (async () => {
    try {
      while (!stopping.signal.aborted) await term();
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
    }
    await release();
  })();
  ended.catch((err: unknown) => logger.fatal({ err }, 'leader election has ended'));

  return {
    identity,
    get leading() {
      return leading;
    },
    get leader() {
      return holder() || undefined;
    },
    async stop() {
      stopping.abort(new Error('leader election is stopping'));
      await ended.catch(() => undefined);
    },
  };
}
