// The embedded API server with one cluster on disk, for one test file.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createLogger } from '../../kit/log.ts';
import { issueStaticToken } from '../../local/kubernetes/access/static-tokens.ts';
import { type RunningKubernetes, start } from '../../local/kubernetes/main.ts';
import { createClient } from '../client.ts';
import { type ClusterAccess, fixedCredential } from '../cluster-access.ts';
import type { SuiteServer } from './runtime-suite.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

export async function embeddedServer(t: TestContext): Promise<SuiteServer> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'aro-kube-'));
  const run = (port: number): Promise<RunningKubernetes> =>
    start({ logger, clusters: ['one'], dataDirectory, port, graceSeconds: 1, controllers: false });
  let running = await run(0);
  t.after(async () => {
    await running.stop();
    await rm(dataDirectory, { recursive: true });
  });
  const server = running.addresses.https ?? '';
  const cluster = running.clusters.find('one');
  if (!cluster) throw new Error('the cluster is not there');
  const authorities = await cluster.ca();
  const token = await issueStaticToken(cluster.objects, { user: 'admin', groups: ['system:masters'] });
  const access: ClusterAccess = {
    server,
    serverName: cluster.hostName,
    authorities: async () => authorities,
    credentials: fixedCredential({ token }),
    namespace: 'default',
    origin: 'test',
  };
  return {
    access,
    client(options = {}) {
      const made = createClient({ access, userAgent: 'aro/test', ...options });
      t.after(() => made.close());
      return made;
    },
    async restart() {
      await running.stop();
      running = await run(Number(new URL(server).port));
    },
  };
}
