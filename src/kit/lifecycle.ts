import type { Logger } from './log.ts';
import { createReadiness, type NotReady, type Readiness } from './readiness.ts';
import { graceSeconds as defaultGraceSeconds, type Running } from './service.ts';

/** What a service's build function uses to say what the service consists of. */
export interface Parts extends Pick<Readiness, 'addReadiness'> {
  /**
   * Starts one part and returns it. Parts stop in the reverse order of their start, each only after the one before has
   * ended. `stop` gets the part and a signal that fires when the grace period is over: by then it should let go of what
   * it still holds. Without `stop`, the part's own `stop()` is used where it has one.
   */
  part<T>(
    name: string,
    start: () => T | Promise<T>,
    stop?: (part: T, graceOver: AbortSignal) => unknown | Promise<unknown>,
  ): Promise<T>;
  /** Names an address the service answers on. */
  address(name: string, url: string): void;
  /** For `/readyz`. It reports the service itself as not ready from the moment that stopping begins. */
  readonly readiness: Readiness;
  /** Fires when stopping begins; for loops that should take up no new work. */
  readonly stopping: AbortSignal;
}

export interface ServiceOptions {
  readonly name: string;
  readonly logger: Logger;
  /** All parts together have this long to stop; 31 unless given. */
  readonly graceSeconds?: number;
}

export interface ComposedService extends Running {
  readonly readiness: Readiness;
  stillRunning(): readonly string[];
}

/** A part of a service did not start; `cause` says why. */
export class PartFailedError extends Error {
  readonly part: string;

  constructor(service: string, part: string, cause: unknown) {
    super(`${service} cannot start: ${part}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'PartFailedError';
    this.part = part;
  }
}

interface Started {
  readonly name: string;
  stop(graceOver: AbortSignal): Promise<void>;
}

const readyPollMs = 200;
/** When the grace period is over, parts not yet told to stop are told, and get this long to free what they hold. */
const lastChanceMs = 1000;

/**
 * Makes a {@link Running} of parts. `build` starts them in order; when it throws, the parts it had started are stopped in
 * reverse and the error is passed on. The service is `ready` once every readiness check has passed for the first time.
 */
export async function composeService(
  options: ServiceOptions,
  build: (parts: Parts) => void | Promise<void>,
): Promise<ComposedService> {
  const { name, logger } = options;
  const graceMs = (options.graceSeconds ?? defaultGraceSeconds) * 1000;
  const started: Started[] = [];
  const addresses: Record<string, string> = {};
  const stopping = new AbortController();
  const readiness = createReadiness();
  readiness.addReadiness('service', () => {
    if (stopping.signal.aborted) throw new Error('stopping');
  });

  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      logger.info({ parts: started.map((part) => part.name) }, `${name} is stopping`);
      stopping.abort(new Error(`${name} is stopping`));
      await stopAll(started, graceMs, logger);
      if (started.length === 0) logger.info(`${name} has stopped`);
    })();
    return stopped;
  };

  try {
    await build({
      async part(partName, start, stopPart) {
        // Whatever a build function that was overtaken by stop() still starts would never be stopped.
        if (stopping.signal.aborted) throw stopping.signal.reason;
        let part: Awaited<ReturnType<typeof start>>;
        try {
          part = await start();
        } catch (error) {
          throw new PartFailedError(name, partName, error);
        }
        started.push({
          name: partName,
          stop: async (graceOver) => {
            await (stopPart ? stopPart(part, graceOver) : ownStop(part)?.());
          },
        });
        logger.debug({ part: partName }, `${name}: ${partName} has started`);
        return part;
      },
      address(listener, url) {
        addresses[listener] = url;
      },
      addReadiness: readiness.addReadiness,
      readiness,
      stopping: stopping.signal,
    });
  } catch (error) {
    await stop();
    throw error;
  }

  const ready = whenReady(name, readiness, stopping.signal);
  // Whoever waits for it sees the rejection; a service that nobody waits for must not end the process by it.
  ready.catch(() => {});
  logger.info({ addresses }, `${name} has started`);
  return { addresses, ready, stop, readiness, stillRunning: () => started.map((part) => part.name) };
}

/** Stops the last part first and takes it off the list when it has ended. */
async function stopAll(started: Started[], graceMs: number, logger: Logger): Promise<void> {
  const graceOver = new AbortController();
  const timer = setTimeout(() => graceOver.abort(new Error('the grace period is over')), graceMs);
  const over = new Promise<void>((resolve) => {
    graceOver.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const end = (part: Started): Promise<void> =>
    part
      .stop(graceOver.signal)
      .catch((err: unknown) => logger.error({ err, part: part.name }, `${part.name} failed while stopping`))
      .then(() => {
        const at = started.indexOf(part);
        if (at !== -1) started.splice(at, 1);
      });

  const told = new Set<Started>();
  for (let part = started.at(-1); part && !graceOver.signal.aborted; part = started.at(-1)) {
    told.add(part);
    await Promise.race([end(part), over]);
  }
  clearTimeout(timer);
  if (started.length === 0) return;

  const stillRunning = started.map((part) => part.name);
  logger.error(
    { stillRunning, graceSeconds: graceMs / 1000 },
    `grace period over, still running: ${stillRunning.join(', ')}`,
  );
  const rest = started.filter((part) => !told.has(part)).reverse();
  let lastChance: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    lastChance = setTimeout(resolve, lastChanceMs);
  });
  await Promise.race([Promise.all(rest.map(end)), enough]);
  clearTimeout(lastChance);
}

async function whenReady(name: string, readiness: Readiness, stopping: AbortSignal): Promise<void> {
  for (;;) {
    const missing = await readiness.notReady();
    if (missing.length === 0) return;
    if (stopping.aborted) throw new Error(`${name} was stopped before it was ready: ${list(missing)}`);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, readyPollMs);
      stopping.addEventListener(
        'abort',
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    });
  }
}

function list(missing: readonly NotReady[]): string {
  return missing.map((found) => `${found.name} (${found.reason})`).join(', ');
}

function ownStop(part: unknown): (() => unknown) | undefined {
  if (typeof part !== 'object' || part === null || !('stop' in part) || typeof part.stop !== 'function')
    return undefined;
  return part.stop.bind(part);
}
