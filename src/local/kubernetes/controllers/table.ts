// Every controller there is, by what it is for.
import { createKubelet, type KubeletOptions } from '../kubelet/kubelet.ts';
import { certificateController } from './certificates.ts';
import type { Controller } from './controller.ts';
import { daemonSetController } from './daemon-set.ts';
import { deploymentController } from './deployment/deployment.ts';
import { disruptionController } from './disruption.ts';
import { endpointSliceController, endpointsController } from './endpoints.ts';
import { eventExpiry } from './event-expiry.ts';
import { garbageCollector } from './garbage-collector.ts';
import { cronJobController } from './job/cron-job.ts';
import { jobController } from './job/job.ts';
import { type LoadBalancerAddress, loadBalancersController } from './load-balancers.ts';
import { rootCaPublisher, serviceAccountsController } from './namespace-contents.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { nodeLifecycle, taintEviction } from './node-lifecycle.ts';
import { podGarbageCollector } from './pod-gc.ts';
import { policyStatusController } from './policy-status.ts';
import { replicaSetController } from './replica-set.ts';
import { scheduler } from './scheduler/scheduler.ts';
import { statefulSetController } from './stateful-set.ts';
import { claimBinder, volumeReclaimer } from './volumes.ts';

export interface ControllersConfig {
  /** False where somebody else schedules. */
  readonly scheduler?: boolean;
  /** False where nodes are real. */
  readonly kubelet?: KubeletOptions | false;
  /** Where services of type LoadBalancer are reached from outside; left out, they stay pending. */
  readonly loadBalancerAddress?: LoadBalancerAddress;
}

const always: readonly Controller[] = [
  namespaceLifecycle,
  garbageCollector,
  serviceAccountsController,
  rootCaPublisher,
  deploymentController,
  replicaSetController,
  statefulSetController,
  daemonSetController,
  jobController,
  cronJobController,
  endpointsController,
  endpointSliceController,
  certificateController,
  nodeLifecycle,
  taintEviction,
  podGarbageCollector,
  disruptionController,
  claimBinder,
  volumeReclaimer,
  eventExpiry,
  policyStatusController,
];

export function controllersOf(config: ControllersConfig): readonly Controller[] {
  const { scheduler: schedules = true, kubelet = {}, loadBalancerAddress } = config;
  const simulated = kubelet === false ? undefined : createKubelet(kubelet);
  return [
    ...always,
    ...(loadBalancerAddress ? [loadBalancersController(loadBalancerAddress)] : []),
    ...(schedules ? [scheduler] : []),
    ...(simulated ? [simulated.nodes, simulated.pods] : []),
  ];
}
