// The agent's configuration. docs/maestro-agent.md explains it.
import { type Static, Type } from 'typebox';
import { bytes, duration, secret } from '../../kit/config-schema.ts';
import { defaultSourceId } from '../protocol/topics.ts';

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));
const address = '^[^/@\\s]+:\\d{1,5}$';
const certificates = {
  caFile: text('PEM file of who may vouch for the other side; makes the connection TLS'),
  clientCertFile: text('PEM file of the client certificate'),
  clientKeyFile: text('PEM file of its key'),
};

export const maestroAgentConfig = Type.Object({
  consumerName: Type.String({ pattern: '^[a-z0-9-]{1,63}$', description: 'The consumer whose bundles are applied' }),
  agentId: text(
    'The id of this agent in events, and the beginning of its MQTT client id; <consumer>-work-agent unless given',
  ),
  sourceId: Type.String({
    pattern: '^[a-z0-9-]{1,63}$',
    default: defaultSourceId,
    description: 'The id of the server, as in the topics',
  }),
  kubeconfig: text('File; the usual places unless given'),
  stateNamespace: text('Where the agent keeps its ConfigMap; its own namespace unless given'),
  mqtt: Type.Optional(
    Type.Object({
      brokerHost: Type.String({ pattern: address, description: 'host:port of the MQTT broker' }),
      username: text('User at the broker'),
      password: Type.Optional(secret({ description: 'Password at the broker' })),
      ...certificates,
      keepAlive: duration({
        default: '60s',
        minimumSeconds: 1,
        maximumSeconds: 65_535,
        description: 'MQTT keep-alive',
      }),
      topics: Type.Optional(
        Type.Object({
          sourceEvents: Type.String({ description: 'sources/maestro/consumers/<consumer>/sourceevents' }),
          agentEvents: Type.String({ description: 'sources/maestro/consumers/<consumer>/agentevents' }),
          sourceBroadcast: text('sources/+/sourcebroadcast'),
          agentBroadcast: text('clusters/+/agentbroadcast'),
        }),
      ),
    }),
  ),
  grpc: Type.Optional(
    Type.Object({
      url: Type.String({ pattern: address, description: "host:port of the server's gRPC broker" }),
      ...certificates,
      tokenFile: text('File of a bearer token, read for every call'),
      serverHealthinessTimeout: duration({
        default: '20s',
        description: 'The server may be silent this long; 0s for one that sends no heartbeats',
      }),
    }),
  ),
  workers: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 32,
    description: 'Works looked at at the same time, and connections to the cluster for them',
  }),
  maxJsonRawLength: bytes({ default: '1MiB', description: 'Of one feedback value' }),
  evictionGrace: duration({
    default: '60m',
    description: 'How long what was applied for a bundle that is not there any more is kept',
  }),
  resync: duration({ default: '4m', description: 'How often every work is looked at although nothing has changed' }),
  host: Type.String({ default: '127.0.0.1', description: 'The address that metrics and health bind' }),
  metrics: Type.Object({
    port: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080, description: '/metrics, /healthz and /readyz' }),
  }),
});

export type MaestroAgentConfig = Static<typeof maestroAgentConfig>;
