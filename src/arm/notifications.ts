// Tells ARM of the end of operations: POSTs the status document to the address that ARM gave with the request, at least once.
// Level-triggered: what is to be sent stands in the operation documents, so a sender that was killed goes on where it was.
import type { FastifyBaseLogger } from 'fastify';
import type { GuardedClient } from '../kit/guarded-client.ts';
import { GuardedRequestError, type GuardRule } from '../kit/guarded-url.ts';
import { isStoreError } from '../store/errors.ts';
import type { Filter } from '../store/filter.ts';
import type { Container, Document, Store, Version } from '../store/store.ts';
import { isOperation, isTerminal, type OperationDocument, operationStatus } from './operation.ts';
import { type OperationPaths, statusPath } from './operation-paths.ts';

export interface NotificationOptions {
  /** The container that operations are in, among other documents. */
  readonly container: Pick<Container<object>, 'query' | 'changes' | 'replace'>;
  /** Its clock is the only one that counts: that of a process may be wrong. */
  readonly store: Pick<Store, 'now'>;
  readonly paths: OperationPaths;
  readonly client: Pick<GuardedClient, 'request'>;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>;
  /** How often documents are looked through for what the feed did not show: retries, and what a crash left. 10 when left out. */
  readonly sweepSeconds?: number;
  /** The wait after the first failure, doubled by each further one. 5 when left out; at most an hour. */
  readonly firstRetrySeconds?: number;
  /** How long a receiver may take. 30 when left out. An attempt cut short by a crash is repeated after it. */
  readonly sendTimeoutSeconds?: number;
  /** How many are sent at once. 8 when left out. */
  readonly concurrency?: number;
}

export interface NotificationSender {
  /** Sends what is due now and returns; for a process that wants no loop. */
  sweep(): Promise<void>;
  /** Ends the loop and waits for what is being sent. */
  stop(): Promise<void>;
}

const retryMaxSeconds = 3600;
/** Waits differ by this much, so that what failed together is not tried again together. */
const spread = 0.2;
/** More than fit into an operation's time to live at the longest wait: only for documents that do not expire. */
const attemptsMax = 250;

/** The client's rules that an address breaks for good; what breaks the others may be right the next time. */
const refusals: ReadonlySet<GuardRule> = new Set(['url', 'scheme', 'host', 'port', 'header']);

function isRefused(error: unknown): boolean {
  return error instanceof GuardedRequestError && refusals.has(error.rule);
}

const pending: Filter = {
  op: 'and',
  filters: [
    { op: 'eq', field: ['documentType'], value: 'operation' },
    { op: 'eq', field: ['notification', 'state'], value: 'pending' },
  ],
};

/** Starts to send. Any number of processes may: an attempt is claimed by a write before it is made. */
export function startNotifications(options: NotificationOptions): NotificationSender {
  const stopping = new AbortController();
  const slots = limiter(options.concurrency ?? 8);
  const sending = new Set<string>();

  const consider = async (document: Document<object>): Promise<void> => {
    const name = `${document.partition}/${document.id}`;
    if (stopping.signal.aborted || sending.has(name) || !isPending(document.body)) return;
    sending.add(name);
    try {
      if (!isDue(document.body, await options.store.now(), options)) return;
      await slots(() => deliver(document as Document<OperationDocument>, options, stopping.signal));
    } catch (error) {
      // The database: the next sweep tries again.
      if (!stopping.signal.aborted) options.log.warn({ err: error }, 'an ARM notification could not be recorded');
    } finally {
      sending.delete(name);
    }
  };

  const sweep = async (): Promise<void> => {
    let continuation: string | undefined;
    do {
      const page = await options.container.query({
        filter: pending,
        limit: 100,
        ...(continuation === undefined ? {} : { continuation }),
      });
      await Promise.all(page.documents.map(consider));
      continuation = page.continuation;
    } while (continuation !== undefined && !stopping.signal.aborted);
  };

  const follow = async (): Promise<void> => {
    for await (const { changes } of options.container.changes({ from: 'now', signal: stopping.signal })) {
      // Not awaited: a slow receiver must not hold up the feed. The limiter bounds what runs.
      for (const change of changes) if (change.kind !== 'delete') void consider(change.document);
    }
  };

  const period = (options.sweepSeconds ?? 10) * 1000;
  const loops = Promise.all([
    repeat(follow, period, stopping.signal, options, 'the feed of operations broke off'),
    repeat(sweep, period, stopping.signal, options, 'operations could not be looked through'),
  ]);

  return {
    sweep,
    async stop() {
      stopping.abort();
      await loops;
      await slots.idle();
    },
  };
}

function isPending(body: object): body is OperationDocument {
  if (!isOperation(body) || !isTerminal(body.status) || body.notificationUri === undefined) return false;
  return body.notification?.state === 'pending';
}

/** A time further ahead than anybody waits was written by a clock that was wrong. */
function isDue(body: OperationDocument, nowMs: number, options: NotificationOptions): boolean {
  const notBefore = body.notification?.nextAttemptAt;
  if (notBefore === undefined) return true;
  const waitMs = Date.parse(notBefore) - nowMs;
  const longestSeconds = Math.max(retryMaxSeconds, sendSeconds(options)) * (1 + spread);
  return !(waitMs > 0 && waitMs <= longestSeconds * 1000);
}

function sendSeconds(options: NotificationOptions): number {
  return options.sendTimeoutSeconds ?? 30;
}

/** One attempt: claimed by a write, made, and its outcome recorded by another. A lost race for either write is somebody else's attempt. */
async function deliver(
  document: Document<OperationDocument>,
  options: NotificationOptions,
  signal: AbortSignal,
): Promise<void> {
  const { body } = document;
  const address = body.notificationUri;
  if (address === undefined) return;
  const attempts = (body.notification?.attempts ?? 0) + 1;
  const timeoutSeconds = sendSeconds(options);
  const log = { operationId: body.operationId, attempts };
  const claimed = await record(document, document, options, {
    ...body,
    // Nobody else tries while this attempt may still be under way.
    notification: {
      state: 'pending',
      attempts,
      nextAttemptAt: after(await options.store.now(), timeoutSeconds * (1 + spread)),
    },
  });
  if (claimed === undefined) return;
  let lastError: string;
  try {
    const { status } = await options.client.request(address.reveal(), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(operationStatus(body, statusPath(body, options.paths))),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]),
    });
    if (status < 300) {
      await record(claimed, document, options, without(claimed.body, { state: 'delivered', attempts }));
      options.log.info(log, 'ARM was told of the end of an operation');
      return;
    }
    lastError = `the receiver answered with status ${status}`;
  } catch (error) {
    if (signal.aborted) return;
    lastError = error instanceof Error ? error.message.slice(0, 500) : 'unknown error';
    if (isRefused(error)) {
      await record(claimed, document, options, without(claimed.body, { state: 'refused', attempts, lastError }));
      options.log.error({ ...log, err: error }, 'the notification address of an operation is not allowed');
      return;
    }
  }
  const now = await options.store.now();
  const waitSeconds = retrySeconds(attempts, options);
  if (attempts >= attemptsMax || now + waitSeconds * 1000 >= (document.expiresAt ?? Number.POSITIVE_INFINITY)) {
    await record(claimed, document, options, without(claimed.body, { state: 'expired', attempts, lastError }));
    options.log.error(
      { ...log, lastError },
      'ARM could not be told of the end of an operation within its time to live',
    );
    return;
  }
  const notification = { state: 'pending' as const, attempts, nextAttemptAt: after(now, waitSeconds), lastError };
  await record(claimed, document, options, { ...claimed.body, notification });
  options.log.warn({ ...log, lastError }, 'ARM could not be told of the end of an operation; it will be tried again');
}

/**
 * Writes without lengthening the document's life: it ends when `found`, the document before the attempt, would have ended. Undefined when
 * the document is not that version any more, or gone.
 */
async function record(
  version: Version,
  found: Document<OperationDocument>,
  options: NotificationOptions,
  body: OperationDocument,
): Promise<Document<OperationDocument> | undefined> {
  const { expiresAt } = found;
  const leftMs = expiresAt === undefined ? undefined : expiresAt - (await options.store.now());
  try {
    const ttlSeconds = leftMs === undefined ? null : Math.max(1, leftMs / 1000);
    const written = await options.container.replace(version, body, { ttlSeconds });
    return written as Document<OperationDocument>;
  } catch (error) {
    if (isStoreError(error, 'Changed', 'NotFound')) return undefined;
    throw error;
  }
}

function without(
  body: OperationDocument,
  notification: NonNullable<OperationDocument['notification']>,
): OperationDocument {
  const { notificationUri: _, ...rest } = body;
  return { ...rest, notification };
}

function retrySeconds(attempts: number, options: NotificationOptions): number {
  const wait = (options.firstRetrySeconds ?? 5) * 2 ** Math.min(attempts - 1, 20);
  return Math.min(wait, retryMaxSeconds) * (1 - spread + 2 * spread * Math.random());
}

function after(nowMs: number, seconds: number): string {
  return new Date(nowMs + seconds * 1000).toISOString();
}

/** Runs until stopped: again a period after it ended, well or badly. */
async function repeat(
  run: () => Promise<void>,
  periodMs: number,
  signal: AbortSignal,
  options: NotificationOptions,
  failure: string,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await run();
    } catch (error) {
      if (!signal.aborted) options.log.warn({ err: error }, failure);
    }
    await pause(periodMs, signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}

interface Limiter {
  (work: () => Promise<void>): Promise<void>;
  /** When nothing runs or waits. */
  idle(): Promise<void>;
}

function limiter(max: number): Limiter {
  let running = 0;
  const waiting: (() => void)[] = [];
  const all = new Set<Promise<void>>();
  const enter = async (work: () => Promise<void>): Promise<void> => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    running++;
    try {
      await work();
    } finally {
      running--;
      waiting.shift()?.();
    }
  };
  const run = (work: () => Promise<void>): Promise<void> => {
    const job = enter(work);
    const settled = job.catch(() => undefined);
    all.add(settled);
    void settled.then(() => all.delete(settled));
    return job;
  };
  return Object.assign(run, { idle: async () => void (await Promise.all(all)) });
}
