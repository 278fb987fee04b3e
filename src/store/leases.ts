import { setImmediate } from 'node:timers/promises';
import { decodeStride } from './codec.ts';
import type { EngineClaim, EngineContainer, Fence } from './engine.ts';
import { isStoreError, StoreError } from './errors.ts';
import { checkKey, checkKeyPart } from './keys.ts';
import type { Claim, ClaimOptions, Document, Lease, Leases } from './store.ts';

const maxLeaseSeconds = 86_400;
const maxDelaySeconds = 31_536_000;
const maxClaims = 1000;
/** Renewals in one call of the engine. */
const renewStride = 200;

export interface LeaseSource<T> {
  readonly name: string;
  readonly engine: EngineContainer;
  readonly isQueue: boolean;
  /** Throws Closed. */
  alive(): void;
  decode(row: EngineClaim['row']): Document<T>;
}

/** The queue of a container. Deadlines count from before the database was asked, so they pass no later than the lease. */
export function leasesOf<T>(source: LeaseSource<T>): Leases<T> {
  const { name, engine } = source;
  const ready = (): void => {
    source.alive();
    if (!source.isQueue)
      throw new StoreError('Invalid', `container ${name} is not a work queue: its spec has no queue function`);
  };
  const deadlineFrom = (asked: number, leaseSeconds: number): number => asked + leaseSeconds * 1000;
  const claimOf = ({ row, token, dequeues }: EngineClaim, owner: string, leaseSeconds: number, asked: number) => ({
    document: source.decode(row),
    lease: {
      container: name,
      partition: row.partition,
      id: row.id,
      owner,
      token,
      dequeues,
      leaseSeconds,
      deadline: deadlineFrom(asked, leaseSeconds),
    },
  });

  const renewSome = async (leases: readonly Lease[], leaseSeconds: number): Promise<Lease[]> => {
    const asked = performance.now();
    const held = await engine.renew(leases.map(engineLease), leaseSeconds);
    const names = new Set(held.map(leaseName));
    const deadline = deadlineFrom(asked, leaseSeconds);
    return leases.filter((lease) => names.has(leaseName(lease))).map((lease) => ({ ...lease, deadline }));
  };

  return {
    async claim(options) {
      ready();
      const { owner, leaseSeconds, max = 1, ownerLimit } = options;
      checkClaimant(options);
      checkCount('max', max, maxClaims);
      if (ownerLimit !== undefined) checkCount('ownerLimit', ownerLimit, Number.MAX_SAFE_INTEGER);
      const asked = performance.now();
      const claimed = await engine.claim(owner, leaseSeconds, max, ownerLimit);
      // A document that does not open must not keep back the others: it stays leased and comes again when that lapses.
      const claims: Claim<T>[] = [];
      let refused: unknown;
      let length = 0;
      for (const claim of claimed) {
        length += claim.row.json.length;
        if (length > decodeStride) {
          await setImmediate();
          length = 0;
        }
        try {
          claims.push(claimOf(claim, owner, leaseSeconds, asked));
        } catch (error) {
          if (!isStoreError(error, 'Seal')) throw error;
          refused = error;
        }
      }
      if (claims.length === 0 && refused !== undefined) throw refused;
      return claims;
    },
    async claimOne(key, options) {
      ready();
      checkKey(key);
      checkClaimant(options);
      const { owner, leaseSeconds } = options;
      const asked = performance.now();
      const claimed = await engine.claimOne(key.partition, key.id, owner, leaseSeconds);
      return claimed && claimOf(claimed, owner, leaseSeconds, asked);
    },
    async renew(lease) {
      ready();
      checkLease(name, lease);
      const [renewed] = await renewSome([lease], lease.leaseSeconds);
      if (!renewed)
        throw new StoreError(
          'LeaseLost',
          `container ${name}: the lease of ${lease.partition}/${lease.id} lapsed or was taken over: stop the work under it`,
        );
      return renewed;
    },
    async renewAll(leases) {
      ready();
      for (const lease of leases) checkLease(name, lease);
      const renewed = new Map<string, Lease>();
      for (const [leaseSeconds, group] of Map.groupBy(leases, (lease) => lease.leaseSeconds))
        for (let from = 0; from < group.length; from += renewStride)
          for (const lease of await renewSome(group.slice(from, from + renewStride), leaseSeconds))
            renewed.set(leaseName(lease), lease);
      return leases.flatMap((lease) => renewed.get(leaseName(lease)) ?? []);
    },
    async release(lease, { delaySeconds = 0 } = {}) {
      ready();
      checkLease(name, lease);
      if (typeof delaySeconds !== 'number' || !(delaySeconds >= 0 && delaySeconds <= maxDelaySeconds))
        throw new StoreError('Invalid', `delaySeconds must be a number from 0 to ${maxDelaySeconds}`);
      await engine.release(engineLease(lease), delaySeconds);
    },
    async waiting() {
      ready();
      return engine.waiting();
    },
  };
}

/** The fence of a write under a lease. Throws Invalid when the lease is of another container or partition. */
export function fenceOf(container: string, partition: string, lease: Lease): Fence {
  checkLease(container, lease);
  if (lease.partition !== partition)
    throw new StoreError(
      'Invalid',
      `the lease is of partition ${lease.partition}, the write of ${partition}: a lease covers writes of its own partition`,
    );
  return { id: lease.id, token: lease.token };
}

function checkLease(container: string, lease: Lease): void {
  checkKey(lease);
  if (lease.container !== container)
    throw new StoreError('Invalid', `the lease is of container ${lease.container}, not of ${container}`);
  if (!Number.isSafeInteger(lease.token)) throw new StoreError('Invalid', 'the lease has no fencing token');
  checkLeaseSeconds(lease.leaseSeconds);
}

function checkClaimant({ owner, leaseSeconds }: Pick<ClaimOptions, 'owner' | 'leaseSeconds'>): void {
  checkKeyPart('owner', owner);
  checkLeaseSeconds(leaseSeconds);
}

function checkLeaseSeconds(leaseSeconds: unknown): void {
  if (typeof leaseSeconds !== 'number' || !(leaseSeconds > 0 && leaseSeconds <= maxLeaseSeconds))
    throw new StoreError('Invalid', `leaseSeconds must be a number above 0 and up to ${maxLeaseSeconds}`);
}

function checkCount(what: string, count: unknown, most: number): void {
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 1 || count > most)
    throw new StoreError('Invalid', `${what} must be a whole number from 1 to ${most}`);
}

function engineLease({ partition, id, token }: Lease): Pick<Lease, 'partition' | 'id' | 'token'> {
  return { partition, id, token };
}

/** Partition and id have no control characters, so this names one lease. */
function leaseName({ partition, id, token }: Pick<Lease, 'partition' | 'id' | 'token'>): string {
  return `${partition}\n${id}\n${token}`;
}
