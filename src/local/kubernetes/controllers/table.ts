// Every controller there is, by what it is for.
import { createKubelet, type KubeletOptions } from '../kubelet/kubelet.ts';
import type { Controller } from './controller.ts';
import { deploymentController } from './deployment/deployment.ts';
import { garbageCollector } from './garbage-collector.ts';
import { rootCaPublisher, serviceAccountsController } from './namespace-contents.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { replicaSetController } from './replica-set.ts';
import { scheduler } from './scheduler/scheduler.ts';

export interface ControllersConfig {
  /** False where somebody else schedules. */
  readonly scheduler?: boolean;
  /** False where nodes are real. */
  readonly kubelet?: KubeletOptions | false;
}

const always: readonly Controller[] = [
  namespaceLifecycle,
  garbageCollector,
  serviceAccountsController,
  rootCaPublisher,
  deploymentController,
  replicaSetController,
];

export function controllersOf({ scheduler: schedules = true, kubelet = {} }: ControllersConfig): readonly Controller[] {
  const simulated = kubelet === false ? undefined : createKubelet(kubelet);
  return [...always, ...(schedules ? [scheduler] : []), ...(simulated ? [simulated.nodes, simulated.pods] : [])];
}
