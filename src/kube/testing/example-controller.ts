// A whole controller as a service, the way real ones are made: every namespace with the label `greeting` gets a config map that
// greets it. docs/kube.md explains it; example.test.ts runs it.
import { composeService } from '../../kit/lifecycle.ts';
import type { Logger } from '../../kit/log.ts';
import { createMetrics } from '../../kit/metrics.ts';
import type { Running } from '../../kit/service.ts';
import { applyOwned } from '../apply.ts';
import { createClient } from '../client.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { createManager, managerPart } from '../manager.ts';
import type { KubeObject } from '../object.ts';
import { labelsChanged } from '../predicate.ts';
import { resource } from '../resource.ts';
import { objects, owns } from '../source.ts';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

const namespaces = resource('v1', 'Namespace', 'namespaces', 'Cluster');
const configMaps = resource<ConfigMap>('v1', 'ConfigMap', 'configmaps');
const name = 'greeting';

export interface GreeterConfig {
  readonly access: ClusterAccess;
  readonly logger: Logger;
  /** Stands in the Lease; several processes stand for the same office, one of them works. */
  readonly identity?: string;
}

export function start({ access, logger, identity }: GreeterConfig): Promise<Running> {
  return composeService({ name: 'greeter', logger, graceSeconds: 5 }, async (parts) => {
    const metrics = createMetrics();
    const client = await parts.part(
      'client',
      () => createClient({ access, userAgent: 'aro/0.1 (greeter)', logger, metrics }),
      (made) => made.close(),
    );
    const manager = createManager({
      client,
      logger,
      metrics,
      leaderElection: { namespace: 'kube-system', name: 'greeter', ...(identity === undefined ? {} : { identity }) },
    });
    const wanted = manager.informers.informer(namespaces);
    const there = manager.informers.informer(configMaps, { fieldSelector: `metadata.name=${name}` });
    manager.add({
      name: 'greeter',
      sources: [objects(wanted, labelsChanged), owns(there, namespaces)],
      concurrency: 4,
      async reconcile(request, { signal }) {
        const namespace = wanted.get(request);
        if (!namespace || namespace.metadata.deletionTimestamp) return;
        const greeting = namespace.metadata.labels?.greeting;
        const key = { namespace: request.name, name };
        if (greeting === undefined) {
          if (there.get(key)) await client.delete(configMaps, key, { signal });
          return;
        }
        const owner = { resource: namespaces, object: namespace };
        const object = { metadata: key, data: { text: `${greeting}, ${request.name}` } };
        await applyOwned(client, owner, configMaps, object, { fieldManager: 'greeter', signal });
      },
    });
    await managerPart(parts, 'controllers', manager);
  });
}
