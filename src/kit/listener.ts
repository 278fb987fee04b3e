// HTTPS listeners: TLS from files that may change, clients known by their certificates.
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { type App, admit, type Caller, certificateCaller, type IdentityRule } from './caller.ts';
import {
  defaultLimits,
  type Guard,
  type HttpRequest,
  isHttp2,
  type Limits,
  type Listener,
  type Refusal,
  serve,
  serverOptions,
} from './http-server.ts';
import type { Logger } from './log.ts';
import { loadTls, type TlsFiles, watchTls } from './tls.ts';

/** Which clients are served. A certificate that is shown must be good, whatever the rest says. */
export interface ClientRules {
  /** PEM file of the authorities that sign client certificates. */
  readonly authorities: string;
  /**
   * What happens to a client without a certificate: it does not get through the handshake, is answered with this status, or
   * is let through as an anonymous caller.
   */
  readonly unauthenticated: 'handshake' | 401 | 403 | 'anonymous';
  /** Only these; another identity is answered with 403. Left out, every certificate of the authorities will do. */
  readonly allow?: readonly IdentityRule[];
}

export interface ListenerOptions {
  /** The address to bind: `127.0.0.1`, `::`, `0.0.0.0`. */
  readonly host: string;
  /** 0 takes a free one; the listener says which. */
  readonly port: number;
  readonly certificate: string;
  readonly key: string;
  /** Left out, no client certificate is asked for and every caller is anonymous. */
  readonly clients?: ClientRules;
  /** Offers HTTP/2 beside HTTP/1.1. */
  readonly http2?: boolean;
  readonly limits?: Partial<Limits>;
  readonly logger: Logger;
  /** How often the certificate's files are looked at when no change of theirs is noticed. */
  readonly pollSeconds?: number;
}

export interface TlsListener extends Listener {
  /** Takes the certificate's files as they are now; connections that exist go on with the old ones. Never rejects. */
  reload(): Promise<void>;
}

/**
 * Puts an app on an address with TLS 1.2 or newer. The certificate, its key and the clients' authorities are loaded again
 * when their files change; files that cannot serve are logged and the loaded ones stay. The app is not closed by `stop`,
 * since other listeners may serve it.
 */
export async function listen(app: App, options: ListenerOptions): Promise<TlsListener> {
  const { clients, logger } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const files: TlsFiles = {
    certificate: options.certificate,
    key: options.key,
    ...(clients === undefined ? {} : { clientAuthorities: clients.authorities }),
  };
  const material = await loadTls(files);
  const shared = {
    ...serverOptions(limits),
    ...material.options,
    handshakeTimeout: limits.readSeconds * 1000,
    requestCert: clients !== undefined,
    rejectUnauthorized: clients?.unauthenticated === 'handshake',
  };
  const server = options.http2
    ? createSecureServer({
        ...shared,
        allowHTTP1: true,
        // Pseudo headers count too.
        maxHeaderListPairs: limits.maxHeaders + 8,
        settings: { maxHeaderListSize: limits.maxHeaderBytes, maxConcurrentStreams: concurrentStreams },
      })
    : createServer({ ...shared, ALPNProtocols: ['http/1.1'] });
  server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
    logger.debug({ err: error, remoteAddress: socket.remoteAddress }, 'a TLS handshake failed');
  });

  const listener = await serve({
    server,
    scheme: 'https',
    app,
    host: options.host,
    port: options.port,
    limits,
    logger,
    guard: clients === undefined ? () => ({ caller: anonymous }) : clientGuard(clients),
  });
  const watching = watchTls({
    files,
    current: material,
    onChange: (fresh) => {
      server.setSecureContext(fresh.options);
      logger.info({ fingerprint: fresh.fingerprint, expires: fresh.expires }, 'a new certificate is in use');
    },
    onBroken: (err) => logger.error({ err }, 'the changed certificate cannot be used, the one before it stays'),
    ...(options.pollSeconds === undefined ? {} : { pollSeconds: options.pollSeconds }),
  });

  return {
    url: listener.url,
    port: listener.port,
    reload: watching.reload,
    stop(graceOver) {
      watching.stop();
      return listener.stop(graceOver);
    },
  };
}

const concurrentStreams = 250;
const anonymous: Caller = { kind: 'anonymous' };

type Verdict = ReturnType<Guard>;

/** A connection's certificate does not change, so it is judged once. */
function clientGuard(rules: ClientRules): Guard {
  const judged = new WeakMap<object, Verdict>();
  return (request) => {
    const connection = isHttp2(request) ? (request.stream.session ?? request.stream) : request.socket;
    const known = judged.get(connection);
    if (known) return known;
    const verdict = judge(request, rules);
    judged.set(connection, verdict);
    return verdict;
  };
}

function judge(request: HttpRequest, rules: ClientRules): Verdict {
  const socket = request.socket as TLSSocket;
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) {
    const { unauthenticated } = rules;
    return unauthenticated === 'anonymous' ? { caller: anonymous } : { refused: noCertificate(unauthenticated) };
  }
  if (!socket.authorized) return { refused: untrusted };
  const caller = certificateCaller(certificate);
  if (rules.allow === undefined) return { caller };
  const admitted = admit(caller, rules.allow);
  return admitted ? { caller: admitted } : { refused: unlisted };
}

function noCertificate(status: 'handshake' | 401 | 403): Refusal {
  return {
    status: status === 403 ? 403 : 401,
    code: 'ClientCertificateRequired',
    message: 'This listener serves clients that show a certificate.',
  };
}

const untrusted: Refusal = {
  status: 403,
  code: 'ClientCertificateNotTrusted',
  message: 'The client certificate is not valid, or not signed by an authority this listener trusts.',
};

const unlisted: Refusal = {
  status: 403,
  code: 'ClientNotAllowed',
  message: 'The client certificate is valid, but its holder is not on the list of clients of this listener.',
};
