// One TLS port for many clusters: the name a client asks for in the handshake (SNI) selects the cluster and its certificate.
import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttp1, ServerResponse } from 'node:http';
import { constants as http2Constants, performServerHandshake, type ServerHttp2Session } from 'node:http2';
import { isIPv6, type Socket } from 'node:net';
import { createServer, type SecureContext, type TLSSocket } from 'node:tls';
import type { Logger } from '../../../kit/log.ts';
import type { HostedCluster } from '../clusters.ts';
import { http1Exchange, http2Exchange, upgradeExchange } from './exchange.ts';
import type { Handler } from './handler.ts';

export interface Listening {
  readonly port: number;
  /** `https://host:port` as bound. */
  readonly url: string;
  /** Stops accepting, lets requests in flight end, and cuts what is left when `graceOver` fires. */
  stop(graceOver: AbortSignal): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly handler: Handler;
  /** The cluster a name in the handshake means; the empty name stands for clients that send none. */
  readonly clusterOf: (serverName: string) => HostedCluster | undefined;
  /** The certificate to show for it. */
  readonly contextOf: (cluster: HostedCluster) => SecureContext | Promise<SecureContext>;
  /** The certificate for clients that send no name; without it they do not get through the handshake. */
  readonly unnamed?: { readonly cert: string; readonly key: string; readonly ca: string } | undefined;
  readonly logger: Logger;
  /** How long a connection may be without a request, its head still under way included; three minutes unless given. */
  readonly idleMs?: number;
}

const maxStreams = 250;
const maxConnections = 20_000;
/** Clients end watches by resetting them, so more resets than Node allows by itself are no attack. */
const resets = { burst: 20_000, perSecond: 5000 };
const handshakeMs = 10_000;
const usualIdleMs = 180_000;
const windowBytes = 1024 * 1024;

export async function listenTls(options: ListenOptions): Promise<Listening> {
  const { handler, clusterOf, logger, idleMs = usualIdleMs } = options;
  const transports = new Set<Socket>();
  /** By the client's address and port: connections whose handshake is not over. */
  const handshaking = new Map<string, Socket>();
  const sessions = new Set<ServerHttp2Session>();
  /** Connections of HTTP/1 and how many requests each has in flight. Node's own count begins with its own listening only. */
  const http1Requests = new Map<Socket, number>();
  let stopping = false;

  const contextFor = (name: string, callback: (error: Error | null, context?: SecureContext) => void): void => {
    const cluster = clusterOf(name);
    if (!cluster) {
      callback(new Error(`no cluster is known by the name ${name}`));
      return;
    }
    const context = options.contextOf(cluster);
    if (context instanceof Promise) context.then((made) => callback(null, made), callback);
    else callback(null, context);
  };

  /** Node enforces its own time limits only for connections it has accepted itself. */
  const idle = new WeakMap<object, NodeJS.Timeout>();
  const expectRequest = (socket: Socket): void => {
    clearTimeout(idle.get(socket));
    if (!socket.destroyed) idle.set(socket, setTimeout(() => socket.destroy(), idleMs).unref());
  };
  const http1 = createHttp1({ keepAliveTimeout: 0 });
  const server = createServer({
    ALPNProtocols: ['h2', 'http/1.1'],
    minVersion: 'TLSv1.2',
    requestCert: true,
    // Whether a client's certificate counts is for authentication to say; others have tokens.
    rejectUnauthorized: false,
    handshakeTimeout: handshakeMs,
    // A resumed session would carry a certificate from the cluster it was made with.
    secureOptions: constants.SSL_OP_NO_TICKET,
    SNICallback: contextFor,
    ...options.unnamed,
  });

  server.maxConnections = maxConnections;
  server.on('connection', (socket: Socket) => {
    socket.setNoDelay(true);
    transports.add(socket);
    const peer = peerOf(socket);
    handshaking.set(peer, socket);
    socket.once('close', () => {
      transports.delete(socket);
      if (handshaking.get(peer) === socket) handshaking.delete(peer);
    });
    if (stopping) socket.destroy();
  });
  server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
    logger.debug({ err: error, remoteAddress: socket.remoteAddress }, 'a TLS handshake failed');
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    handshaking.delete(peerOf(socket));
    socket.on('error', () => socket.destroy());
    const name = typeof socket.servername === 'string' ? socket.servername : '';
    const cluster = clusterOf(name);
    if (!cluster || stopping) {
      socket.destroy();
      return;
    }
    cluster.connections.add(socket);
    socket.once('close', () => cluster.connections.delete(socket));
    if (socket.alpnProtocol === 'h2') serveHttp2(socket, cluster);
    else {
      clusterOfSocket.set(socket, cluster);
      http1Requests.set(socket, 0);
      socket.once('close', () => {
        http1Requests.delete(socket);
        clearTimeout(idle.get(socket));
      });
      expectRequest(socket);
      http1.emit('connection', socket);
    }
  });

  const clusterOfSocket = new WeakMap<object, HostedCluster>();
  http1.on('request', (request, response) => {
    const cluster = clusterOfSocket.get(request.socket);
    if (!cluster) {
      request.socket.destroy();
      return;
    }
    if (stopping) response.shouldKeepAlive = false;
    const { socket } = request;
    clearTimeout(idle.get(socket));
    http1Requests.set(socket, (http1Requests.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (http1Requests.get(socket) ?? 1) - 1;
      if (!socket.destroyed) http1Requests.set(socket, left);
      if (left === 0) expectRequest(socket);
      if (stopping && left === 0) socket.destroySoon();
    });
    handler(http1Exchange(request, response), cluster);
  });
  http1.on('upgrade', (request, socket, head) => {
    const cluster = clusterOfSocket.get(socket);
    if (!cluster || stopping) {
      socket.destroy();
      return;
    }
    // It ends when what it carries from here on ends.
    clearTimeout(idle.get(request.socket));
    http1Requests.set(request.socket, 1);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(request.socket);
    response.once('finish', () => socket.end());
    handler(upgradeExchange(request, response, head), cluster);
  });
  http1.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request');
  });

  function serveHttp2(socket: TLSSocket, cluster: HostedCluster): void {
    const session = performServerHandshake(socket, {
      settings: { maxConcurrentStreams: maxStreams, initialWindowSize: windowBytes },
      streamResetBurst: resets.burst,
      streamResetRate: resets.perSecond,
    });
    session.setLocalWindowSize(windowBytes * 16);
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.on('error', () => session.destroy());
    session.on('stream', (stream, headers, _flags, rawHeaders) => {
      stream.on('error', () => stream.close(http2Constants.NGHTTP2_CANCEL));
      handler(http2Exchange(stream, headers, rawHeaders as unknown as string[], socket), cluster);
    });
  }

  server.listen({ host: options.host, port: options.port });
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  server.on('error', (err: Error) => logger.error({ err }, 'a connection could not be taken'));

  return {
    port,
    url: `https://${isIPv6(options.host) ? `[${options.host}]` : options.host}:${port}`,
    async stop(graceOver) {
      stopping = true;
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const session of sessions) session.close();
      for (const socket of handshaking.values()) socket.destroy();
      for (const [socket, requests] of http1Requests) if (requests === 0) socket.destroySoon();
      const cut = (): void => {
        for (const session of sessions) session.destroy();
        for (const socket of transports) socket.destroy();
      };
      if (graceOver.aborted) cut();
      graceOver.addEventListener('abort', cut, { once: true });
      await closed;
      graceOver.removeEventListener('abort', cut);
      http1.close();
    },
  };
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
