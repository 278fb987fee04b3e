// The matrix over Mosquitto: our server with our agent, and where MAESTRO_BIN is set each of ours with the other in Go.
import { type TestContext, test } from 'node:test';
import { stringify } from 'yaml';
import type { ClusterAccess } from '../../../src/kube/cluster-access.ts';
import { embeddedServer } from '../../../src/kube/testing/embedded-server.ts';
import { realServer } from '../../../src/kube/testing/real-server.ts';
import { installDefinitions } from '../../../src/manifestwork/testing/workbench.ts';
import { findPeer, needs } from '../../peers.ts';
import { mosquitto } from './brokers.ts';
import { goAgent, goServer } from './go.ts';
import { ourAgent, ourServer } from './ours.ts';
import { scenarios } from './scenarios.ts';
import { tcpProxy } from './tcp-proxy.ts';

/** A real API server where there is one, else the embedded one, with a broker and a network to it that can be cut. */
async function ground(t: TestContext, program: string) {
  const kube = findPeer('kube');
  const server = 'path' in kube ? await realServer(t, kube.path) : await embeddedServer(t);
  const cluster = server.client();
  await installDefinitions(cluster);
  const broker = await mosquitto(t, program);
  const network = await tcpProxy(t, broker.host);
  return { access: server.access, cluster, broker: broker.host, network };
}

test('our server and our agent over Mosquitto', async (t) => {
  const program = needs(t, 'mosquitto');
  if (program === undefined) return;
  const { access, ...rest } = await ground(t, program);
  const server = await ourServer(t, rest.broker);
  const agent = await ourAgent(t, access, { mqtt: rest.network.address });
  await scenarios(t, { ...rest, ...server, restartAgent: agent.restart }, { many: 1000 });
});

test('the server in Go and our agent', async (t) => {
  const [program, maestro] = [needs(t, 'mosquitto'), needs(t, 'maestro')];
  if (program === undefined || maestro === undefined) return;
  const { access, ...rest } = await ground(t, program);
  const server = await goServer(t, maestro, rest.broker);
  const agent = await ourAgent(t, access, { mqtt: rest.network.address });
  await scenarios(t, { ...rest, ...server, restartAgent: agent.restart }, { many: 1000 });
});

test('our server and the agent in Go', async (t) => {
  const [program, maestro] = [needs(t, 'mosquitto'), needs(t, 'maestro')];
  if (program === undefined || maestro === undefined) return;
  const { access, ...rest } = await ground(t, program);
  const server = await ourServer(t, rest.broker);
  const agent = await goAgent(t, maestro, { broker: rest.network.address, kubeconfig: await kubeconfigOf(access) });
  await scenarios(t, { ...rest, ...server, restartAgent: agent.restart }, { many: 1000 });
});

async function kubeconfigOf(access: ClusterAccess): Promise<string> {
  const { token } = await access.credentials.current();
  const authority = (await access.authorities?.()) ?? '';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    clusters: [
      {
        name: 'test',
        cluster: {
          server: access.server,
          'certificate-authority-data': Buffer.from(authority).toString('base64'),
          ...(access.serverName === undefined ? {} : { 'tls-server-name': access.serverName }),
        },
      },
    ],
    users: [{ name: 'test', user: { token: token?.reveal() ?? '' } }],
  });
}
