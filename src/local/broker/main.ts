// The embedded MQTT 5 broker: what an Event Grid namespace, EMQX or Mosquitto is in a region. Clients are known by certificate or
// password and may do what the permissions say; sessions of QoS 1 outlive connections, and an orderly restart.
import { X509Certificate } from 'node:crypto';
import { createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket, type Server as TlsServer } from 'node:tls';
import { Aedes, type Client } from 'aedes';
import { certificateCaller } from '../../kit/caller.ts';
import { ListenError } from '../../kit/http-server.ts';
import { composeService } from '../../kit/lifecycle.ts';
import type { Logger } from '../../kit/log.ts';
import type { Running } from '../../kit/service.ts';
import { loadTls, type TlsFiles, watchTls } from '../../kit/tls.ts';
import { type BrokerAccess, createPermissions, type KnownClient, type Shown } from './permissions.ts';
import { loadSessions, saveSessions } from './session-file.ts';
import { createSessions } from './sessions.ts';

export interface BrokerConfig {
  readonly logger: Logger;
  /** Loopback unless given. */
  readonly host?: string;
  /** 0, which takes a free one, unless given. */
  readonly port?: number;
  /** With `clientAuthorities`, certificates of clients are asked for and verified. Left out, only loopback is bound. */
  readonly tls?: TlsFiles;
  readonly access: BrokerAccess;
  /** Where sessions are kept when the broker stops; left out, they end with it. */
  readonly dataDirectory?: string;
  readonly limits?: Partial<BrokerLimits>;
  readonly graceSeconds?: number;
}

export interface BrokerLimits {
  readonly maxPacketBytes: number;
  readonly maxConnections: number;
  /** Of one session, not acknowledged; a session that would have more is ended. */
  readonly maxQueuedMessages: number;
  readonly maxRetainedMessages: number;
  readonly maxSessions: number;
  readonly maxSessionSeconds: number;
  /** A client that takes nothing for so long is cut off, since others wait for it. */
  readonly slowClientSeconds: number;
}

export interface RunningBroker extends Running {
  /** `host:port`, as configurations of clients have it. */
  readonly brokerHost: string;
  /** Takes new permissions, and cuts all connections so that they hold for everybody. Throws TypeError, and changes nothing. */
  setAccess(access: BrokerAccess): void;
  /** Clients that are connected now. */
  connections(): number;
  /** Cuts all connections, as a network that fails does. Clients may connect again at once. */
  cut(): void;
}

const defaultLimits: BrokerLimits = {
  maxPacketBytes: 5 * 1024 * 1024,
  maxConnections: 10_000,
  maxQueuedMessages: 100_000,
  maxRetainedMessages: 10_000,
  maxSessions: 10_000,
  maxSessionSeconds: 3600,
  slowClientSeconds: 10,
};

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);
const connectSeconds = 10;
const maxKeepAliveSeconds = 600;
const maxTopicLevels = 16;
const maxClientIdLength = 256;
/** Told to a v5 client whose session has grown too large. */
const quotaExceeded = 0x97;

export async function start(config: BrokerConfig): Promise<RunningBroker> {
  const { logger, host = '127.0.0.1' } = config;
  if (config.tls === undefined && !loopback.has(host)) {
    throw new ListenError(`a broker without TLS binds only loopback addresses, not ${JSON.stringify(host)}`);
  }
  const limits = { ...defaultLimits, ...config.limits };
  let permissions = createPermissions(config.access);
  const known = new WeakMap<Client, KnownClient>();
  const sockets = new Set<Socket>();
  let made: Pick<RunningBroker, 'brokerHost' | 'setAccess' | 'connections' | 'cut'> | undefined;

  const clientOf = (id: string): Client | undefined => (aedes as unknown as ConnectedClients).clients[id];
  const sessions = createSessions({
    limits,
    maySubscribe: (id, filter) => {
      const client = clientOf(id);
      return client !== undefined && (known.get(client)?.maySubscribe(filter) ?? false);
    },
    onFull: (id) => {
      logger.warn({ client: id }, 'a session of the broker was ended: too many messages were waiting');
      clientOf(id)?.disconnect({ reasonCode: quotaExceeded });
    },
  });
  const aedes = new Aedes({
    persistence: sessions.persistence,
    connectTimeout: connectSeconds * 1000,
    drainTimeout: limits.slowClientSeconds * 1000,
    keepaliveLimit: maxKeepAliveSeconds,
    maxTopicLevels,
    maximumPacketSize: limits.maxPacketBytes,
    sessionExpiryIntervalLimit: limits.maxSessionSeconds,
    pendingSessionsLimit: limits.maxSessions,
    preConnect(client, packet, done) {
      if (packet.protocolVersion !== 5 || packet.clientId.length > maxClientIdLength) {
        return done(new Error('not a client of MQTT 5'), false);
      }
      const identified = permissions.identify(shownBy(client, packet));
      if (identified !== undefined) {
        known.set(client, identified);
        // A session is its owner's: nobody else can take it over by giving its id.
        if (packet.clientId !== '') packet.clientId = `${identified.authenticationName}/${packet.clientId}`;
      }
      done(null, true);
    },
    authenticate: (client, _username, _password, done) => done(null, known.has(client)),
    authorizePublish(client, packet, done) {
      const isGranted = client !== null && packet.qos < 2 && known.get(client)?.mayPublish(packet.topic);
      done(isGranted ? null : new Error('not granted'));
    },
    authorizeSubscribe: (client, subscription, done) =>
      done(null, known.get(client)?.maySubscribe(subscription.topic) ? subscription : null),
    // Also of what was queued under permissions of before.
    authorizeForward: (client, packet) => (known.get(client)?.maySubscribe(packet.topic) ? packet : null),
  });
  aedes.on('clientError', (client, err) => logger.debug({ client: client.id, err }, 'a client of the broker failed'));
  aedes.on('connectionError', (_, err) => logger.debug({ err }, 'a connection to the broker failed'));
  // Without a listener an error of the broker would end the process.
  (aedes as NodeJS.EventEmitter).on('error', (err: unknown) => logger.error({ err }, 'the broker failed'));

  const service = await composeService(
    {
      name: 'broker',
      logger,
      ...(config.graceSeconds === undefined ? {} : { graceSeconds: config.graceSeconds }),
    },
    async ({ part, address }) => {
      const { dataDirectory } = config;
      if (dataDirectory !== undefined) {
        await part(
          'sessions',
          () => loadSessions(dataDirectory, sessions, logger),
          () => saveSessions(dataDirectory, sessions),
        );
        // Sessions of before whose clients do not come back.
        const before = [...sessions.sessions.keys()];
        await part(
          'old sessions',
          () =>
            setTimeout(() => {
              for (const id of before) if (clientOf(id) === undefined) sessions.sessions.delete(id);
            }, limits.maxSessionSeconds * 1000).unref(),
          (timer) => clearTimeout(timer),
        );
      }
      await part(
        'protocol',
        () => aedes.listen(),
        async () => {
          await new Promise<void>((resolve) => aedes.close(resolve));
          // Those that never became clients.
          for (const socket of sockets) socket.destroy();
        },
      );
      const { port } = await part(
        'listener',
        () => listen(config, host, limits, (socket) => aedes.handle(socket), sockets),
        (listener) => listener.stop(),
      );
      const brokerHost = `${host.includes(':') ? `[${host}]` : host}:${port}`;
      address('mqtt', `${config.tls === undefined ? 'mqtt' : 'mqtts'}://${brokerHost}`);
      const cut = (): void => {
        for (const socket of sockets) socket.destroy();
      };
      made = {
        brokerHost,
        connections: () => aedes.connectedClients,
        setAccess(access) {
          permissions = createPermissions(access);
          cut();
        },
        cut,
      };
    },
  );
  if (!made) throw new Error('the service was composed without its parts');
  return Object.assign(service, made);
}

/** aedes has them by id, and its types do not say so. */
interface ConnectedClients {
  readonly clients: Readonly<Record<string, Client | undefined>>;
}

function shownBy(client: Client, packet: { readonly username?: string; readonly password?: Buffer | string }): Shown {
  const { conn } = client;
  const certificate = conn instanceof TLSSocket && conn.authorized ? conn.getPeerX509Certificate() : undefined;
  const { username, password } = packet;
  return {
    ...(certificate === undefined ? {} : { certificate: certificateCaller(new X509Certificate(certificate.raw)) }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined || password === null ? {} : { password: Buffer.from(password) }),
  };
}

interface BrokerListener {
  readonly port: number;
  stop(): Promise<void>;
}

async function listen(
  { tls, port = 0, logger }: BrokerConfig,
  host: string,
  limits: BrokerLimits,
  accept: (socket: Socket) => void,
  sockets: Set<Socket>,
): Promise<BrokerListener> {
  const material = tls === undefined ? undefined : await loadTls(tls);
  const server: Server | TlsServer =
    material === undefined
      ? createPlainServer(accept)
      : createTlsServer(
          {
            ...material.options,
            requestCert: tls?.clientAuthorities !== undefined,
            // Who shows no certificate may still have a password.
            rejectUnauthorized: false,
            handshakeTimeout: connectSeconds * 1000,
          },
          accept,
        );
  server.maxConnections = limits.maxConnections;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.setNoDelay(true);
  });
  const watching =
    tls === undefined || material === undefined
      ? undefined
      : watchTls({
          files: tls,
          current: material,
          onChange: (fresh) => (server as TlsServer).setSecureContext(fresh.options),
          onBroken: (err) => logger.error({ err }, 'the changed certificate cannot be used, the one before it stays'),
        });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(new ListenError(`cannot listen on ${host}:${port}`, { cause })));
    server.listen(port, host, resolve);
  });
  server.on('error', (err) => logger.error({ err }, 'the listener of the broker failed'));
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    async stop() {
      watching?.stop();
      // Connections are ended by the protocol, which tells clients why.
      server.close();
    },
  };
}
