// Follows one resource: a list, then watches from where it ended, for as long as it takes.
import type { Logger } from '../kit/log.ts';
import type { KubeClient, Selection } from './client.ts';
import { advice, isExpired, isNotFound, isVersionTooLarge, KubeConnectionError, KubeError } from './kube-error.ts';
import { type KubeObject, keyOf, keyText } from './object.ts';
import { type ResourceRef, resourceText } from './resource.ts';
import { pause } from './retry.ts';
import { initialEventsEnd } from './watch.ts';

/** Who is told. What it is told is complete and in order: applying it gives the server's state as of some version. */
export interface Sink<T extends KubeObject> {
  /** These are all objects there are now. Those not among them were deleted at some time that nobody saw. */
  replace(objects: Iterable<T>): void;
  put(object: T): void;
  /** With its last state. */
  remove(object: T): void;
  /** A list or watch did not work; it is tried again. */
  failed?(error: unknown): void;
  /** A list or watch works (again). */
  recovered?(): void;
}

export interface ReflectorOptions<T extends KubeObject> extends Selection {
  readonly client: KubeClient;
  readonly resource: ResourceRef<T>;
  readonly sink: Sink<T>;
  readonly logger?: Logger;
  readonly timing?: Partial<ReflectorTiming>;
}

export interface ReflectorTiming {
  /** A watch is ended by the server after this long or up to twice as long, so that watches move between servers. */
  readonly watchSeconds: number;
  /**
   * A watch that says nothing for this long is begun anew. Servers send a bookmark about every minute, so silence means a
   * connection that has died unnoticed.
   */
  readonly silenceSeconds: number;
  /** As above, while a streaming list is still being sent. Servers that know no streaming lists are silent there. */
  readonly listSilenceSeconds: number;
  /** The wait after the first failure; it doubles with each further one. */
  readonly firstWaitMs: number;
  readonly maxWaitMs: number;
}

const defaultTiming: ReflectorTiming = {
  watchSeconds: 300,
  silenceSeconds: 180,
  listSilenceSeconds: 15,
  firstWaitMs: 200,
  maxWaitMs: 30_000,
};

/** A watch that has lasted this long has worked. */
const workedMs = 1000;

/**
 * Keeps `sink` at the server's state until the signal fires; never rejects otherwise. A watch that ends or breaks is begun
 * again after the last version seen, so nothing in between is missed; when the server does not keep that version any more, or
 * has lost it, everything is listed anew and the sink told what is there.
 *
 * Lists come as a stream where the server offers that, else page by page. Both are of the newest state, never of a cache that
 * may be older than what was seen before.
 */
export async function reflect<T extends KubeObject>(options: ReflectorOptions<T>, signal: AbortSignal): Promise<void> {
  const { client, resource, sink, logger } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const selection = selectionOf(options);
  const what = resourceText(resource);
  let version: string | undefined;
  let streaming = true;
  let failures = 0;
  let lastProblem = '';

  function works(): void {
    failures = 0;
    if (lastProblem === '') return;
    lastProblem = '';
    logger?.info({ resource: what }, `${what} is followed again`);
    sink.recovered?.();
  }

  async function listByPages(): Promise<void> {
    const list = await client.list(resource, { ...selection, signal, retry: { attempts: 1 } });
    sink.replace(list.items);
    version = list.metadata.resourceVersion ?? '';
    works();
  }

  /** Without a version, the watch begins with a streaming list. */
  async function watch(): Promise<void> {
    const quiet = silenceTimer(signal, version === undefined ? timing.listSilenceSeconds : timing.silenceSeconds, what);
    let gathered = version === undefined ? new Map<string, T>() : undefined;
    const from =
      version === undefined
        ? ({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', resourceVersion: '' } as const)
        : { resourceVersion: version };
    try {
      const events = client.watch(resource, {
        ...selection,
        ...from,
        allowBookmarks: true,
        signal: quiet.signal,
        timeoutSeconds: Math.round(timing.watchSeconds * (1 + Math.random())),
        opened: () => {
          quiet.heard();
          if (!gathered) works();
        },
      });
      for await (const { type, object } of events) {
        quiet.heard();
        if (gathered) {
          if (type === 'BOOKMARK') {
            if (object.metadata.annotations?.[initialEventsEnd] !== 'true') continue;
            sink.replace(gathered.values());
            gathered = undefined;
            quiet.use(timing.silenceSeconds);
            version = object.metadata.resourceVersion ?? '';
            works();
          } else if (type === 'DELETED') gathered.delete(keyText(keyOf(object)));
          else gathered.set(keyText(keyOf(object)), object);
        } else {
          if (type === 'DELETED') sink.remove(object);
          else if (type !== 'BOOKMARK') sink.put(object);
          version = object.metadata.resourceVersion ?? version;
        }
      }
      if (gathered) throw new NoStreamingListError(what);
    } catch (error) {
      throw gathered && quiet.silent ? new NoStreamingListError(what) : error;
    } finally {
      quiet.stop();
    }
  }

  async function wait(error: unknown): Promise<void> {
    const asked = error instanceof KubeError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const own = timing.firstWaitMs * 2 ** failures * (0.5 + Math.random());
    failures++;
    await pause(Math.min(Math.max(asked, own), timing.maxWaitMs), signal).catch(() => undefined);
  }

  function problem(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    sink.failed?.(error);
    const advised = advice(error);
    const fields = { err: error, resource: what, ...(advised ? { advice: advised } : {}) };
    if (text === lastProblem) logger?.debug(fields, `${what} cannot be followed`);
    else logger?.warn(fields, `${what} cannot be followed; trying again`);
    lastProblem = text;
  }

  while (!signal.aborted) {
    const listing = version === undefined;
    const began = performance.now();
    try {
      if (listing && !streaming) await listByPages();
      else {
        await watch();
        // The server ended it, as servers do. One that ends every watch at once would otherwise be asked without pause.
        if (performance.now() - began < workedMs) await wait(undefined);
        else failures = 0;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (listing && streaming && refusesStreaming(error)) {
        streaming = false;
        continue;
      }
      if (isExpired(error) || isVersionTooLarge(error)) {
        logger?.debug({ resource: what, version }, `${what}: the server does not have that version; listing again`);
        version = undefined;
        // A list that is always too old by the time it is watched must not be asked for without pause either.
        if (performance.now() - began < workedMs) await wait(error);
        continue;
      }
      // A type that is gone may come back with other objects.
      if (isNotFound(error)) version = undefined;
      if (performance.now() - began >= workedMs * 10 && !listing) failures = 0;
      problem(error);
      await wait(error);
    }
  }
}

/** The server took the request for a streaming list and did not send one: it is too old to know them. */
class NoStreamingListError extends Error {
  constructor(what: string) {
    super(`${what}: the server sent no streaming list`);
  }
}

function refusesStreaming(error: unknown): boolean {
  return (
    error instanceof NoStreamingListError || (error instanceof KubeError && [400, 405, 406, 422].includes(error.code))
  );
}

function selectionOf({ namespace, labelSelector, fieldSelector }: Selection): Selection {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}

interface SilenceTimer {
  /** Fires when it has been silent too long, or the outer signal has fired. */
  readonly signal: AbortSignal;
  readonly silent: boolean;
  heard(): void;
  use(seconds: number): void;
  stop(): void;
}

function silenceTimer(outer: AbortSignal, seconds: number, what: string): SilenceTimer {
  const control = new AbortController();
  let silent = false;
  const make = (after: number): NodeJS.Timeout =>
    setTimeout(() => {
      silent = true;
      control.abort(new KubeConnectionError(`${what}: the watch was silent for ${after} s`, undefined));
    }, after * 1000);
  let timer = make(seconds);
  const stop = (): void => control.abort(outer.reason);
  if (outer.aborted) stop();
  outer.addEventListener('abort', stop, { once: true });
  return {
    signal: control.signal,
    get silent() {
      return silent;
    },
    heard: () => timer.refresh(),
    use(next) {
      clearTimeout(timer);
      timer = make(next);
    },
    stop() {
      clearTimeout(timer);
      outer.removeEventListener('abort', stop);
      // Ends the request also where the loop was left by an error of the sink.
      control.abort(new Error('the watch has ended'));
    },
  };
}
