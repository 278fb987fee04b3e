// Looks now and then for bundles that an agent has not confirmed, however they got lost, and sends them again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../kit/log.ts';
import type { Documents } from './documents.ts';
import { eachBundle } from './each-bundle.ts';

export interface UpkeepOptions {
  readonly documents: Documents;
  /** Sends it again, where this server serves the consumer. */
  readonly send: (consumer: string, id: string) => void;
  /** Unconfirmed for this long is lost; 0 never looks. */
  readonly undeliveredSeconds: number;
  /** A deletion that was not confirmed for this long is left to the agent's next resync; 0 for none. */
  readonly staleDeleteSeconds: number;
  /** How many there were at the last look. */
  readonly onLook?: (counts: { readonly undelivered: number; readonly staleDeletes: number }) => void;
  readonly logger: Logger;
  /** The clock, for tests. */
  readonly now?: () => number;
}

export interface Upkeep {
  /** Looks now. Rejects when the store cannot be asked. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

export function startUpkeep(options: UpkeepOptions): Upkeep {
  const { documents, undeliveredSeconds, staleDeleteSeconds, logger, now = Date.now } = options;
  const stopping = new AbortController();

  async function look(): Promise<void> {
    const before = (seconds: number): string => new Date(now() - seconds * 1000).toISOString();
    const lost = before(undeliveredSeconds);
    const stale = staleDeleteSeconds === 0 ? '' : before(staleDeleteSeconds);
    let [undelivered, staleDeletes] = [0, 0];
    for await (const { id, consumerName, specAt, deletedAt } of eachBundle(documents, ['pendingFor'])) {
      if (stopping.signal.aborted) return;
      if (specAt >= lost) continue;
      if (deletedAt !== undefined && deletedAt < stale) {
        staleDeletes++;
        continue;
      }
      undelivered++;
      options.send(consumerName, id);
    }
    options.onLook?.({ undelivered, staleDeletes });
    if (undelivered > 0) logger.info({ undelivered, staleDeletes }, 'sending again what agents have not confirmed');
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Between half of it and all of it, so that several servers do not all look at once.
      const waitMs = (undeliveredSeconds * 1000 * (1 + Math.random())) / 2;
      await sleep(waitMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      await look().catch((err: unknown) => logger.warn({ err }, 'unconfirmed bundles could not be looked for'));
    }
  }

  const running = undeliveredSeconds === 0 ? Promise.resolve() : run();
  return {
    look,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
