// The controller: requests from its sources, one reconcile at a time for each.
import type { Logger } from '../kit/log.ts';
import type { Metrics } from '../kit/metrics.ts';
import { withSpan } from '../kit/tracing.ts';
import type { BackoffOptions } from './backoff.ts';
import { controllerMetrics, type Outcome } from './controller-metrics.ts';
import { advice, isConflict } from './kube-error.ts';
import { keyText } from './object.ts';
import { createQueue, type WorkQueue } from './queue.ts';
import { queueMetrics } from './queue-metrics.ts';
import type { Request, Source } from './source.ts';

export type { Request } from './source.ts';

export interface Result {
  /** Seconds after which to look again although nothing has changed. */
  readonly requeueAfter?: number;
}

export interface ReconcileContext {
  /** Fires when the time is over, the grace period of a stop is over, or leadership is lost: end at once, write nothing more. */
  readonly signal: AbortSignal;
  /** Names controller and object on every line. */
  readonly log: Logger;
  /** How often this object has failed in a row before. */
  readonly failures: number;
}

/**
 * Makes one object so: reads what is wanted, reads what there is, acts on the difference, and says when to look again.
 *
 * - It is told which object, never what happened, and must come to the same end whichever changes it has not seen: it is called
 *   at the start for every object, after changes (several may be told as one), and after failures.
 * - It is called for objects that are gone, and returns then.
 * - It is never called twice at the same time for one object. For different objects it is, up to the controller's concurrency.
 * - What it reads from informers may be a moment old: what it has just written may not be there yet. Its writes must bear that;
 *   server-side apply and replace with a resourceVersion do.
 * - When it throws, it is called again after a wait that doubles each time; a {@link TerminalError} waits for the next change.
 */
export type Reconcile = (request: Request, context: ReconcileContext) => Promise<Result | undefined> | Promise<void>;

/** Trying again will not help until something changes. The message is for the person who has to change it. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TerminalError';
  }
}

export interface ControllerOptions {
  /** Stands in logs and metrics; unique within a service. */
  readonly name: string;
  readonly sources: readonly (Source | Pick<Source, 'begin'>)[];
  readonly reconcile: Reconcile;
  /** Objects that are reconciled at the same time; 1 unless given. */
  readonly concurrency?: number;
  /** For one reconcile; 600 unless given. */
  readonly timeoutSeconds?: number;
  /** A reconcile that goes on this long after it was told to end keeps its object, but not its worker; 10 unless given. */
  readonly deafSeconds?: number;
  readonly backoff?: BackoffOptions;
  /** Requests of one lane do not hold up those of another; by namespace unless given. */
  readonly laneOf?: (request: Request) => string;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

export interface Controller {
  readonly name: string;
  /** Waits until its sources have synced, then reconciles until it is stopped. Can be started again after that. */
  start(): void;
  /**
   * Takes up nothing more and waits for what is under way to end. With `abort`, reconciles under way are told to end now; else
   * when `graceOver` fires.
   */
  stop(options?: { readonly abort?: boolean; readonly graceOver?: AbortSignal }): Promise<void>;
  /** Why it does not work yet, or undefined when it does. */
  notReady(): string | undefined;
}

const defaultTimeoutSeconds = 600;
const defaultDeafSeconds = 10;

export function createController(options: ControllerOptions): Controller {
  const { name, logger: serviceLogger } = options;
  const logger = serviceLogger.child({ controller: name });
  const metrics = options.metrics ? controllerMetrics(options.metrics, name) : undefined;
  const timeoutSeconds = options.timeoutSeconds ?? defaultTimeoutSeconds;
  const informers = options.sources.flatMap((source) => ('informer' in source ? [source.informer] : []));
  let run: Run | undefined;
  let active = 0;

  interface Run {
    readonly stopping: AbortController;
    readonly aborting: AbortController;
    readonly queue: WorkQueue<Request>;
    readonly ended: Promise<void>;
  }

  function start(): void {
    if (run) return;
    const stopping = new AbortController();
    const aborting = new AbortController();
    const queue = createQueue<Request>({
      keyOf: ({ namespace, name: object }) => `${namespace}/${object}`,
      laneOf: options.laneOf ?? (({ namespace }) => namespace),
      ...(options.backoff ? { backoff: options.backoff } : {}),
      ...(options.metrics ? { metrics: queueMetrics(options.metrics, name) } : {}),
    });
    // Sources begin at once, so that no change between their sync and the start of the workers is lost.
    const ends = options.sources.map((source) => source.begin((request) => queue.add(request)));
    const work = async (): Promise<void> => {
      try {
        await Promise.all(informers.map((informer) => informer.whenSynced(stopping.signal)));
      } catch (err) {
        if (!stopping.signal.aborted) logger.error({ err }, `controller ${name} cannot start`);
        return;
      }
      logger.info(`controller ${name} has started`);
      await Promise.all(Array.from({ length: options.concurrency ?? 1 }, () => worker(queue, aborting.signal)));
    };
    const ended = work().finally(() => {
      for (const end of ends) end();
    });
    run = { stopping, aborting, queue, ended };
  }

  async function worker(queue: WorkQueue<Request>, aborting: AbortSignal): Promise<void> {
    for (let request = await queue.take(); request; request = await queue.take()) {
      await reconcileOne(queue, request, aborting);
    }
  }

  /** Settles when the worker is free again: when the reconcile has ended, or does not listen. Never rejects. */
  async function reconcileOne(queue: WorkQueue<Request>, request: Request, aborting: AbortSignal): Promise<void> {
    const log = logger.child({ object: keyText(request) });
    const control = new AbortController();
    const timer = setTimeout(
      () => control.abort(new Error(`not done within ${timeoutSeconds} s`)),
      timeoutSeconds * 1000,
    );
    const abort = (): void => control.abort(aborting.reason);
    if (aborting.aborted) abort();
    aborting.addEventListener('abort', abort, { once: true });
    metrics?.active(++active);
    const began = performance.now();
    const context = { signal: control.signal, log, failures: queue.failures(request) };
    const settled = withSpan(`reconcile ${name}`, { root: true, attributes: { object: keyText(request) } }, async () =>
      options.reconcile(request, context),
    ).then(
      (result) => {
        queue.forget(request);
        const after = result?.requeueAfter;
        if (after !== undefined && after > 0) queue.addAfter(request, after * 1000);
        return after !== undefined && after > 0 ? ('requeue_after' as const) : ('success' as const);
      },
      (error: unknown) => failed(queue, request, error, control.signal, aborting, log),
    );
    const ended = settled.then((outcome: Outcome) => {
      clearTimeout(timer);
      aborting.removeEventListener('abort', abort);
      metrics?.reconciled(outcome, (performance.now() - began) / 1000);
      metrics?.active(--active);
      queue.done(request);
    });
    await Promise.race([ended, deaf(control.signal, ended, log)]);
  }

  /** Settles some time after the signal has fired, if the reconcile has not ended by then. */
  function deaf(signal: AbortSignal, ended: Promise<void>, log: Logger): Promise<void> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const begin = (): void => {
        timer = setTimeout(
          () => {
            log.error(`${name}: a reconcile was told to end and goes on; its object is held until it does`);
            resolve();
          },
          (options.deafSeconds ?? defaultDeafSeconds) * 1000,
        );
      };
      if (signal.aborted) begin();
      signal.addEventListener('abort', begin, { once: true });
      void ended.then(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', begin);
      });
    });
  }

  function failed(
    queue: WorkQueue<Request>,
    request: Request,
    error: unknown,
    signal: AbortSignal,
    aborting: AbortSignal,
    log: Logger,
  ): Outcome {
    if (aborting.aborted) return 'error';
    const failures = queue.failures(request) + 1;
    const advised = advice(error);
    const fields = { err: error, failures, ...(advised ? { advice: advised } : {}) };
    if (error instanceof TerminalError) {
      queue.forget(request);
      log.error(fields, `${name} cannot reconcile ${keyText(request)} until something changes: ${error.message}`);
      return 'terminal_error';
    }
    queue.addRateLimited(request);
    if (signal.aborted) {
      log.error(
        fields,
        `${name}: reconcile of ${keyText(request)} was not done within ${timeoutSeconds} s; it is tried again`,
      );
      return 'timeout';
    }
    // That another writer was faster is everyday life; the next try reads what it wrote.
    if (isConflict(error) && failures < 5) log.debug(fields, `${name}: ${keyText(request)} has changed meanwhile`);
    else log.error(fields, `${name}: reconcile of ${keyText(request)} failed; it is tried again`);
    return 'error';
  }

  return {
    name,
    start,
    async stop({ abort = false, graceOver } = {}) {
      const ending = run;
      if (!ending) return;
      const reason = new Error(`controller ${name} is stopping`);
      ending.stopping.abort(reason);
      const abortNow = (): void => ending.aborting.abort(reason);
      if (abort || graceOver?.aborted) abortNow();
      graceOver?.addEventListener('abort', abortNow, { once: true });
      await Promise.all([ending.queue.shutDown(), ending.ended]);
      graceOver?.removeEventListener('abort', abortNow);
      if (run === ending) run = undefined;
      logger.info(`controller ${name} has stopped`);
    },
    notReady() {
      if (!run) return `controller ${name} is not started`;
      const waiting = informers.find((informer) => !informer.synced);
      return waiting ? `controller ${name} waits for ${waiting.resource.plural}` : undefined;
    },
  };
}
