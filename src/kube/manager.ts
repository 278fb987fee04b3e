// Composes controllers, the informers they share, leader election and readiness into one part of a service.
import type { Parts } from '../kit/lifecycle.ts';
import type { Logger } from '../kit/log.ts';
import type { Metrics } from '../kit/metrics.ts';
import type { KubeClient } from './client.ts';
import { type Controller, type ControllerOptions, createController } from './controller.ts';
import { createInformers, type Informers } from './informers.ts';
import { type LeaderElection, type LeaderElectionOptions, runLeaderElection } from './leader-election.ts';
import { resourceText } from './resource.ts';

export type ManagedController = Omit<ControllerOptions, 'logger' | 'metrics'>;

export interface ManagerOptions {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  /** Controllers run only while this process leads; without it they run at once. */
  readonly leaderElection?: Omit<LeaderElectionOptions, 'client' | 'logger'>;
  /** Shared with others, who then start and stop them; of its own unless given. */
  readonly informers?: Informers;
}

export interface Manager {
  readonly informers: Informers;
  /** Before the start only. */
  add(controller: ManagedController): void;
  /**
   * Starts the informers, and the controllers as soon as this process leads. Informers run also while another process leads, so
   * that taking over takes no time. When leadership is lost, every reconcile is aborted, and the controllers begin again when
   * this process leads again.
   */
  start(): void;
  /** Lets reconciles under way end, or aborts them when `graceOver` fires; then lets go of the lease. */
  stop(graceOver?: AbortSignal): Promise<void>;
  readonly leading: boolean;
  /** Throws, with what is missing, while it cannot do its work. Waiting for the lease is doing its work. */
  check(): void;
}

export function createManager(options: ManagerOptions): Manager {
  const { client, logger, metrics } = options;
  const own = options.informers === undefined;
  const informers = options.informers ?? createInformers({ client, logger, ...(metrics ? { metrics } : {}) });
  const controllers: Controller[] = [];
  let election: LeaderElection | undefined;
  let state: 'new' | 'running' | 'stopping' = 'new';

  const startAll = (): void => {
    if (state !== 'running') return;
    for (const controller of controllers) controller.start();
  };

  return {
    informers,
    get leading() {
      return options.leaderElection ? (election?.leading ?? false) : state === 'running';
    },
    add(controller) {
      if (state !== 'new') throw new TypeError(`controller ${controller.name} was added after the start`);
      if (controllers.some(({ name }) => name === controller.name)) {
        throw new TypeError(`there are two controllers named ${controller.name}`);
      }
      controllers.push(createController({ ...controller, logger, ...(metrics ? { metrics } : {}) }));
    },
    start() {
      if (state !== 'new') return;
      state = 'running';
      if (own) informers.start();
      if (!options.leaderElection) return startAll();
      election = runLeaderElection(
        { ...options.leaderElection, client, logger },
        {
          lead: startAll,
          resign: async () => {
            await Promise.all(controllers.map((controller) => controller.stop({ abort: true })));
          },
        },
      );
    },
    async stop(graceOver) {
      state = 'stopping';
      // The lease is renewed until the last reconcile has ended, so that nobody takes over in the middle of one.
      await Promise.all(controllers.map((controller) => controller.stop(graceOver ? { graceOver } : {})));
      await election?.stop();
      if (own) await informers.stop();
    },
    check() {
      if (state !== 'running') throw new Error('controllers are not running');
      for (const informer of informers.all()) {
        const why = informer.problem instanceof Error ? `: ${informer.problem.message}` : '';
        if (!informer.synced) throw new Error(`${resourceText(informer.resource)} has not been read yet${why}`);
        if (informer.problem !== undefined)
          throw new Error(`${resourceText(informer.resource)} cannot be followed${why}`);
      }
    },
  };
}

/** Adds a manager to a service: its start, its stop within the grace period, and its readiness. */
export async function managerPart(parts: Parts, name: string, manager: Manager): Promise<void> {
  await parts.part(
    name,
    () => {
      manager.start();
      return manager;
    },
    (running, graceOver) => running.stop(graceOver),
  );
  parts.addReadiness(name, () => manager.check());
}
