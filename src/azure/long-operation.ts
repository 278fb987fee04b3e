// The asynchronous half of a call: what the answer says to watch, and watching it to the end. What to watch is plain data: it can be kept,
// and another process can go on with it.
import { AzureError, errorIn, retryAfterOf, type WireAnswer } from './errors.ts';
import type { Sleep } from './retry.ts';
import type { Method, WireRequest } from './wire.ts';

export interface LongOperation {
  readonly method: Method;
  /** Of the call, with its query: where the outcome of PUT and PATCH is read. */
  readonly path: string;
  /** A document with a `status`. */
  readonly statusUrl?: string;
  /** Answers 202 until the end, then with the outcome. */
  readonly resultUrl?: string;
  readonly retryAfterMs?: number;
}

const ended: ReadonlySet<string> = new Set(['succeeded', 'failed', 'canceled', 'cancelled']);
/** When the service does not say. */
const defaultPollMs = 5000;

/** What an answer leaves to wait for; undefined when it is the end. */
export function operationOf(
  request: Pick<WireRequest, 'method' | 'path'>,
  answer: WireAnswer,
): LongOperation | undefined {
  const { status, headers, body } = answer;
  const statusUrl = headers['azure-asyncoperation'] ?? headers['operation-location'];
  const resultUrl = headers.location;
  const state = provisioningState(body);
  const byState = request.method !== 'POST' && request.method !== 'DELETE' && state !== undefined && !ended.has(state);
  const waits =
    status === 202 || (status === 201 && (statusUrl !== undefined || byState)) || (status === 200 && byState);
  if (!waits && !(status === 200 && statusUrl !== undefined && request.method !== 'GET')) return undefined;
  const retryAfterMs = retryAfterOf(headers, Date.now());
  return {
    method: request.method,
    path: request.path,
    ...(statusUrl === undefined ? {} : { statusUrl }),
    ...(resultUrl === undefined ? {} : { resultUrl }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

export interface WatchOptions {
  /** Sends with the client's retry rules; throws for answers that are errors. */
  readonly send: (request: WireRequest) => Promise<WireAnswer>;
  readonly sleep: Sleep;
  readonly signal?: AbortSignal;
  /** After each look. */
  readonly onPoll?: (state: string) => void | Promise<void>;
}

/** Waits for the end and gives the outcome's body; undefined when there is none. Throws the operation's own error. */
export async function watch(operation: LongOperation, options: WatchOptions): Promise<unknown> {
  const { method, path, statusUrl, resultUrl } = operation;
  const url = statusUrl ?? resultUrl ?? path;
  let waitMs = operation.retryAfterMs ?? defaultPollMs;
  for (;;) {
    await options.sleep(waitMs, options.signal);
    const answer = await options.send({
      method: 'GET',
      path: url,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const state = stateOf(answer, operation);
    await options.onPoll?.(state);
    if (ended.has(state)) {
      if (state !== 'succeeded') throw failureOf(answer, state, `${method} ${path.replace(/\?.*/, '')}`);
      return outcome(operation, answer, options);
    }
    waitMs = retryAfterOf(answer.headers, Date.now()) ?? waitMs;
  }
}

function stateOf(answer: WireAnswer, operation: LongOperation): string {
  const { status, body } = answer;
  if (operation.statusUrl !== undefined) {
    const state = (body as { readonly status?: unknown } | undefined)?.status;
    return typeof state === 'string' ? state.toLowerCase() : status === 202 ? 'running' : 'succeeded';
  }
  if (status === 202) return 'running';
  if (operation.resultUrl !== undefined && operation.method !== 'PUT') return 'succeeded';
  return provisioningState(body) ?? 'succeeded';
}

function provisioningState(body: unknown): string | undefined {
  const properties = (body as { readonly properties?: { readonly provisioningState?: unknown } } | null | undefined)
    ?.properties;
  const state = properties?.provisioningState;
  return typeof state === 'string' ? state.toLowerCase() : undefined;
}

function failureOf(answer: WireAnswer, state: string, what: string): AzureError {
  const body = answer.body as { readonly properties?: unknown } | undefined;
  const found = errorIn(body) ?? errorIn(body?.properties);
  const requestId = answer.headers['x-ms-request-id'];
  return new AzureError({
    code: found?.code || (state === 'failed' ? 'OperationFailed' : 'OperationCanceled'),
    message: found?.message || `${what} ended as ${state}.`,
    ...(found?.target === undefined ? {} : { target: found.target }),
    ...(found?.details === undefined ? {} : { details: found.details }),
    ...(requestId === undefined ? {} : { requestId }),
  });
}

async function outcome(operation: LongOperation, last: WireAnswer, options: WatchOptions): Promise<unknown> {
  const { method, path, statusUrl, resultUrl } = operation;
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  if (method === 'DELETE') return undefined;
  if (method === 'PUT' || method === 'PATCH') {
    if (statusUrl === undefined && (resultUrl === undefined || isResource(last.body))) return last.body;
    return (await options.send({ method: 'GET', path, ...signal })).body;
  }
  if (statusUrl === undefined) return last.body;
  if (resultUrl !== undefined) return (await options.send({ method: 'GET', path: resultUrl, ...signal })).body;
  return (last.body as { readonly properties?: unknown } | undefined)?.properties;
}

function isResource(body: unknown): boolean {
  return typeof (body as { readonly id?: unknown } | null | undefined)?.id === 'string';
}
