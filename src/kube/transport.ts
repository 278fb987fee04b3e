// Connections to one API server: TLS, proxy, credentials. Knows HTTP, not Kubernetes.
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import { traceIntoHttp } from '../kit/tracing.ts';
import type { ClusterAccess, Credential } from './cluster-access.ts';
import { KubeConnectionError } from './kube-error.ts';

export interface TransportRequest {
  readonly method: Dispatcher.HttpMethod;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** An answer that goes on and on has a connection of its own, beside those that others queue for. */
  readonly stream?: boolean;
  /** How long to wait for the first byte of the answer. */
  readonly headersTimeoutMs: number;
  /** How long the answer may be silent. */
  readonly silenceTimeoutMs: number;
}

/** An answer of whatever status, its body not yet read. The reader must read it to the end or destroy it. */
export type TransportAnswer = Dispatcher.ResponseData;

export interface Transport {
  /** Throws {@link KubeConnectionError}, AccessError, or the reason of the caller's signal. Follows no redirect. */
  send(request: TransportRequest): Promise<TransportAnswer>;
  /** Ends every request under way and closes the connections. */
  close(): Promise<void>;
}

export interface TransportOptions {
  /** Connections for requests that are answered at once; those beyond wait their turn. 32 unless given. */
  readonly connections?: number;
  readonly connectTimeoutSeconds?: number;
}

const defaultConnections = 32;
const defaultConnectTimeoutSeconds = 10;
/** How soon a peer that is gone without a word is noticed on a connection that is otherwise idle. */
const tcpKeepAliveMs = 30_000;

/** The connections made with one set of authorities and client certificate. */
interface Lines {
  readonly material: string;
  readonly brief: Dispatcher;
  readonly streams: Dispatcher;
}

/**
 * HTTP/1.1: a watch has a connection of its own. undici's HTTP/2 was tried; with more watches than one session takes at a time,
 * requests behind them were never sent.
 */
export function createTransport(access: ClusterAccess, options: TransportOptions = {}): Transport {
  const base = new URL(access.server);
  const prefix = base.pathname === '/' ? '' : base.pathname;
  const fixed = impersonationHeaders(access);
  let lines: Lines | undefined;
  /** Lines that were replaced; they close by themselves when their last request has ended. */
  const old = new Set<Lines>();
  let closed = false;

  async function linesFor(credential: Credential): Promise<Lines> {
    const authorities = await access.authorities?.();
    const certificate = credential.certificate;
    const material = `${authorities ?? ''}\n${certificate?.certificate ?? ''}`;
    if (closed) throw new KubeConnectionError(`${access.server}: this client has been closed`, undefined);
    if (lines?.material === material) return lines;
    if (lines) retire(lines);
    const tls = {
      rejectUnauthorized: access.insecure !== true,
      minVersion: 'TLSv1.2',
      timeout: (options.connectTimeoutSeconds ?? defaultConnectTimeoutSeconds) * 1000,
      keepAliveInitialDelay: tcpKeepAliveMs,
      ...(authorities === undefined ? {} : { ca: authorities }),
      ...(access.serverName === undefined ? {} : { servername: access.serverName }),
      ...(certificate ? { cert: certificate.certificate, key: certificate.key.reveal() } : {}),
    } as const;
    const make = (connections: number | null): Dispatcher => {
      const pool = { connections, pipelining: 1, maxResponseSize: -1 };
      return access.proxy
        ? new ProxyAgent({ uri: access.proxy.reveal(), requestTls: tls, ...pool })
        : new Agent({ connect: tls, ...pool });
    };
    lines = { material, brief: make(options.connections ?? defaultConnections), streams: make(null) };
    return lines;
  }

  function retire(replaced: Lines): void {
    old.add(replaced);
    void Promise.allSettled([replaced.brief.close(), replaced.streams.close()]).then(() => old.delete(replaced));
  }

  async function attempt(request: TransportRequest, credential: Credential): Promise<TransportAnswer> {
    const { brief, streams } = await linesFor(credential);
    const headers: Record<string, string | string[]> = { ...request.headers, ...fixed };
    if (credential.token) headers.authorization = `Bearer ${credential.token.reveal()}`;
    try {
      return await (request.stream ? streams : brief).request({
        origin: base.origin,
        path: prefix + request.path,
        method: request.method,
        headers: traceIntoHttp(headers),
        body: request.body ?? null,
        signal: request.signal ?? null,
        headersTimeout: request.headersTimeoutMs,
        bodyTimeout: request.silenceTimeoutMs,
        // undici would close the connection after every DELETE with a body; API servers read those bodies.
        reset: false,
      });
    } catch (error) {
      request.signal?.throwIfAborted();
      throw connectionError(error, access);
    }
  }

  return {
    async send(request) {
      request.signal?.throwIfAborted();
      const credential = await access.credentials.current();
      const answer = await attempt(request, credential);
      if (answer.statusCode !== 401) return answer;
      access.credentials.refused(credential);
      const next = await access.credentials.current();
      if (sameCredential(credential, next)) return answer;
      await answer.body.dump();
      return attempt(request, next);
    },
    async close() {
      closed = true;
      const all = [...old, ...(lines ? [lines] : [])];
      lines = undefined;
      await Promise.all(all.flatMap((each) => [each.brief.destroy(), each.streams.destroy()]));
    },
  };
}

function sameCredential(one: Credential, other: Credential): boolean {
  return (
    one.token?.reveal() === other.token?.reveal() && one.certificate?.certificate === other.certificate?.certificate
  );
}

function impersonationHeaders({ impersonate }: ClusterAccess): Readonly<Record<string, string | string[]>> {
  if (!impersonate) return {};
  const headers: Record<string, string | string[]> = { 'impersonate-user': impersonate.user };
  if (impersonate.uid) headers['impersonate-uid'] = impersonate.uid;
  if (impersonate.groups?.length) headers['impersonate-group'] = [...impersonate.groups];
  for (const [key, values] of Object.entries(impersonate.extra ?? {})) {
    headers[`impersonate-extra-${encodeURIComponent(key)}`] = [...values];
  }
  return headers;
}

/** What the codes that people meet mean. */
const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNRESET: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed by the other side',
  UND_ERR_CONNECT_TIMEOUT: 'the connection was not made in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped coming',
  UND_ERR_DESTROYED: 'this client has been closed',
  UND_ERR_CLOSED: 'this client has been closed',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by an authority that is trusted here',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by an authority that is trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by an authority that is trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is not signed by an authority that is trusted here',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name (tls-server-name can say which)',
  CERT_HAS_EXPIRED: 'its certificate has expired',
};

/** Makes the error of a request that got no whole answer. */
export function connectionError(error: unknown, access: Pick<ClusterAccess, 'server' | 'proxy'>): KubeConnectionError {
  if (error instanceof KubeConnectionError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const meaning = meanings[code] ?? (error instanceof Error ? error.message : String(error));
  const through = access.proxy ? ' through its proxy' : '';
  return new KubeConnectionError(`${access.server}${through}: ${meaning}${code ? ` (${code})` : ''}`, error);
}
