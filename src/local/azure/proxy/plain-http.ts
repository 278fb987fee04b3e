// Requests for http:// addresses, which clients send to a proxy whole. Names of the cloud's own services are sent on to https; what is
// attached to an address without TLS is asked and its answer passed back.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Authority, parseAuthority } from './authority.ts';
import type { Destination } from './proxy.ts';

// Not by an import, for the reason given in proxy.ts.
const { request: send } = process.getBuiltinModule('node:http');

export interface PlainOptions {
  readonly destination: (asked: Authority) => Promise<Destination>;
  readonly remember: (socket: Duplex) => void;
  readonly connectMs: number;
}

/** Meant for one connection, so they are not passed on; what `Connection` names is not either. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
]);

export async function forwardPlain(
  request: IncomingMessage,
  response: ServerResponse,
  { destination, remember, connectMs }: PlainOptions,
): Promise<void> {
  const url = absoluteUrl(request.url ?? '');
  const asked = url && parseAuthority(`${url.hostname}:${url.port === '' ? '80' : url.port}`);
  if (!url || !asked) {
    refuse(request, response, 400, 'This is a proxy: it takes CONNECT, and requests for whole http:// addresses.');
    return;
  }
  const found = await destination(asked);
  if (found.kind === 'refused') {
    refuse(request, response, found.status, found.reason);
    return;
  }
  if (found.secure) {
    response.setHeader('location', `https://${url.hostname}${url.pathname}${url.search}`);
    refuse(request, response, 308, 'This service is reached by https.');
    return;
  }
  const upstream = send({
    host: found.target.host,
    port: found.target.port,
    method: request.method ?? 'GET',
    path: `${url.pathname}${url.search}`,
    // The address decides whom the request is for, not a Host beside it that may say otherwise.
    headers: { ...endToEnd(request.headers), host: url.host },
    agent: false,
  });
  upstream.once('socket', (socket) => {
    remember(socket);
    socket.setTimeout(connectMs, () => {
      if (socket.connecting) socket.destroy();
    });
  });
  response.once('close', () => upstream.destroy());
  const answered = new Promise<void>((resolve) => {
    upstream.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      // Whoever breaks off, both sides are closed by it.
      pipeline(answer, response).then(resolve, () => resolve());
    });
    upstream.once('error', () => {
      if (!response.headersSent) refuse(request, response, 502, 'What this name leads to does not answer.');
      else response.destroy();
      resolve();
    });
  });
  request.pipe(upstream);
  await answered;
}

function absoluteUrl(text: string): URL | undefined {
  if (!/^http:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.username === '' && url.password === '' ? url : undefined;
}

function endToEnd(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  );
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !hopByHop.has(name) && !named.has(name)) kept[name] = value;
  }
  return kept;
}

/** The rest of a refused request is not read, so its connection ends. */
function refuse(request: IncomingMessage, response: ServerResponse, status: number, message: string): void {
  request.resume();
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${message}\n`);
}
