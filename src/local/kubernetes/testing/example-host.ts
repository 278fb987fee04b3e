// A host that uses what is particular to the embedded Kubernetes. docs/embedded-kubernetes.md explains it; example.test.ts runs it.
import type { Logger } from '../../../kit/log.ts';
import type { OidcIssuer } from '../access/oidc.ts';
import { addNode } from '../kubelet/add-node.ts';
import type { Stage } from '../kubelet/stage.ts';
import { type RunningKubernetes, start } from '../main.ts';
import { createLineLog, type LineLog } from '../stream/line-log.ts';
import { createPodBackends } from '../stream/pod-backends.ts';

/** Pods with the label `flaky: "yes"` fail two seconds after they began to run. */
const flaky: Stage = {
  name: 'flaky',
  match: { at: ['running', 'ready'], labels: { flaky: 'yes' } },
  delay: { ms: 2000 },
  next: { outcome: 'failed', events: [{ type: 'Warning', reason: 'Flaked', message: 'It did again' }] },
};

export interface ExampleConfig {
  readonly logger: Logger;
  /** A service of this process, which listens here. */
  readonly service: { readonly host: string; readonly port: number };
  readonly issuers: readonly OidcIssuer[];
}

export interface ExampleHost {
  readonly running: RunningKubernetes;
  /** What `kubectl logs rp-0` shows. */
  readonly log: LineLog;
  /** Where `one` answers clients that send no server name. */
  readonly url: string;
}

export async function startExample({ logger, service, issuers }: ExampleConfig): Promise<ExampleHost> {
  const backends = createPodBackends();
  const running = await start({
    logger,
    clusters: ['one'],
    podBackends: backends,
    oidc: (cluster) => (cluster === 'one' ? issuers : []),
    controllers: {
      kubelet: { pace: 'instant', stages: [flaky] },
      loadBalancerAddress: (_cluster, { spec }) => (spec.type === 'LoadBalancer' ? '192.0.2.10' : undefined),
    },
  });
  const one = running.clusters.create('one');
  await addNode(one, { name: 'node-1', labels: { zone: 'a' } });

  const log = createLineLog();
  backends.register(
    { cluster: 'one', namespace: 'default', pod: 'rp-0', container: 'rp' },
    { logs: () => log, ports: new Map([[8443, service]]) },
  );
  return { running, log, url: await running.ownPort(one) };
}
