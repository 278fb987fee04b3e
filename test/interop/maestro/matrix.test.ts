// Our server with our agent, over the embedded broker and over gRPC. Other brokers and the Go pair: matrix.real.test.ts.
import { test } from 'node:test';
import { embeddedServer } from '../../../src/kube/testing/embedded-server.ts';
import { installDefinitions } from '../../../src/manifestwork/testing/workbench.ts';
import { embeddedBroker } from './brokers.ts';
import { ourAgent, ourServer } from './ours.ts';
import { scenarios } from './scenarios.ts';
import { tcpProxy } from './tcp-proxy.ts';
import { consumer } from './world.ts';

test('our server and our agent over MQTT', async (t) => {
  const kube = await embeddedServer(t);
  const cluster = kube.client();
  await installDefinitions(cluster);
  const broker = await embeddedBroker(t, [consumer]);
  const network = await tcpProxy(t, broker.host);
  const server = await ourServer(t, broker.host);
  const agent = await ourAgent(t, kube.access, { mqtt: network.address });
  const peers = { ...server, cluster, network, broker: broker.host, restartAgent: agent.restart };
  await scenarios(t, peers, { many: 1000 });
});

test('our server and our agent over gRPC', async (t) => {
  const kube = await embeddedServer(t);
  const cluster = kube.client();
  await installDefinitions(cluster);
  const server = await ourServer(t, undefined);
  const network = await tcpProxy(t, server.grpcBroker);
  const agent = await ourAgent(t, kube.access, { grpc: network.address });
  await scenarios(t, { ...server, cluster, network, restartAgent: agent.restart }, { many: 200 });
});
