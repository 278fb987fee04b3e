// One request to the API server and its answer as JSON, with retries, metrics, warnings and errors seen to.
import type { Dispatcher } from 'undici';
import type { Logger } from '../kit/log.ts';
import type { Metrics } from '../kit/metrics.ts';
import { clientMetrics } from './client-metrics.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { errorFromAnswer, KubeConnectionError } from './kube-error.ts';
import { type RetryOptions, type Verb, withRetries } from './retry.ts';
import { connectionError, type Transport, type TransportAnswer } from './transport.ts';

export interface RawRequest {
  readonly method?: Dispatcher.HttpMethod;
  /** With its query: `/version`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  readonly timeoutSeconds?: number;
  readonly retry?: RetryOptions;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

interface Call {
  readonly verb: Verb;
  readonly path: string;
  /** For metrics. */
  readonly resource: string;
}

export interface JsonCall extends Call {
  readonly method: Dispatcher.HttpMethod;
  readonly body?: unknown;
  readonly media?: string;
  readonly options: Pick<RawRequest, 'signal' | 'timeoutSeconds' | 'retry'>;
}

export interface StreamCall extends Call {
  readonly signal?: AbortSignal;
  /** 0 for no limit. */
  readonly silenceMs: number;
}

export interface Calls {
  json<T>(call: JsonCall): Promise<T>;
  /** The body of an answer that goes on. Leaving its loop ends the request. */
  stream(call: StreamCall): Promise<AsyncIterable<Uint8Array>>;
  raw(request: RawRequest): Promise<RawAnswer>;
}

export interface CallsOptions {
  readonly access: ClusterAccess;
  readonly userAgent: string;
  readonly metrics?: Metrics;
  readonly logger?: Logger;
  readonly retry?: RetryOptions;
}

const defaultTimeoutSeconds = 60;
/** The start of a stream comes at once, or the server is not well. */
const streamStartMs = 30_000;

export function createCalls(transport: Transport, options: CallsOptions): Calls {
  const observe = options.metrics ? clientMetrics(options.metrics) : undefined;
  const warn = warnings(options.logger);

  async function observed<T extends { readonly status: number }>(call: Call, send: () => Promise<T>): Promise<T> {
    const start = performance.now();
    let status = 'lost';
    try {
      const answer = await send();
      status = String(answer.status);
      return answer;
    } finally {
      observe?.({ verb: call.verb, resource: call.resource, status, seconds: (performance.now() - start) / 1000 });
    }
  }

  function send(call: Call, request: RawRequest): Promise<RawAnswer> {
    const seconds = request.timeoutSeconds ?? defaultTimeoutSeconds;
    return withRetries(call.verb, request.retry ?? options.retry ?? {}, request.signal, async () => {
      const answer = await observed(call, () =>
        within(seconds, request.signal, options.access.server, async (signal) => {
          const response = await transport.send({
            method: request.method ?? 'GET',
            path: request.path,
            headers: { accept: 'application/json', 'user-agent': options.userAgent, ...request.headers },
            ...(request.body === undefined ? {} : { body: request.body }),
            signal,
            headersTimeoutMs: 0,
            silenceTimeoutMs: 0,
          });
          return { status: response.statusCode, headers: response.headers, body: await bodyOf(response) };
        }).catch((error: unknown) => {
          request.signal?.throwIfAborted();
          throw named(error, options.access);
        }),
      );
      warn(answer.headers.warning);
      if (answer.status >= 200 && answer.status < 300) return answer;
      throw errorFromAnswer(answer.status, answer.body.toString('utf8'), answer.headers['retry-after']);
    });
  }

  return {
    async json<T>(call: JsonCall): Promise<T> {
      const answer = await send(call, {
        ...call.options,
        method: call.method,
        path: call.path,
        ...(call.body === undefined
          ? {}
          : { body: JSON.stringify(call.body), headers: { 'content-type': call.media ?? 'application/json' } }),
      });
      try {
        return JSON.parse(answer.body.toString('utf8')) as T;
      } catch (cause) {
        throw new KubeConnectionError(
          `${options.access.server}: ${call.path} answered with something that is not JSON`,
          cause,
        );
      }
    },
    async stream(call) {
      let response: TransportAnswer | undefined;
      await observed(call, async () => {
        response = await transport.send({
          method: 'GET',
          path: call.path,
          headers: { accept: 'application/json', 'user-agent': options.userAgent },
          ...(call.signal ? { signal: call.signal } : {}),
          stream: true,
          headersTimeoutMs: streamStartMs,
          silenceTimeoutMs: call.silenceMs,
        });
        return { status: response.statusCode };
      });
      if (!response) throw new KubeConnectionError(`${options.access.server}: no answer`, undefined);
      warn(response.headers.warning);
      if (response.statusCode === 200) return bodyStream(response, call.signal, options.access);
      const text = (await bodyOf(response)).toString('utf8');
      throw errorFromAnswer(response.statusCode, text, response.headers['retry-after']);
    },
    raw: (request) => send({ verb: 'raw', path: request.path, resource: 'raw' }, request),
  };
}

async function bodyOf(response: TransportAnswer): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of response.body) parts.push(part);
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

async function* bodyStream(
  response: TransportAnswer,
  signal: AbortSignal | undefined,
  access: ClusterAccess,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    for await (const part of response.body) yield part as Buffer;
  } catch (error) {
    signal?.throwIfAborted();
    throw connectionError(error, access);
  }
}

/** Errors of the connection get the server's name; those that say what is wrong with the configuration stay as they are. */
function named(error: unknown, access: ClusterAccess): unknown {
  if (error instanceof KubeConnectionError) return error;
  const isConnection = error instanceof Error && 'code' in error && error.name !== 'AccessError';
  return isConnection || (error instanceof Error && error.name === 'AbortError')
    ? connectionError(error, access)
    : error;
}

/** Runs `work` with a signal that fires when the time is over or the caller gives up; lets go of both when it has ended. */
async function within<T>(
  seconds: number,
  caller: AbortSignal | undefined,
  server: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  caller?.throwIfAborted();
  const control = new AbortController();
  const timer = setTimeout(
    () => control.abort(new KubeConnectionError(`${server}: no whole answer within ${seconds} s`, undefined)),
    seconds * 1000,
  );
  const stop = (): void => control.abort(caller?.reason);
  caller?.addEventListener('abort', stop, { once: true });
  try {
    return await work(control.signal);
  } catch (error) {
    throw control.signal.aborted ? control.signal.reason : error;
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener('abort', stop);
  }
}

const rememberedWarnings = 200;

/** Logs the server's warnings, such as that of a deprecated version, each text once. */
function warnings(logger: Logger | undefined): (header: string | string[] | undefined) => void {
  const seen = new Set<string>();
  return (header) => {
    if (header === undefined || !logger) return;
    for (const line of Array.isArray(header) ? header : [header]) {
      for (const [, text = ''] of line.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)) {
        if (seen.has(text) || seen.size >= rememberedWarnings) continue;
        seen.add(text);
        logger.warn({ warning: text.replaceAll(/\\(.)/g, '$1') }, 'the API server warns');
      }
    }
  };
}
