// A server with one cluster under the controllers' care, a clock that the test moves, and nodes if asked for.
import type { TestContext } from 'node:test';
import { createLogger } from '../../../../kit/log.ts';
import type { HostedCluster } from '../../clusters.ts';
import { addNode, type NewNode } from '../../kubelet/add-node.ts';
import type { KubeletOptions } from '../../kubelet/kubelet.ts';
import { type KubernetesConfig, type RunningKubernetes, start } from '../../main.ts';
import type { KubeObject } from '../../object.ts';
import type { DeleteOptions } from '../../registry/registry.ts';
import { type Hands, handsOf, type NewObject } from '../hands.ts';
import type { Kind } from '../kinds.ts';

export interface Controlled {
  readonly running: RunningKubernetes;
  readonly cluster: HostedCluster;
  /** Reads and writes as an administrator. */
  readonly hands: Hands;
  readonly clock: { now: number };
  /** Creates an object, then lets the controllers do what they have to. */
  create<T extends KubeObject>(kind: Kind<T>, namespace: string, object: NewObject): Promise<T>;
  /** Changes an object as it is now. */
  change<T extends KubeObject>(
    kind: Kind<T>,
    namespace: string,
    name: string,
    change: (object: T) => void,
    subresource?: string,
  ): Promise<T>;
  remove(kind: Kind<KubeObject>, namespace: string, name: string, options?: DeleteOptions): Promise<void>;
  /** Settles when nothing is left to do at this time. */
  settle(): Promise<void>;
  /** Moves the clock on, second by second, letting things happen at each. */
  pass(seconds: number): Promise<void>;
  /** The object as it is now; fails when it is not there. */
  read<T extends KubeObject>(kind: Kind<T>, namespace: string, name: string): T;
}

const silent = createLogger({ service: 'test', level: 'silent' });
/** Whole seconds, like the times in objects. */
const firstMoment = Date.UTC(2026, 0, 1, 0, 0, 0);

export interface ControlledOptions {
  readonly kubelet?: KubeletOptions | false;
  readonly nodes?: readonly (NewNode | string)[];
  readonly config?: Partial<KubernetesConfig>;
  readonly clock?: { now: number };
}

export async function controlled(t: TestContext, options: ControlledOptions = {}): Promise<Controlled> {
  const clock = options.clock ?? { now: firstMoment };
  const running = await start({
    logger: silent,
    clusters: ['one'],
    graceSeconds: 1,
    now: () => clock.now,
    controllers: { kubelet: options.kubelet ?? { pace: 'instant' } },
    ...options.config,
  });
  t.after(() => running.stop());
  const cluster = running.clusters.find('one');
  if (!cluster || !running.controllers) throw new Error('the server came without its cluster');
  const { controllers } = running;
  await cluster.firstUse();
  for (const node of options.nodes ?? []) await addNode(cluster, typeof node === 'string' ? { name: node } : node);
  const admin = { name: 'test', manager: 'kubectl', user: 'admin', triggers: {}, reconcile: () => undefined };
  const hands = handsOf(cluster, admin, controllers.recorder);

  async function settle(): Promise<void> {
    // A change of this turn reaches the controllers after its commit.
    for (let quiet = 0; quiet < 2; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      await controllers.settled();
    }
  }

  await settle();
  return {
    running,
    cluster,
    hands,
    clock,
    async create(kind, namespace, object) {
      const made = await hands.create(kind, namespace, object);
      await settle();
      return made;
    },
    async change<T extends KubeObject>(
      kind: Kind<T>,
      namespace: string,
      name: string,
      change: (object: T) => void,
      subresource = '',
    ) {
      const found = hands.get(kind, namespace, name);
      if (!found) throw new Error(`there is no ${kind.type.kind} ${name}`);
      const copy = structuredClone(found);
      change(copy);
      const stored = await hands.update(kind, copy, subresource);
      await settle();
      return stored;
    },
    async remove(kind, namespace, name, how = {}) {
      await cluster.registry.delete(hands.context, kind.type, { namespace, name }, how);
      await settle();
    },
    settle,
    async pass(seconds) {
      for (let passed = 0; passed < seconds; passed += 1) {
        clock.now += 1000;
        controllers.tick();
        await settle();
      }
    },
    read<T extends KubeObject>(kind: Kind<T>, namespace: string, name: string) {
      const found = hands.get(kind, namespace, name);
      if (!found) throw new Error(`there is no ${kind.type.kind} ${namespace}/${name}`);
      return found;
    },
  };
}

/** A pod template with one container. */
export const template = (
  labels: Record<string, string>,
  more: Record<string, unknown> = {},
  image = 'registry.local/web:1',
) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'main', image }], ...more },
});

export const deploymentOf = (name: string, replicas: number, more: Record<string, unknown> = {}): NewObject => ({
  metadata: { name, labels: { app: name } },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: template({ app: name }), ...more },
});
