// What every HTTP listener has in common: time and size limits, a rule asked before anything of a request is used, and an
// orderly end. One fastify app can stand behind several of them.
import { once } from 'node:events';
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import {
  constants,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Server as HttpsServer } from 'node:https';
import { isIPv6, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type App, type Caller, decorateCaller, setCaller } from './caller.ts';
import { clientErrorHandler, refuseExpectation } from './client-error.ts';
import type { Logger } from './log.ts';
import { graceSeconds } from './service.ts';

export type Server = HttpServer | HttpsServer | Http2SecureServer;
export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

export interface Limits {
  /** A request, headers and body, must have arrived whole within this time; a TLS handshake too. */
  readonly readSeconds: number;
  /** How long a connection may stay without a request, and how long a client may take to read a part of an answer. */
  readonly idleSeconds: number;
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  /** Connections beyond it are dropped at once. */
  readonly maxConnections: number;
}

export const defaultLimits: Limits = {
  readSeconds: 10,
  idleSeconds: 120,
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 100,
  maxConnections: 10_000,
};

/** Why a request is not served. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/**
 * The rule of a listener: who a request is from, or why it is refused. It runs before routing and before any of the body is
 * read, and may take headers away.
 */
export type Guard = (request: HttpRequest) => { readonly caller: Caller } | { readonly refused: Refusal };

/** A listener that answers. */
export interface Listener {
  /** Where it answers, with the port really bound: `https://127.0.0.1:8443`. For a wildcard address, on loopback. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting, tells clients to go (`connection: close`, GOAWAY), lets requests in flight end, and cuts what is left
   * when `graceOver` fires – after the service's grace period when left out. Never rejects; again gives the same promise.
   */
  stop(graceOver?: AbortSignal): Promise<void>;
}

export class ListenError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ListenError';
  }
}

export interface ServeOptions {
  readonly server: Server;
  readonly scheme: 'http' | 'https';
  readonly app: App;
  readonly host: string;
  readonly port: number;
  readonly limits: Limits;
  readonly guard: Guard;
  readonly logger?: Logger | undefined;
}

/** The options of Node's servers that hold the limits; what is left is set on the server by {@link serve}. */
export function serverOptions(limits: Limits) {
  return { maxHeaderSize: limits.maxHeaderBytes, insecureHTTPParser: false, requireHostHeader: true } as const;
}

/** Puts an app on an address, behind a server made with {@link serverOptions}. Resolves when it is bound. */
export async function serve(options: ServeOptions): Promise<Listener> {
  const { server, app, limits } = options;
  decorateCaller(app);
  await app.ready();
  applyLimits(server, limits);
  const connections = trackConnections(server, limits.idleSeconds * 1000);
  const answer = answerer(options, connections);
  server.on('request', (request: HttpRequest, response: HttpResponse) => answer(request, response, false));
  // Without this listener Node would ask for the body before the rule has been asked.
  server.on('checkContinue', (request: HttpRequest, response: HttpResponse) => answer(request, response, true));
  server.on('clientError', clientErrorHandler);
  server.on('checkExpectation', refuseExpectation);
  const port = await bind(server, options.host, options.port);
  // Such as no file descriptor left for a new connection; those that exist go on.
  server.on('error', (err: Error) => options.logger?.error({ err }, 'a connection could not be taken'));

  let stopped: Promise<void> | undefined;
  return {
    url: `${options.scheme}://${urlHost(options.host)}:${port}`,
    port,
    stop(graceOver = AbortSignal.timeout(graceSeconds * 1000)) {
      stopped ??= connections.drain(graceOver);
      return stopped;
    },
  };
}

function applyLimits(server: Server, limits: Limits): void {
  const readMs = limits.readSeconds * 1000;
  const idleMs = limits.idleSeconds * 1000;
  // Node looks for requests that are late at this interval; its default of 30 s would stretch the limit.
  Object.assign(server, {
    headersTimeout: readMs,
    requestTimeout: readMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(1000, readMs / 2),
    // Node's own limit drops headers silently, and with them the one that a rule asks for. The rule below refuses instead.
    maxHeadersCount: 0,
  });
  server.maxConnections = limits.maxConnections;
  server.setTimeout(idleMs);
}

interface Connections {
  /** Counts a request in until its answer is over. */
  add(request: HttpRequest, response: HttpResponse): void;
  drain(graceOver: AbortSignal): Promise<void>;
}

/** A connection that has not sent its first request when stopping begins may still do so for this long. */
const lateRequestMs = 500;

function trackConnections(server: Server, idleMs: number): Connections {
  const transports = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  /** How many answers an HTTP/2 connection still owes. */
  const streams = new WeakMap<ServerHttp2Session, number>();
  /** The connections of HTTP/1 and the answers each of them still owes. */
  const owed = new Map<Socket, Set<ServerResponse>>();
  let closing = false;

  const remember = (socket: Socket): void => {
    transports.add(socket);
    socket.once('close', () => transports.delete(socket));
  };
  const rememberOwed = (socket: Socket | TLSSocket): void => {
    if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') return;
    owed.set(socket, new Set());
    socket.once('close', () => owed.delete(socket));
  };
  server.on('connection', remember);
  server.on(isTls(server) ? 'secureConnection' : 'connection', rememberOwed);
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.on('stream', (stream) => {
      streams.set(session, (streams.get(session) ?? 0) + 1);
      stream.once('close', () => streams.set(session, (streams.get(session) ?? 1) - 1));
    });
  });
  // Quiet for the idle time: a client that neither asks nor reads is cut, one that waits for its answer is not.
  server.on('timeout', (connection: Socket | ServerHttp2Session) => {
    if (!('writableLength' in connection)) {
      if (!streams.get(connection)) connection.close();
      else if ((connection.state.outboundQueueSize ?? 0) > 0) connection.destroy();
      else connection.setTimeout(idleMs);
      return;
    }
    if (connection.writableLength > 0 || !owed.get(connection)?.size) connection.destroy();
    else connection.setTimeout(idleMs);
  });

  const closeQuiet = (): void => {
    for (const [socket, answers] of owed) if (answers.size === 0) socket.destroySoon();
  };

  return {
    add(request, response) {
      if (isHttp2(request)) return;
      const answers = owed.get(request.socket);
      const answer = response as ServerResponse;
      if (closing) answer.shouldKeepAlive = false;
      answers?.add(answer);
      answer.once('close', () => {
        answers?.delete(answer);
        if (closing && answers?.size === 0) request.socket.destroySoon();
      });
    },
    async drain(graceOver) {
      closing = true;
      const closed = new Promise<void>((resolve) => {
        // Also calls back, with an error, for a server that is not listening any more.
        server.close(() => resolve());
      });
      for (const answers of owed.values()) for (const answer of answers) answer.shouldKeepAlive = false;
      for (const session of sessions) session.close();
      const late = setTimeout(closeQuiet, lateRequestMs);
      const cut = (): void => {
        for (const session of sessions) session.destroy();
        for (const socket of transports) socket.destroy();
      };
      if (graceOver.aborted) cut();
      graceOver.addEventListener('abort', cut, { once: true });
      await closed;
      clearTimeout(late);
      graceOver.removeEventListener('abort', cut);
    },
  };
}

function answerer(
  { app, guard, limits }: ServeOptions,
  connections: Connections,
): (request: HttpRequest, response: HttpResponse, awaitsContinue: boolean) => void {
  // The app is an ordinary one for HTTP/1; fastify uses only what Node's HTTP/2 requests and answers have too.
  const route = app.routing as (request: HttpRequest, response: HttpResponse) => void;
  return (request, response, awaitsContinue) => {
    connections.add(request, response);
    if (isHttp2(request)) limitRead(request, limits.readSeconds * 1000);
    if (request.rawHeaders.length / 2 > limits.maxHeaders) {
      refuse(response, {
        status: 431,
        code: 'TooManyHeaders',
        message: `A request may have ${limits.maxHeaders} headers.`,
      });
      return;
    }
    const verdict = guard(request);
    if ('refused' in verdict) {
      refuse(response, verdict.refused);
      return;
    }
    setCaller(request, verdict.caller);
    if (awaitsContinue) response.writeContinue();
    route(request, response);
  };
}

/** Node has no time limit on the body of an HTTP/2 request. */
function limitRead(request: Http2ServerRequest, readMs: number): void {
  if (request.stream.endAfterHeaders) return;
  const timer = setTimeout(() => request.stream.close(constants.NGHTTP2_CANCEL), readMs);
  const clear = (): void => clearTimeout(timer);
  request.once('end', clear);
  request.stream.once('close', clear);
}

function refuse(response: HttpResponse, refusal: Refusal): void {
  const body = JSON.stringify({ error: { code: refusal.code, message: refusal.message } });
  response.statusCode = refusal.status;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', Buffer.byteLength(body));
  response.setHeader('cache-control', 'no-store');
  response.end(body);
}

async function bind(server: Server, host: string, port: number): Promise<number> {
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    throw new ListenError(`cannot listen on ${host}:${port}: ${bindProblems[code] ?? code}`, { cause });
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new ListenError(`${host}:${port} is not an IP address`);
  return address.port;
}

const bindProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else listens there (EADDRINUSE); stop it or choose another port',
  EACCES: 'not permitted (EACCES); ports below 1024 usually need a privilege',
  EADDRNOTAVAIL: 'this machine has no such address (EADDRNOTAVAIL)',
  ENOTFOUND: 'there is no such host (ENOTFOUND)',
};

function urlHost(host: string): string {
  const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1', '': 'localhost' };
  const named = reachable[host] ?? host;
  return isIPv6(named) ? `[${named}]` : named;
}

export function isHttp2(request: HttpRequest): request is Http2ServerRequest {
  return 'stream' in request;
}

function isTls(server: Server): boolean {
  return 'setSecureContext' in server;
}
