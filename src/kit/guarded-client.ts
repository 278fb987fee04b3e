// The client for URLs that came in requests. A caller chooses such a URL, so it must not lead this service anywhere its operator
// did not name, nor hold it up, nor fill its memory.
import { lookup as systemLookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { rootCertificates } from 'node:tls';
import { Agent, type Dispatcher } from 'undici';
import {
  checkHostPattern,
  checkUrl,
  GuardedRequestError,
  type HostPattern,
  httpsPort,
  isAllowedAddress,
  matchesHost,
} from './guarded-url.ts';
import { traceIntoHttp } from './tracing.ts';

export interface GuardedClientOptions {
  readonly allowedHosts: readonly HostPattern[];
  /** 443 unless given. */
  readonly allowedPorts?: readonly number[];
  /** Those of the allowed hosts that may be on this machine or a private network. The platform's own addresses never are. */
  readonly privateHosts?: readonly HostPattern[];
  /** PEM of authorities to trust besides the public ones. */
  readonly ca?: string;
  /** For everything together: looking up the name, connecting, sending, and receiving the last byte. */
  readonly timeoutSeconds: number;
  readonly maxResponseBytes: number;
  /**
   * Whether requests carry the active trace context. Not unless it is set: the hosts belong to others, whom the ids and the
   * baggage of this system's traces do not concern.
   */
  readonly propagateTrace?: boolean;
  /** Every address of a name; the system's resolver unless given. */
  readonly resolve?: (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;
}

export interface GuardedRequest {
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** An answer of whatever status; a redirect is an answer too. The body is as it was sent, not decompressed. */
export interface GuardedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface GuardedClient {
  /** Throws {@link GuardedRequestError} naming the rule; an abort by the caller's signal throws that signal's reason. */
  request(url: string, request?: GuardedRequest): Promise<GuardedResponse>;
  /** Closes kept connections and ends requests under way. */
  close(): Promise<void>;
}

/**
 * A client that goes only to allowed hosts, over https, to addresses that were checked: the name is looked up once, every
 * address it has must be allowed, and the connection is made to one of these. It follows no redirect and keeps no cookies or
 * credentials.
 */
export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const allowedHosts = options.allowedHosts.map(checkHostPattern);
  const privateHosts = (options.privateHosts ?? []).map(checkHostPattern);
  const allowedPorts = options.allowedPorts ?? [httpsPort];
  const timeoutMs = options.timeoutSeconds * 1000;
  const agent = new Agent({
    connect: {
      lookup: checkedLookup(options.resolve ?? systemResolve, privateHosts),
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      timeout: timeoutMs,
      ...(options.ca === undefined ? {} : { ca: [...rootCertificates, options.ca] }),
    },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: -1,
  });

  return {
    async request(text, request = {}) {
      const url = checkUrl(text, allowedHosts, allowedPorts);
      checkHeaders(request.headers ?? {});
      const headers = { 'accept-encoding': 'identity', ...request.headers };
      if (options.propagateTrace) traceIntoHttp(headers);
      const deadline = AbortSignal.timeout(timeoutMs);
      const signals = request.signal ? [request.signal, deadline] : [deadline];
      try {
        return await send(agent, url, { ...request, headers }, AbortSignal.any(signals), options.maxResponseBytes);
      } catch (error) {
        request.signal?.throwIfAborted();
        throw guardedError(error, url.hostname, deadline, options.timeoutSeconds);
      }
    },
    async close() {
      await agent.destroy();
    },
  };
}

/** Headers that decide where a request goes or where it ends. */
const ownHeaders: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (ownHeaders.has(name.toLowerCase())) throw new GuardedRequestError('header', `the header ${name} cannot be set`);
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new GuardedRequestError('header', 'a header has characters that headers cannot have');
    }
  }
}

async function send(
  agent: Agent,
  url: URL,
  request: GuardedRequest,
  signal: AbortSignal,
  maxBytes: number,
): Promise<GuardedResponse> {
  const response = await agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: request.method ?? 'GET',
    headers: request.headers ?? {},
    body: request.body ?? null,
    signal,
  });
  const parts: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop by an error destroys the body and with it the connection.
  for await (const part of response.body) {
    bytes += part.length;
    if (bytes > maxBytes) {
      throw new GuardedRequestError('size', `${url.hostname} answered with more than ${maxBytes} bytes`);
    }
    parts.push(part);
  }
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) };
}

function guardedError(error: unknown, host: string, deadline: AbortSignal, timeoutSeconds: number): Error {
  if (error instanceof GuardedRequestError) return error;
  if (deadline.aborted) {
    return new GuardedRequestError('deadline', `${host} did not answer in full within ${timeoutSeconds} s`);
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return new GuardedRequestError('connection', `the request to ${host} failed (${code})`, { cause: error });
}

function systemResolve(host: string): Promise<{ address: string; family: number }[]> {
  return systemLookup(host, { all: true });
}

/**
 * Gives Node's connect the addresses of a name. The check sits here, where the connection takes its address from, so that
 * there is no second look at the name in between.
 */
function checkedLookup(
  resolve: NonNullable<GuardedClientOptions['resolve']>,
  privateHosts: readonly HostPattern[],
): LookupFunction {
  return (host, lookupOptions, callback) => {
    const allowPrivate = privateHosts.some((pattern) => matchesHost(pattern, host.toLowerCase()));
    resolve(host).then(
      (addresses) => {
        const [first] = addresses;
        if (!first || !addresses.every(({ address }) => isAllowedAddress(address, allowPrivate))) {
          callback(new GuardedRequestError('address', `${host} leads to an address that is not allowed`), []);
        } else if (lookupOptions.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
