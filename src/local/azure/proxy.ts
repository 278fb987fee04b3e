// The CONNECT proxy: host names of the cloud lead to where they are on this machine, whatever the operating system thinks of them.
// It reaches nothing else.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ListenError } from '../../kit/http-server.ts';
import type { Logger } from '../../kit/log.ts';
import type { Network } from './kernel/network.ts';

export interface Proxy {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

export interface ProxyOptions {
  readonly host: string;
  readonly port: number;
  readonly network: () => Pick<Network, 'target'> | undefined;
  readonly logger: Logger;
}

const targetForm = /^(\[[0-9a-f:]+\]|[a-z0-9._-]{1,253}):(\d{1,5})$/i;
const maxConnections = 5000;
const connectMs = 10_000;

export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const { network, logger } = options;
  const open = new Set<Duplex>();
  const remember = (socket: Duplex): void => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((_request, response) => {
    const message = 'This proxy makes tunnels only: use it for https.';
    response.writeHead(405, { 'content-type': 'text/plain', allow: 'CONNECT' }).end(`${message}\n`);
  });
  server.maxConnections = maxConnections;
  server.on('connect', (request, client: Socket, head: Buffer) => {
    remember(client);
    void tunnel(request.url ?? '', client, head);
  });

  async function tunnel(asked: string, client: Socket, head: Buffer): Promise<void> {
    const [, host = '', port = ''] = targetForm.exec(asked) ?? [];
    const number = Number(port);
    if (host === '' || number === 0 || number > 65_535) return refuse(client, '400 Bad Request');
    let target: Awaited<ReturnType<Network['target']>>;
    try {
      target = await network()?.target(host.replace(/^\[|\]$/g, '').toLowerCase(), number);
    } catch (err) {
      logger.error({ err }, 'the proxy could not tell where a name leads');
      return refuse(client, '502 Bad Gateway');
    }
    if (target === undefined) return refuse(client, '403 Forbidden');
    if (client.destroyed) return;
    const upstream = connect({ host: target.host, port: target.port, timeout: connectMs });
    remember(upstream);
    upstream.once('timeout', () => upstream.destroy());
    upstream.once('connect', () => {
      upstream.setTimeout(0);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.once('close', () => {
      if (client.bytesWritten === 0) refuse(client, '502 Bad Gateway');
      else client.destroy();
    });
    client.once('close', () => upstream.destroy());
  }

  try {
    server.listen({ host: options.host, port: options.port });
    await once(server, 'listening');
  } catch (cause) {
    throw new ListenError(`the proxy cannot listen on ${options.host}:${options.port}`, { cause });
  }
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  server.on('error', (err: Error) => logger.error({ err }, 'a connection to the proxy could not be taken'));

  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    port,
    async stop() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const socket of open) socket.destroy();
      server.closeAllConnections();
      await closed;
    },
  };
}

function refuse(client: Socket, status: string): void {
  if (client.writable) client.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}
