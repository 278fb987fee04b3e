// Requests to resource providers: mutual TLS with Resource Manager's certificate, connections kept, bounded in time and size.
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { ArmError } from '../../../arm/errors.ts';
import type { Network } from '../kernel/network.ts';
import type { Endpoint } from './endpoint.ts';

export interface RemoteRequest {
  readonly method: string;
  /** Path and query below the endpoint's URL. */
  readonly target: string;
  readonly headers: { readonly [name: string]: string };
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export interface RemoteAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  /** Parsed; undefined when there was none. */
  readonly body: unknown;
}

export interface Remote {
  /** Throws ArmError 502, 503 or 504 when there is no answer that can be handed on: the provider's fault, not the client's. */
  send(endpoint: Endpoint, request: RemoteRequest): Promise<RemoteAnswer>;
  close(): Promise<void>;
}

export interface RemoteOptions {
  /** Resource Manager's certificate and key, in PEM; asked for with every new connection. */
  readonly certificate: () => { readonly cert: string; readonly key: string };
  /** PEM of the authority to trust unless the endpoint names one. */
  readonly ca: string;
  readonly network: () => Pick<Network, 'target'>;
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 60_000;
const connectMs = 10_000;
const answerMaxBytes = 16 * 1024 * 1024;
const connectionsMax = 64;

export function createRemote(options: RemoteOptions): Remote {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const agents = new Map<string, Agent>();
  /** Loaded with the first request: a cloud without providers starts without it. */
  const agentOf = async (endpoint: Endpoint): Promise<Agent> => {
    const undici = await import('undici');
    const { cert, key } = options.certificate();
    const known = JSON.stringify([endpoint.url, endpoint.ca ?? '', endpoint.serverName ?? '', cert]);
    const there = agents.get(known);
    if (there) return there;
    const made = new undici.Agent({
      connect: connector(
        undici.buildConnector,
        endpoint,
        { cert, key, ca: endpoint.ca ?? options.ca },
        options.network,
      ),
      connections: connectionsMax,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: 30_000,
    });
    agents.set(known, made);
    return made;
  };

  return {
    async send(endpoint, { method, target, headers, body, signal }) {
      const base = endpoint.url.replace(/\/$/, '');
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        const {
          statusCode,
          headers: answered,
          body: stream,
        } = await (await agentOf(endpoint)).request({
          origin: new URL(base).origin,
          path: `${new URL(base).pathname.replace(/\/$/, '')}${target}`,
          method: method as Dispatcher.HttpMethod,
          headers: {
            accept: 'application/json',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        });
        const text = await readText(stream, endpoint);
        return { status: statusCode, headers: answered, body: parsed(text, endpoint) };
      } catch (error) {
        if (error instanceof ArmError) throw error;
        throw unanswered(endpoint, error, timeout.aborted);
      }
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

/** Names of the cloud lead to where they are on this machine. */
function connector(
  build: typeof buildConnector,
  endpoint: Endpoint,
  tls: { readonly cert: string; readonly key: string; readonly ca: string },
  network: RemoteOptions['network'],
): buildConnector.connector {
  const connect = build({ ...tls, timeout: connectMs });
  return (given, callback) => {
    const servername = endpoint.serverName ?? given.hostname;
    const port = Number(given.port === '' ? 443 : given.port);
    network()
      .target(given.hostname, port)
      .then(
        (target) =>
          connect(
            target === undefined
              ? { ...given, servername }
              : { ...given, hostname: target.host, port: String(target.port), servername },
            callback,
          ),
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
  };
}

async function readText(stream: AsyncIterable<Uint8Array>, endpoint: Endpoint): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > answerMaxBytes) throw badAnswer(endpoint, 'is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string, endpoint: Endpoint): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badAnswer(endpoint, 'is not JSON', cause);
  }
}

function badAnswer({ namespace }: Endpoint, why: string, cause?: unknown): ArmError {
  return new ArmError(
    502,
    'InvalidResourceResponseBody',
    `The answer of the resource provider '${namespace}' ${why}.`,
    cause === undefined ? {} : { cause },
  );
}

function unanswered({ namespace }: Endpoint, cause: unknown, isLate: boolean): ArmError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (isLate || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return new ArmError(
      504,
      'GatewayTimeout',
      `The gateway did not receive a response from '${namespace}' within the specified time period.`,
      { cause },
    );
  return new ArmError(
    503,
    'ServiceUnavailable',
    `The resource provider '${namespace}' cannot be reached at the moment. Try again later.`,
    { cause, retryAfterSeconds: 5 },
  );
}
