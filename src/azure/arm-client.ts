// Any resource of Resource Manager by its id: read, written, deleted, listed, with attempts and asynchronous operations taken care of.
import type { Credential } from './credential.ts';
import type { AzureEnvironment } from './environment.ts';
import { type AzureError, errorOfAnswer, isAzureError, isNotFound, type WireAnswer } from './errors.ts';
import type { JsonObject } from './json.ts';
import { type LongOperation, operationOf, watch } from './long-operation.ts';
import { armRetry, type RetryRules, type Sleep, sleep, withRetry } from './retry.ts';
import { createWire, type WireRequest } from './wire.ts';

/** A resource as it is to be: what to PUT, where, in which version. */
export interface ResourceRequest {
  readonly id: string;
  readonly apiVersion: string;
  readonly body: JsonObject;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** {@link armRetry} unless given. */
  readonly retry?: RetryRules;
  readonly headers?: { readonly [name: string]: string };
}

export interface WriteOptions extends CallOptions {
  /** The etag that the resource must have; `*` for any, so that it must exist. */
  readonly ifMatch?: string;
  /** `*`: it must not exist. */
  readonly ifNoneMatch?: string;
}

/** A call that was taken: its answer, and what is still to wait for. */
export interface Accepted {
  readonly body: JsonObject | undefined;
  readonly operation?: LongOperation;
}

export interface ArmClient {
  /** Throws {@link AzureError}; with status 404 when there is no such resource. */
  get(id: string, apiVersion: string, options?: CallOptions): Promise<JsonObject>;
  /** Undefined when there is no such resource, or no group it could be in. */
  find(id: string, apiVersion: string, options?: CallOptions): Promise<JsonObject | undefined>;
  /** Writes and waits for the end of the operation. Gives the resource as it then is. */
  put(resource: ResourceRequest, options?: WriteOptions): Promise<JsonObject>;
  patch(resource: ResourceRequest, options?: WriteOptions): Promise<JsonObject>;
  /** Deletes and waits for the end. What is not there is deleted already. */
  delete(id: string, apiVersion: string, options?: WriteOptions): Promise<void>;
  /** An action, such as `…/listKeys`. Gives its outcome. */
  post(path: string, apiVersion: string, body?: JsonObject, options?: CallOptions): Promise<JsonObject | undefined>;
  /** All items of a list, page after page. */
  list(path: string, apiVersion: string, options?: CallOptions): AsyncIterable<JsonObject>;
  /** Starts a call without waiting. */
  begin(request: WireRequest & { readonly apiVersion: string }, options?: WriteOptions): Promise<Accepted>;
  /** Goes on with what was begun, here or by another process. */
  wait(operation: LongOperation, options?: CallOptions & Watching): Promise<JsonObject | undefined>;
}

export interface Watching {
  /** After each look at an operation. */
  readonly onPoll?: (state: string) => void | Promise<void>;
}

export interface ArmClientOptions {
  readonly environment: AzureEnvironment;
  readonly credential: Credential;
  readonly userAgent?: string;
  /** For all calls that name no other. */
  readonly retry?: RetryRules;
  readonly sleep?: Sleep;
  readonly random?: () => number;
  /** Before each wait for another attempt. */
  readonly onRetry?: (call: string, error: AzureError, waitMs: number) => void;
}

export function createArmClient(options: ArmClientOptions): ArmClient {
  const { environment, credential, userAgent, random, onRetry } = options;
  const pause = options.sleep ?? sleep;
  const wire = createWire({
    environment,
    credential,
    service: environment.resourceManager,
    ...(userAgent === undefined ? {} : { userAgent }),
  });

  /** One call with its attempts; throws for every status that is an error. */
  const send = (request: WireRequest, call: CallOptions = {}): Promise<WireAnswer> => {
    const what = `${request.method} ${request.path.replace(/\?.*/, '')}`;
    const signal = call.signal ?? request.signal;
    return withRetry(
      async () => {
        const answer = await wire.send({ ...request, ...(signal === undefined ? {} : { signal }) });
        if (answer.status >= 400) throw errorOfAnswer(answer, what);
        return answer;
      },
      {
        rules: call.retry ?? options.retry ?? armRetry,
        idempotent: request.method !== 'POST' && request.method !== 'PATCH',
        sleep: pause,
        ...(random === undefined ? {} : { random }),
        ...(signal === undefined ? {} : { signal }),
        ...(onRetry === undefined ? {} : { onRetry: (error, waitMs) => onRetry(what, error, waitMs) }),
      },
    );
  };

  const begin: ArmClient['begin'] = async ({ apiVersion, ...request }, call = {}) => {
    const path = withVersion(request.path, apiVersion);
    const headers = headersOf({
      ...call,
      ...(request.headers ? { headers: { ...request.headers, ...call.headers } } : {}),
    });
    const asked = { ...request, path, ...(headers === undefined ? {} : { headers }) };
    const answer = await send(asked, call);
    const operation = operationOf(asked, answer);
    return { body: documentOf(answer.body), ...(operation === undefined ? {} : { operation }) };
  };
  const wait: ArmClient['wait'] = async (operation, call = {}) => {
    const outcome = await watch(operation, {
      send: (request) => send(request, call),
      sleep: pause,
      ...(call.signal === undefined ? {} : { signal: call.signal }),
      ...(call.onPoll === undefined ? {} : { onPoll: call.onPoll }),
    });
    return documentOf(outcome);
  };
  const whole: ArmClient['begin'] = async (request, call = {}) => {
    const accepted = await begin(request, call);
    return { body: accepted.operation ? await wait(accepted.operation, call) : accepted.body };
  };

  const get: ArmClient['get'] = async (id, apiVersion, call) =>
    documentOf((await send({ method: 'GET', path: withVersion(id, apiVersion), ...headed(call) }, call)).body) ?? {};
  return {
    get,
    async find(id, apiVersion, call) {
      try {
        return await get(id, apiVersion, call);
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    put: async ({ id, apiVersion, body }, call) =>
      (await whole({ method: 'PUT', path: id, apiVersion, body }, call)).body ?? {},
    patch: async ({ id, apiVersion, body }, call) =>
      (await whole({ method: 'PATCH', path: id, apiVersion, body }, call)).body ?? {},
    async delete(id, apiVersion, call) {
      try {
        await whole({ method: 'DELETE', path: id, apiVersion }, call);
      } catch (error) {
        if (!isNotFound(error) && !isAzureError(error, 'ResourceGroupNotFound', 'ResourceNotFound', 'NotFound'))
          throw error;
      }
    },
    post: async (path, apiVersion, body, call) =>
      (await whole({ method: 'POST', path, apiVersion, ...(body === undefined ? {} : { body }) }, call)).body,
    async *list(path, apiVersion, call) {
      let next: string | undefined = withVersion(path, apiVersion);
      while (next !== undefined) {
        const page = documentOf((await send({ method: 'GET', path: next, ...headed(call) }, call)).body);
        for (const item of Array.isArray(page?.value) ? page.value : []) yield item as JsonObject;
        next = typeof page?.nextLink === 'string' && page.nextLink !== '' ? page.nextLink : undefined;
      }
    },
    begin,
    wait,
  };
}

function withVersion(path: string, apiVersion: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}api-version=${encodeURIComponent(apiVersion)}`;
}

function headersOf({ ifMatch, ifNoneMatch, headers }: WriteOptions): { readonly [name: string]: string } | undefined {
  const made = {
    ...headers,
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
  };
  return Object.keys(made).length === 0 ? undefined : made;
}

function headed(call: CallOptions | undefined): { readonly headers?: { readonly [name: string]: string } } {
  return call?.headers === undefined ? {} : { headers: call.headers };
}

function documentOf(body: unknown): JsonObject | undefined {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as JsonObject) : undefined;
}
