// The process of the agents and their embedded clusters, for bench/maestro.ts. Says `ready`, then changes objects when it is told.
import { loadConfig } from '../../src/kit/config.ts';
import { createLogger } from '../../src/kit/log.ts';
import { createClient, type KubeClient } from '../../src/kube/client.ts';
import { type ClusterAccess, fixedCredential } from '../../src/kube/cluster-access.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { resource } from '../../src/kube/resource.ts';
import { issueStaticToken } from '../../src/local/kubernetes/access/static-tokens.ts';
import { start as startKubernetes } from '../../src/local/kubernetes/main.ts';
import { maestroAgentConfig } from '../../src/maestro/agent/config.ts';
import { start as startAgent } from '../../src/maestro/agent/main.ts';
import { installDefinitions } from '../../src/manifestwork/testing/workbench.ts';

/** What the driver sends: an object to change. */
export interface Change {
  readonly consumer: string;
  readonly name: string;
  readonly value: string;
}

const configMaps = resource<KubeObject & { data?: Record<string, string> }>('v1', 'ConfigMap', 'configmaps');
// Whoever started this is gone.
process.on('disconnect', () => process.exit());
const logger = createLogger({ service: 'bench', level: 'error', destination: process.stderr });
const [broker = '', ...consumers] = process.argv.slice(2);
const kubernetes = await startKubernetes({ logger, clusters: consumers, controllers: false });
const clients = new Map<string, KubeClient>();
for (const name of consumers) {
  const cluster = kubernetes.clusters.find(name);
  if (cluster === undefined) throw new Error(`there is no cluster ${name}`);
  const authority = await cluster.ca();
  const token = await issueStaticToken(cluster.objects, { user: 'admin', groups: ['system:masters'] });
  const access: ClusterAccess = {
    server: kubernetes.addresses.https ?? '',
    serverName: cluster.hostName,
    authorities: async () => authority,
    credentials: fixedCredential({ token }),
    namespace: 'default',
    origin: 'bench',
  };
  const client = createClient({ access, userAgent: 'aro/bench' });
  clients.set(name, client);
  await installDefinitions(client);
  // Ten of them share one process with their API servers: few connections each are enough to keep it busy.
  const flags = ['--consumer-name', name, '--metrics-port', '0', '--mqtt-broker-host', broker, '--workers', '4'];
  const config = loadConfig(maestroAgentConfig, {
    flags: [...flags, '--mqtt-username', 'bench'],
    env: { ARO_MQTT_PASSWORD: 'bench' },
  });
  await (await startAgent(config, { logger, access })).ready;
}
process.on('message', (message) => {
  const { consumer, name, value } = message as Change;
  void clients
    .get(consumer)
    ?.patch(configMaps, { namespace: 'default', name }, 'merge', { data: { changed: value } })
    .catch((error: unknown) => logger.error({ err: error }, 'an object could not be changed'));
});
process.send?.('ready');
