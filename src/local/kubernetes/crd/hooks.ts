// Where custom resources come into a cluster's life.
import type { WebhookCaller } from '../admission/webhook-call.ts';
import type { ClusterHooks, HostedCluster } from '../clusters.ts';
import { serveDefinitions } from './serve-definitions.ts';

/** The hooks given, with those that serve the definitions of a cluster before them. `webhooks` converts between versions. */
export function withDefinitions(hooks: ClusterHooks = {}, webhooks?: WebhookCaller): ClusterHooks {
  const serving = new WeakMap<HostedCluster, () => void>();
  return {
    ...hooks,
    firstUse: [
      (cluster) => {
        if (!serving.has(cluster)) serving.set(cluster, serveDefinitions(cluster, webhooks));
      },
      ...(hooks.firstUse ?? []),
    ],
    removed: [(cluster) => serving.get(cluster)?.(), ...(hooks.removed ?? [])],
  };
}
