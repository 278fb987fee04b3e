// The server's configuration. docs/maestro.md explains it.
import { hostname } from 'node:os';
import { type Static, Type } from 'typebox';
import { duration, secret } from '../../kit/config-schema.ts';
import { defaultSourceId } from '../protocol/topics.ts';

const port = (fallback: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: fallback, description });
const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));
const names = (description: string) => Type.Optional(Type.Array(Type.String({ minLength: 1 }), { description }));

export const maestroServerConfig = Type.Object({
  sourceId: Type.String({
    pattern: '^[a-z0-9-]{1,63}$',
    default: defaultSourceId,
    description: 'The id of this server towards agents, as in the topics',
  }),
  instance: Type.String({
    pattern: '^[A-Za-z0-9._-]{1,100}$',
    default: `maestro-${hostname()}`.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 100),
    description: 'The name of this server among those on the same database; also its MQTT client id',
  }),
  store: Type.Object({
    file: text('SQLite file; or give store.postgres'),
    postgres: Type.Optional(secret({ description: 'postgres://user:password@host:port/database' })),
    schema: Type.String({ default: 'maestro', description: 'PostgreSQL schema' }),
    sealingKey: secret({ description: '32 bytes in base64: the key under which manifests are sealed' }),
    olderSealingKeys: Type.Optional(
      Type.Array(secret({ description: '32 bytes in base64' }), {
        description: 'Keys that sealed what is still there',
      }),
    ),
  }),
  host: Type.String({ default: '127.0.0.1', description: 'The address that REST, gRPC, health and metrics bind' }),
  tls: Type.Optional(
    Type.Object({
      certificate: Type.String({ description: 'PEM file of the server certificate' }),
      key: Type.String({ description: 'PEM file of its key' }),
      clientAuthorities: text('PEM file of the authorities of client certificates'),
    }),
  ),
  tokens: Type.Optional(
    Type.Object({
      issuer: Type.String({ description: 'Issuer of bearer tokens' }),
      audience: Type.String({ description: 'Audience that they must be for' }),
      keys: Type.String({ description: 'File, or https URL, of the keys of the issuer (JWKS)' }),
    }),
  ),
  rest: Type.Object({ port: port(8000, 'REST over TLS; only with tls') }),
  plain: Type.Optional(
    Type.Object({
      port: port(8000, 'REST on loopback without authentication, for port-forwards'),
      hostNames: names('What Host may name besides localhost, as name:port of a forward'),
    }),
  ),
  grpc: Type.Object({ port: port(8090, 'gRPC for sources; without tls on loopback only, for everybody') }),
  grpcBroker: Type.Optional(Type.Object({ port: port(8091, 'gRPC for agents; without tls on loopback only') })),
  mqtt: Type.Optional(
    Type.Object({
      brokerHost: Type.String({ pattern: '^[^/@\\s]+:\\d{1,5}$', description: 'host:port of the MQTT broker' }),
      username: text('User at the broker'),
      password: Type.Optional(secret({ description: 'Password at the broker' })),
      caFile: text('PEM file of who may vouch for the broker; makes the connection TLS'),
      clientCertFile: text('PEM file of the client certificate'),
      clientKeyFile: text('PEM file of its key'),
      keepAlive: duration({
        default: '60s',
        minimumSeconds: 1,
        maximumSeconds: 65_535,
        description: 'MQTT keep-alive',
      }),
      session: duration({ default: '1h', description: 'How long the broker keeps messages while this server is away' }),
      topics: Type.Optional(
        Type.Object({
          sourceEvents: Type.String({ description: 'sources/maestro/consumers/+/sourceevents' }),
          agentEvents: Type.String({
            description: 'sources/maestro/consumers/+/agentevents, maybe under $share/<group>/',
          }),
          sourceBroadcast: text('sources/+/sourcebroadcast'),
          agentBroadcast: text('clusters/+/agentbroadcast'),
        }),
      ),
    }),
  ),
  rules: Type.Array(
    Type.Object({
      who: Type.String({
        pattern: '^(cn|dns|uri|sub):.+$',
        description: 'cn:, dns:, uri: or sub: and a name, maybe with a *',
      }),
      sources: names('Sources as which it may publish and subscribe'),
      consumers: names('Consumers it may send to; all unless given'),
      agentOf: names('Consumers whose agent it is; {*} is what the * of who stood for'),
      rest: Type.Optional(
        Type.Union([Type.Literal('read'), Type.Literal('write')], { description: 'What it may over REST' }),
      ),
    }),
    { default: [], description: 'Who may do what; no rule, no right' },
  ),
  metrics: Type.Object({ port: port(8080, '/metrics, /healthz and /readyz') }),
  health: Type.Object({ port: port(8083, '/healthcheck and /livez') }),
  heartbeat: duration({ default: '10s', description: 'Between heartbeats on Subscribe streams; 0s for none' }),
  lease: duration({
    default: '30s',
    minimumSeconds: 1,
    maximumSeconds: 3600,
    description: 'How long the consumers of a server that died stay without one',
  }),
  undelivered: duration({
    default: '2m',
    description: 'What an agent has not confirmed for this long is sent again; 0s never',
  }),
  staleDelete: duration({
    default: '1h',
    description: 'An unconfirmed deletion this old waits for the next resync of its agent; 0s for none',
  }),
});

export type MaestroServerConfig = Static<typeof maestroServerConfig>;
