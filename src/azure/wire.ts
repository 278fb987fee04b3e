// Requests to a service of Azure through the pipeline of its SDK: tokens, TLS, proxy, tracing. The SDK is loaded with the first request.

import type { Credential } from './credential.ts';
import type { AzureEnvironment, Service } from './environment.ts';
import { reachOf } from './environment.ts';
import { type AzureError, asAzureError, type WireAnswer } from './errors.ts';

export type Method = 'GET' | 'HEAD' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';

export interface WireRequest {
  readonly method: Method;
  /** A path of the service, or a whole address below it, with its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
}

export interface Wire {
  /** Gives the answer whatever its status. Throws {@link AzureError} when there is none, or no token to ask with. */
  send(request: WireRequest): Promise<WireAnswer>;
}

export interface WireOptions {
  readonly environment: Pick<AzureEnvironment, 'ca' | 'proxy'>;
  readonly credential: Credential;
  readonly service: Service;
  /** How this program names itself. */
  readonly userAgent?: string;
  readonly timeoutMs?: number;
}

/** Resource Manager answers within a minute or not at all. */
const defaultTimeoutMs = 60_000;

export function createWire(options: WireOptions): Wire {
  const { service, timeoutMs = defaultTimeoutMs } = options;
  let loading: Promise<Sender> | undefined;
  return {
    async send({ method, path, body, headers, signal }) {
      const address = addressOf(service.endpoint, path);
      signal?.throwIfAborted();
      try {
        loading ??= senderOf(options);
        return await (await loading)(method, address, {
          timeout: timeoutMs,
          ...(body === undefined ? {} : { body, contentType: 'application/json' }),
          ...(headers === undefined ? {} : { headers }),
          ...(signal === undefined ? {} : { abortSignal: signal }),
        });
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        throw asAzureError(error, `${method} ${new URL(address).pathname}`) satisfies AzureError;
      }
    },
  };
}

/** Tokens go to the service's own host and to hosts below it, wherever an answer's links may lead. */
function addressOf(endpoint: string, path: string): string {
  if (!/^https?:\/\//i.test(path)) return `${endpoint}${path}`;
  const [service, address] = [new URL(endpoint), new URL(path)];
  const below = address.hostname === service.hostname || address.hostname.endsWith(`.${service.hostname}`);
  if (below && address.protocol === service.protocol && address.port === service.port) return address.href;
  throw new TypeError(`${address.origin} is not ${service.origin}: nothing is sent there with its token`);
}

interface SendOptions {
  readonly timeout: number;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly abortSignal?: AbortSignal;
}

type Sender = (method: Method, address: string, options: SendOptions) => Promise<WireAnswer>;

async function senderOf({ environment, credential, service, userAgent }: WireOptions): Promise<Sender> {
  const { createResourceManagement } = await import('@azure/arm-resources/api');
  const client = createResourceManagement(credential, '', {
    endpoint: service.endpoint,
    credentials: { scopes: [`${service.audience}/.default`] },
    // Attempts are counted in one place: retry.ts.
    retryOptions: { maxRetries: 0 },
    redirectOptions: { maxRetries: 0 },
    ...(userAgent === undefined ? {} : { userAgentOptions: { userAgentPrefix: userAgent } }),
    ...reachOf(environment, service.endpoint),
  });
  return async (method, address, options) => {
    const resource = client.pathUnchecked(address as '/');
    const answer = await resource[verbs[method]](options);
    return { status: Number(answer.status), headers: answer.headers, body: answer.body as unknown };
  };
}

const verbs = {
  GET: 'get',
  HEAD: 'head',
  PUT: 'put',
  PATCH: 'patch',
  POST: 'post',
  DELETE: 'delete',
} as const;
