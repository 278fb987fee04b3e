// The CONNECT proxy: host names of the cloud lead to where they are on this machine, whatever the operating system thinks of them.
// It reaches the cloud, the names that configuration lets through, and nothing else.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { clientErrorHandler } from '../../../kit/client-error.ts';
import { checkHostPattern, matchesHost } from '../../../kit/guarded-url.ts';
import { ListenError } from '../../../kit/http-server.ts';
import type { Logger } from '../../../kit/log.ts';
import type { Network, Target } from '../kernel/network.ts';
import { type Authority, isLoopback, parseAuthority } from './authority.ts';
import { forwardPlain } from './plain-http.ts';
import { connectTunnel, refuseTunnel } from './tunnel.ts';

// An import of this module by name would read all that it exports, and so load the web sockets that it offers.
const { createServer } = process.getBuiltinModule('node:http');

export interface Proxy {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

export interface ProxyOptions {
  readonly host: string;
  readonly port: number;
  /** Undefined while the cloud is starting. */
  readonly network: () => Pick<Network, 'target'> | undefined;
  /** The cloud's own TLS listener: what leads there is asked for by https. */
  readonly listener: () => Target;
  /** Host names beyond the cloud that may be reached: `example.com` itself, `.example.com` for all below it. None when left out. */
  readonly passThrough?: readonly string[];
  readonly logger: Logger;
  /** Times in milliseconds; for tests. */
  readonly limits?: Partial<ProxyLimits>;
}

export interface ProxyLimits {
  readonly maxConnections: number;
  /** To send the head of a request. */
  readonly headersMs: number;
  readonly connectMs: number;
  /** How long one direction of a tunnel may go on after the other has ended, without a byte. */
  readonly halfOpenMs: number;
}

const defaultLimits: ProxyLimits = {
  maxConnections: 5000,
  headersMs: 10_000,
  connectMs: 10_000,
  halfOpenMs: 60_000,
};

/** Where a request goes: a place, a refusal by rule, or a failure to find out. */
export type Destination =
  | { readonly kind: 'target'; readonly target: Target; readonly secure: boolean }
  | { readonly kind: 'refused'; readonly status: number; readonly reason: string };

export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const { logger } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const passThrough = (options.passThrough ?? []).map(checkHostPattern);
  const open = new Set<Duplex>();
  const remember = (socket: Duplex): void => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  };

  async function destination({ host, port }: Authority): Promise<Destination> {
    const network = options.network();
    if (!network) return { kind: 'refused', status: 503, reason: 'The cloud is starting.' };
    const own = options.listener();
    // Clients that send everything through the proxy send it what is for the origin as well; other ports of this machine are not its business.
    if (isLoopback(host)) {
      if (port === own.port) return { kind: 'target', target: own, secure: true };
      return { kind: 'refused', status: 403, reason: 'This proxy does not lead to other ports of this machine.' };
    }
    try {
      const target = await network.target(host, port);
      if (target) {
        const secure = target.port === own.port && target.host === own.host;
        return { kind: 'target', target, secure };
      }
    } catch (err) {
      logger.error({ err }, 'the proxy could not tell where a name leads');
      return { kind: 'refused', status: 502, reason: 'The proxy could not tell where this name leads.' };
    }
    if (passThrough.some((pattern) => matchesHost(pattern, host)))
      return { kind: 'target', target: { host, port }, secure: false };
    return { kind: 'refused', status: 403, reason: 'No service of this cloud has this host name and port.' };
  }

  const plain = { destination, remember, connectMs: limits.connectMs };
  const server = createServer(
    { maxHeaderSize: 16 * 1024, connectionsCheckingInterval: 1000 },
    (request: IncomingMessage, response: ServerResponse) => {
      forwardPlain(request, response, plain).catch((err: unknown) => {
        logger.error({ err }, 'the proxy could not forward a request');
        response.destroy();
      });
    },
  );
  server.maxConnections = limits.maxConnections;
  server.headersTimeout = limits.headersMs;
  server.on('clientError', clientErrorHandler);
  server.on('connection', remember);
  server.on('connect', (request, client: Socket, head: Buffer) => {
    const asked = parseAuthority(request.url ?? '');
    if (!asked) return refuseTunnel(client, 400, 'CONNECT takes a host name and a port.');
    destination(asked).then(
      (found) => {
        if (client.destroyed) return;
        if (found.kind === 'refused') refuseTunnel(client, found.status, found.reason);
        else connectTunnel({ target: found.target, client, head, remember, ...limits });
      },
      (err: unknown) => {
        logger.error({ err }, 'the proxy could not make a tunnel');
        client.destroy();
      },
    );
  });

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
