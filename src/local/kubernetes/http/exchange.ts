// One request and the way to answer it, over HTTP/2 or HTTP/1.1 alike.
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants, type IncomingHttpHeaders as Http2Headers, type ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { StatusError, tooLarge } from '../status.ts';

/** An answer that is written piece by piece. */
export interface AnswerStream {
  /** False when the client does not keep up; `onDrain` tells when it does again. */
  write(bytes: Buffer): boolean;
  /** Sends what was written so far without waiting for more. */
  onDrain(listener: () => void): void;
  end(): void;
  /** Ends it so that the client sees it was cut off. */
  cut(): void;
}

export interface Exchange {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[];
  readonly socket: TLSSocket;
  /** The whole body. Rejects with StatusError 413 beyond the limit. */
  body(limitBytes: number): Promise<Buffer>;
  answer(status: number, headers: OutgoingHttpHeaders, body: Buffer | undefined): void;
  stream(status: number, headers: OutgoingHttpHeaders): AnswerStream;
  /** Answers 101 and gives the connection for another protocol. Undefined where the client did not ask for one. */
  readonly upgrade?: (headers: OutgoingHttpHeaders) => Duplex;
  /** Called once when the client has its answer or has gone away. */
  onClose(listener: () => void): void;
  /** Whether the client has gone away. */
  readonly closed: boolean;
}

/** A header of the request, with several of one name as one. */
export function headerOf({ headers }: Exchange, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

const none = Buffer.alloc(0);

/** A body must have arrived whole within this time. */
const bodySeconds = 60;
/** So much of a body that is too large is read and dropped, so that the client gets to read the refusal. */
const drainBytes = 16 * 1024 * 1024;

function collect(
  source: IncomingMessage | ServerHttp2Stream,
  declared: string | undefined,
  limit: number,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const refuse = (): void => reject(tooLarge(`Request entity too large: limit is ${limit}`));
    if (Number(declared) > limit) {
      source.resume();
      refuse();
      return;
    }
    const parts: Buffer[] = [];
    let length = 0;
    const late = setTimeout(() => {
      reject(new StatusError(504, 'Timeout', 'Timeout: the body of the request did not arrive in time', {}));
      source.destroy();
    }, bodySeconds * 1000);
    // Says nothing more once the body is there.
    source.on('close', () => {
      clearTimeout(late);
      reject(new Error('the client went away'));
    });
    source.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= limit) parts.push(part);
      else {
        parts.length = 0;
        refuse();
        if (length > limit + drainBytes) source.destroy();
      }
    });
    source.on('end', () => {
      clearTimeout(late);
      resolve(parts.length === 1 ? (parts[0] ?? none) : Buffer.concat(parts));
    });
    source.on('error', reject);
  });
}

/** A request over HTTP/2; the core API costs less than the compatible one. */
export function http2Exchange(
  stream: ServerHttp2Stream,
  headers: Http2Headers,
  rawHeaders: readonly string[],
  socket: TLSSocket,
): Exchange {
  const method = headers[':method'] ?? 'GET';
  const head = method === 'HEAD';
  return {
    method,
    url: headers[':path'] ?? '/',
    headers,
    rawHeaders,
    socket,
    body(limit) {
      return stream.endAfterHeaders ? Promise.resolve(none) : collect(stream, headers['content-length'], limit);
    },
    answer(status, answerHeaders, body) {
      if (stream.destroyed || stream.headersSent) return;
      const sent = { ':status': status, ...answerHeaders };
      if (body === undefined || head) {
        stream.respond(sent, { endStream: true });
        return;
      }
      stream.respond(sent);
      stream.end(body);
    },
    stream(status, answerHeaders) {
      stream.respond({ ':status': status, ...answerHeaders });
      return {
        write: (bytes) => stream.write(bytes),
        onDrain: (listener) => stream.on('drain', listener),
        end: () => stream.end(),
        cut: () => stream.close(constants.NGHTTP2_CANCEL),
      };
    },
    onClose(listener) {
      stream.once('close', listener);
    },
    get closed() {
      return stream.destroyed;
    },
  };
}

/** A request over HTTP/1.1. */
export function http1Exchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const method = request.method ?? 'GET';
  return {
    method,
    url: request.url ?? '/',
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    socket: request.socket as TLSSocket,
    body: (limit) => collect(request, request.headers['content-length'], limit),
    answer(status, headers, body) {
      if (response.destroyed || response.headersSent) return;
      response.writeHead(status, headers);
      response.end(method === 'HEAD' ? undefined : body);
    },
    stream(status, headers) {
      response.writeHead(status, headers);
      response.flushHeaders();
      return {
        write: (bytes) => response.write(bytes),
        onDrain: (listener) => response.on('drain', listener),
        end: () => response.end(),
        cut: () => response.destroy(),
      };
    },
    onClose(listener) {
      response.once('close', listener);
    },
    get closed() {
      return response.destroyed;
    },
  };
}

/**
 * A request over HTTP/1.1 that asks for another protocol. `response` is bound to the connection, for an answer that refuses;
 * `head` is what the client has sent after the request.
 */
export function upgradeExchange(request: IncomingMessage, response: ServerResponse, head: Buffer): Exchange {
  const { socket } = request;
  return {
    ...http1Exchange(request, response),
    // The body of such a request is not told apart from what follows it.
    body: () => Promise.resolve(none),
    upgrade(headers) {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
      response.detachSocket(socket);
      socket.setTimeout(0);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
      if (head.length > 0) socket.unshift(head);
      return socket;
    },
    onClose(listener) {
      socket.once('close', listener);
    },
    get closed() {
      return socket.destroyed;
    },
  };
}
