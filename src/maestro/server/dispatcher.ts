// Brings bundles to agents. For each consumer there is a lane: what is to be sent is kept by id and read when its turn comes, so an
// agent gets the latest state, in order, once for many changes. What was sent and not confirmed stays pending in the
// store; whoever comes to serve a consumer sends all of that, so nothing is lost with a server.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../kit/log.ts';
import { createBackoff } from '../../kube/backoff.ts';
import type { CloudEvent } from '../protocol/cloud-event.ts';
import type { ResourceVersion } from '../protocol/resync.ts';
import { type BundleDocument, bundleKey, type Documents } from './documents.ts';
import { eachBundle } from './each-bundle.ts';
import { goneEvent, specEvent } from './outgoing.ts';

/** A way to agents. */
export interface AgentLink {
  /** Whether this server is the one to bring changes to the consumer on this link now. */
  serves(consumer: string): boolean;
  /** Whether it could send to the consumer now, as an answer to what its agent said. Where it serves, it reaches. */
  reaches(consumer: string): boolean;
  /** Settles when the other side, or its broker, has the event. Events are taken in the order of the calls. */
  send(consumer: string, event: CloudEvent): Promise<void>;
}

export interface Dispatcher {
  /** A bundle changed that its agent has to learn of. Does nothing where no link serves the consumer. */
  changed(consumer: string, id: string): void;
  /** A bundle is gone. */
  removed(consumer: string, id: string): void;
  /** Sends everything that a consumer has not confirmed; for a link that has come to serve it. Never rejects. */
  catchUp(consumer: string): Promise<void>;
  /** Answers an agent that says what it has. A later request takes the place of one that waits. */
  resync(consumer: string, versions: readonly ResourceVersion[]): void;
  /** Tells an agent that a bundle it has does not exist. */
  disown(consumer: string, id: string, version: number): void;
  /** Settles when nothing is in any lane. */
  idle(): Promise<void>;
  /** Takes up nothing more and waits for what is under way; the links must have been stopped, or be working. */
  stop(): Promise<void>;
}

export interface DispatcherOptions {
  readonly documents: Documents;
  readonly sourceId: string;
  readonly links: readonly AgentLink[];
  readonly logger: Logger;
  readonly onSent?: (action: string) => void;
}

/** Sent before the first of them is confirmed. */
const window = 32;
/** Lanes at work at once; others wait their turn. */
const maxWorking = 128;
/** Ids that a lane holds of what does not exist; an agent names no more at once that are worth answering. */
const maxDisowned = 10_000;

interface Lane {
  readonly ids: Set<string>;
  readonly disowned: Map<string, number>;
  resync: readonly ResourceVersion[] | undefined;
  working: boolean;
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { documents, sourceId, links, logger } = options;
  const lanes = new Map<string, Lane>();
  const ready: string[] = [];
  const stopping = new AbortController();
  const backoff = createBackoff({ baseMs: 100, maxMs: 10_000 });
  let working = 0;
  let idleWaiters: (() => void)[] = [];

  const serving = (consumer: string): readonly AgentLink[] => links.filter((link) => link.serves(consumer));
  const reaching = (consumer: string): readonly AgentLink[] => links.filter((link) => link.reaches(consumer));

  function laneOf(consumer: string): Lane {
    let lane = lanes.get(consumer);
    if (lane === undefined) {
      lane = { ids: new Set(), disowned: new Map(), resync: undefined, working: false };
      lanes.set(consumer, lane);
    }
    return lane;
  }

  function schedule(consumer: string): void {
    if (stopping.signal.aborted) return;
    const lane = laneOf(consumer);
    if (lane.working) return;
    lane.working = true;
    ready.push(consumer);
    begin();
  }

  function begin(): void {
    while (working < maxWorking) {
      const consumer = ready.shift();
      if (consumer === undefined) break;
      working++;
      void work(consumer).finally(() => {
        working--;
        begin();
        if (working === 0 && ready.length === 0) {
          for (const resume of idleWaiters) resume();
          idleWaiters = [];
        }
      });
    }
  }

  /** Works a lane off. Never rejects: what failed is tried again after a while, or dropped where nobody serves the consumer. */
  async function work(consumer: string): Promise<void> {
    const lane = laneOf(consumer);
    while (!stopping.signal.aborted && hasWork(lane)) {
      try {
        await step(consumer, lane);
        backoff.forget(consumer);
      } catch (error) {
        if (stopping.signal.aborted) break;
        logger.warn({ err: error, consumer }, 'what is to be sent to an agent could not be read; trying again');
        await sleep(backoff.next(consumer), undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
    lane.working = false;
    if (!hasWork(lane)) lanes.delete(consumer);
    else schedule(consumer);
  }

  /** One thing of a lane; what nobody can bring any more is dropped. */
  async function step(consumer: string, lane: Lane): Promise<void> {
    const { resync } = lane;
    const [disowned] = lane.disowned;
    if (resync !== undefined) {
      lane.resync = undefined;
      try {
        await answerResync(consumer, resync, reaching(consumer));
      } catch (error) {
        lane.resync ??= resync;
        throw error;
      }
    } else if (disowned !== undefined) {
      const [id, version] = disowned;
      lane.disowned.delete(id);
      // It may have been made since.
      if ((await documents.bundles.read(bundleKey(id)))?.body.consumerName === consumer) return;
      const event = goneEvent({ id, version, consumerName: consumer }, sourceId, 'delete_request');
      await sendAll(consumer, [event], reaching(consumer));
    } else {
      await sendChanged(consumer, lane);
    }
  }

  async function sendChanged(consumer: string, lane: Lane): Promise<void> {
    const ids = [...lane.ids].slice(0, window);
    for (const id of ids) lane.ids.delete(id);
    try {
      const found = await Promise.all(ids.map((id) => documents.bundles.read(bundleKey(id))));
      const bodies = found.flatMap((document) => (document?.body.pendingFor === consumer ? [document.body] : []));
      const events = bodies.map((body) => specEvent(body, sourceId, false));
      await sendAll(consumer, events, serving(consumer));
    } catch (error) {
      for (const id of ids) lane.ids.add(id);
      throw error;
    }
  }

  /**
   * All at once, in order; settles when every link has taken or refused all of them. What a link refuses, such as an event that a broker
   * finds too large, would be refused again: it stays unconfirmed, and upkeep tries it anew.
   */
  async function sendAll(consumer: string, events: readonly CloudEvent[], by: readonly AgentLink[]): Promise<void> {
    const sent = events.flatMap((event) => by.map((link) => link.send(consumer, event)));
    const failures = (await Promise.allSettled(sent)).flatMap((result) =>
      result.status === 'rejected' ? [result.reason] : [],
    );
    const [err] = failures;
    if (failures.length > 0 && !stopping.signal.aborted) {
      logger.error({ err, consumer, count: failures.length }, 'events could not be sent to an agent');
    }
    for (const { type } of events) options.onSent?.(type);
  }

  async function answerResync(
    consumer: string,
    versions: readonly ResourceVersion[],
    by: readonly AgentLink[],
  ): Promise<void> {
    const reported = new Map(versions.map(({ resourceID, resourceVersion }) => [resourceID, resourceVersion]));
    let events: CloudEvent[] = [];
    const flush = async (): Promise<void> => {
      const full = events;
      events = [];
      await sendAll(consumer, full, by);
    };
    for await (const body of eachBundle(documents, ['consumerName'], consumer)) {
      const version = reported.get(body.id);
      reported.delete(body.id);
      if (!isWanted(body, version)) continue;
      events.push(specEvent(body, sourceId, true));
      if (events.length >= window) await flush();
    }
    for (const [id, version] of reported) {
      events.push(goneEvent({ id, version, consumerName: consumer }, sourceId, 'resync_response'));
      if (events.length >= window) await flush();
    }
    await flush();
  }

  return {
    changed(consumer, id) {
      if (serving(consumer).length === 0) return;
      laneOf(consumer).ids.add(id);
      schedule(consumer);
    },
    removed(consumer, id) {
      lanes.get(consumer)?.ids.delete(id);
    },
    async catchUp(consumer) {
      try {
        for await (const { id } of eachBundle(documents, ['pendingFor'], consumer)) this.changed(consumer, id);
      } catch (error) {
        if (!stopping.signal.aborted) logger.error({ err: error, consumer }, 'what a consumer lacks could not be read');
      }
    },
    resync(consumer, versions) {
      if (reaching(consumer).length === 0) return;
      laneOf(consumer).resync = versions;
      schedule(consumer);
    },
    disown(consumer, id, version) {
      if (reaching(consumer).length === 0) return;
      const { disowned } = laneOf(consumer);
      if (disowned.size < maxDisowned) disowned.set(id, version);
      schedule(consumer);
    },
    async idle() {
      if (working === 0 && ready.length === 0) return;
      await new Promise<void>((resolve) => idleWaiters.push(resolve));
    },
    async stop() {
      stopping.abort();
      ready.length = 0;
      await this.idle();
      lanes.clear();
    },
  };
}

/** What an agent lacks: what it has not at all, what it has in an older version, and every deletion. */
function isWanted(body: BundleDocument, reported: number | undefined): boolean {
  return body.deletedAt !== undefined || reported === undefined || reported === 0 || body.version > reported;
}

function hasWork(lane: Lane): boolean {
  return lane.ids.size > 0 || lane.disowned.size > 0 || lane.resync !== undefined;
}
