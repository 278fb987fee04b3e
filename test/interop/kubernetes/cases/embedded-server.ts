// A connection to an embedded server that goes with it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../../../src/kit/log.ts';
import { issueStaticToken } from '../../../../src/local/kubernetes/access/static-tokens.ts';
import { type RunningKubernetes, start } from '../../../../src/local/kubernetes/main.ts';
import { openWire, type Wire } from './wire.ts';

export interface EmbeddedServer {
  readonly wire: Wire;
  stop(): Promise<void>;
}

const logger = createLogger({ service: 'conformance', level: 'silent' });

const startOn = (dataDirectory: string | undefined): Promise<RunningKubernetes> =>
  start({
    logger,
    clusters: ['one'],
    graceSeconds: 1,
    controllers: false,
    ...(dataDirectory === undefined ? {} : { dataDirectory }),
  });

/** Starts a server without controllers; `again`: one that has been started before, and so has forgotten how things changed. */
export async function startEmbeddedServer(again = false): Promise<EmbeddedServer> {
  const folder = again ? await mkdtemp(join(tmpdir(), 'embedded-kubernetes-')) : undefined;
  if (folder !== undefined) {
    const before = await startOn(folder);
    await before.clusters.find('one')?.firstUse();
    await before.stop();
  }
  const running = await startOn(folder);
  const cluster = running.clusters.find('one');
  if (!cluster) throw new Error('there is no cluster');
  const token = await issueStaticToken(cluster.objects, { user: 'admin', groups: ['system:masters'] });
  const wire = await openWire(running.addresses.https ?? '', token.reveal(), {
    servername: cluster.hostName,
    ca: await cluster.ca(),
  });
  return {
    wire,
    async stop() {
      wire.close();
      await running.stop();
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
