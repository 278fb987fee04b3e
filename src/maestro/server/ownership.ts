// Which consumers this server looks after where all servers hear everything: consumers fall into buckets, and the servers on one
// database share the buckets by leases.
import { createHash } from 'node:crypto';
import type { Logger } from '../../kit/log.ts';
import { joinPool } from '../../store/buckets.ts';
import type { Store } from '../../store/store.ts';

export interface Ownership {
  owns(consumer: string): boolean;
  /** When the last look at the leases succeeded, by `performance.now()`. */
  lastRound(): number;
  stop(): Promise<void>;
}

export interface OwnershipOptions {
  readonly store: Store;
  readonly instance: string;
  /** How long the consumers of a server that died stay without one. */
  readonly leaseSeconds: number;
  /** Told when buckets have come to this server: whether a consumer is in one of them. */
  readonly onGained: (isGained: (consumer: string) => boolean) => void;
  readonly logger: Logger;
}

const buckets = 256;

export async function startOwnership(options: OwnershipOptions): Promise<Ownership> {
  const { logger } = options;
  const member = await joinPool({
    store: options.store,
    pool: 'maestro_consumers',
    worker: options.instance,
    leaseSeconds: options.leaseSeconds,
    buckets,
    onChange: ({ gained, lost }) => {
      logger.info({ gained: gained.length, lost: lost.length }, 'consumers changed hands');
      const news = new Set(gained);
      if (news.size > 0) options.onGained((consumer) => news.has(bucketOf(consumer)));
    },
    onError: (err) => logger.warn({ err }, 'the share of consumers could not be looked at'),
  });
  return {
    owns: (consumer) => member.isOwned(bucketOf(consumer)),
    lastRound: member.lastRound,
    stop: () => member.leave(),
  };
}

function bucketOf(consumer: string): number {
  return createHash('sha256').update(consumer).digest().readUInt32BE(0) % buckets;
}
