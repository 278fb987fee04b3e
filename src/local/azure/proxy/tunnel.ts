// One tunnel of the proxy: bytes both ways, and each end's end passed on to the other.
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Target } from '../kernel/network.ts';

export interface Tunnel {
  readonly target: Target;
  readonly client: Socket;
  /** What the client sent right behind its request. */
  readonly head: Buffer;
  readonly remember: (socket: Duplex) => void;
  readonly connectMs: number;
  readonly halfOpenMs: number;
}

/** A client that ends its side may still be answered; a side that says nothing more after that is not waited for. */
export function connectTunnel({ target, client, head, remember, connectMs, halfOpenMs }: Tunnel): void {
  const upstream = connect({ host: target.host, port: target.port, timeout: connectMs, allowHalfOpen: true });
  let established = false;
  remember(upstream);
  upstream.once('timeout', () => upstream.destroy());
  upstream.once('connect', () => {
    established = true;
    upstream.setTimeout(0);
    client.setTimeout(0);
    for (const socket of [upstream, client]) socket.setNoDelay(true);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    upstream.pipe(client).pipe(upstream);
  });
  const halfOpen = (still: Socket): void => {
    still.setTimeout(halfOpenMs, () => still.destroy());
  };
  upstream.once('end', () => halfOpen(client));
  client.once('end', () => halfOpen(upstream));
  upstream.once('close', () => {
    if (established) client.destroy();
    else refuseTunnel(client, 502, 'What this name leads to does not answer.');
  });
  client.once('close', () => upstream.destroy());
}

const reasons: { readonly [status: number]: string } = {
  400: 'Bad Request',
  403: 'Forbidden',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

/** Answers a CONNECT that leads nowhere. Clients show the status line, so it carries the reason. */
export function refuseTunnel(client: Socket, status: number, reason: string): void {
  if (!client.writable) return;
  const body = `${reason}\n`;
  client.end(
    `HTTP/1.1 ${status} ${reasons[status] ?? 'Refused'}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
  // What it still sends is not read to the end.
  client.resume();
  client.setTimeout(1000, () => client.destroy());
}
