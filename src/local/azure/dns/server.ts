// A DNS server on loopback that answers for the zones of the cloud, by UDP and TCP, for those who can be told to ask it.
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import { ListenError } from '../../../kit/http-server.ts';
import type { Logger } from '../../../kit/log.ts';
import { answerPacket, type Zones } from './answer.ts';

export interface DnsServer {
  /** `127.0.0.1:<port>`, the same port for UDP and TCP. */
  readonly address: string;
  readonly port: number;
  stop(): Promise<void>;
}

export interface DnsServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly zones: Zones;
  readonly logger: Logger;
}

/** Questions beyond it are dropped; their senders ask again. */
const maxQuestionsAtOnce = 1000;
const maxConnections = 200;
/** A connection that says nothing, or does not read its answers, for this long is closed. */
const idleMs = 10_000;
const bindAttempts = 10;

export async function startDnsServer(options: DnsServerOptions): Promise<DnsServer> {
  const { host, zones, logger } = options;
  const { tcp, udp, port } = await bindBoth(options);
  const open = new Set<Socket>();
  let questions = 0;

  udp.on('error', (err) => logger.error({ err }, 'the DNS server could not send or receive'));
  udp.on('message', (message, from) => {
    if (questions >= maxQuestionsAtOnce) return;
    questions++;
    void answerPacket(message, zones, 'udp').then((answer) => {
      questions--;
      // The sender may be gone; then so is the answer.
      if (answer && !stopped) udp.send(answer, from.port, from.address, () => undefined);
    });
  });
  tcp.on('error', (err) => logger.error({ err }, 'a connection to the DNS server could not be taken'));
  tcp.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setTimeout(idleMs, () => socket.destroy());
    void answerConnection(socket, zones);
  });

  let stopped = false;
  return {
    address: `${isIPv6(host) ? `[${host}]` : host}:${port}`,
    port,
    async stop() {
      if (stopped) return;
      stopped = true;
      const closed = Promise.all([
        new Promise<void>((resolve) => {
          tcp.close(() => resolve());
        }),
        new Promise<void>((resolve) => {
          udp.close(() => resolve());
        }),
      ]);
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Messages one after the other, each behind its length. The next is read when the one before has been answered. */
async function answerConnection(socket: Socket, zones: Zones): Promise<void> {
  let waiting = Buffer.alloc(0);
  try {
    for await (const part of socket) {
      waiting = Buffer.concat([waiting, part as Buffer]);
      while (waiting.length >= 2 && waiting.length >= 2 + waiting.readUInt16BE(0)) {
        const end = 2 + waiting.readUInt16BE(0);
        const answer = await answerPacket(waiting.subarray(2, end), zones, 'tcp');
        waiting = waiting.subarray(end);
        if (!answer) return;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        if (!socket.write(Buffer.concat([length, answer]))) await once(socket, 'drain');
      }
    }
    socket.end();
  } catch {
    // Broken off by the other side, or for being idle.
  } finally {
    socket.destroySoon();
  }
}

/** A free port of TCP may be taken for UDP: then another one is tried. */
async function bindBoth({ host, port: asked }: DnsServerOptions): Promise<{
  readonly tcp: Server;
  readonly udp: UdpSocket;
  readonly port: number;
}> {
  for (let attempt = 1; ; attempt++) {
    const tcp = createServer();
    tcp.maxConnections = maxConnections;
    const udp = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    try {
      tcp.listen({ host, port: asked });
      await once(tcp, 'listening');
      const bound = tcp.address();
      const port = typeof bound === 'object' && bound !== null ? bound.port : asked;
      udp.bind(port, host);
      await once(udp, 'listening');
      return { tcp, udp, port };
    } catch (cause) {
      tcp.close();
      udp.close();
      if (asked === 0 && attempt < bindAttempts) continue;
      throw new ListenError(`the DNS server cannot listen on ${host}:${asked}`, { cause });
    }
  }
}
