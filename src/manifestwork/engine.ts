// The engine: applies the works of a source to a cluster, keeps them applied, and writes their status when something changes.
//
// Two controllers. One looks at works: plan (work-plan.ts), record what is about to be applied (applied-record.ts), apply each
// manifest (apply-manifest.ts), remove what is not wanted any more (remove-resources.ts), report (status.ts). The other looks at
// records: it evicts those whose work is gone and tears down those being deleted (applied-lifecycle.ts). Watches on the applied
// objects (object-watches.ts) name the works to look at again.
import type { Logger } from '../kit/log.ts';
import type { Metrics } from '../kit/metrics.ts';
import type { KubeClient } from '../kube/client.ts';
import { findCondition } from '../kube/conditions.ts';
import type { ReconcileContext, Result } from '../kube/controller.ts';
import type { Informers } from '../kube/informers.ts';
import { isConflict, isInvalid, isNotFound } from '../kube/kube-error.ts';
import { createManager, type ManagerOptions } from '../kube/manager.ts';
import type { Request } from '../kube/source.ts';
import { createChannel, watches as watchSource } from '../kube/source.ts';
import { reconcileRecord } from './applied-lifecycle.ts';
import { type AgentIdentity, createRecord, nameOf } from './applied-record.ts';
import { applyWork } from './apply-work.ts';
import { createExecutorRights } from './executor.ts';
import { createObjectWatches, type WatchLimits } from './object-watches.ts';
import { appliedName, canBeRecorded } from './ownership.ts';
import { isComplete, type ManifestResult, nextStatus } from './status.ts';
import {
  type AppliedManifestWork,
  appliedManifestWorks,
  completeCondition,
  type ManifestWork,
  workFinalizer,
} from './work.ts';
import { refuseAll } from './work-plan.ts';
import type { WorkSource } from './work-source.ts';
import { createWorkStates, isOlder, type WorkState } from './work-state.ts';

export interface EngineOptions {
  /** Of the cluster that works are applied to. */
  readonly client: KubeClient;
  readonly source: WorkSource;
  /** From hubHash(): where the works come from. */
  readonly hubHash: string;
  /** The hub's hash unless given. Records of another agent are left alone. */
  readonly agentId?: string;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  /** Shared with others, who then start and stop them. */
  readonly informers?: Informers;
  readonly leaderElection?: ManagerOptions['leaderElection'];
  /** Works that are looked at at the same time; 32 unless given. */
  readonly concurrency?: number;
  /** Of one feedback value as JSON; 1 MiB unless given. */
  readonly maxJsonRawLength?: number;
  /** What is applied for a work that is not there any more is kept for this long; an hour unless given, for ever from 100 years. */
  readonly evictionGraceSeconds?: number;
  /** Every work is looked at this often, and up to half as long again, although nothing has changed; 240 unless given. */
  readonly resyncSeconds?: number;
  readonly watchLimits?: Partial<WatchLimits>;
  /** The clock, for tests. */
  readonly now?: () => number;
}

/** Starts and stops as a part of a service: see managerPart. */
export interface Engine {
  start(): void;
  stop(graceOver?: AbortSignal): Promise<void>;
  /** Throws, with what is missing, while it cannot do its work. */
  check(): void;
  /** Watches on applied objects that are open. */
  readonly openWatches: number;
}

const defaults = { concurrency: 32, maxJsonRawLength: 1024 * 1024, evictionGraceSeconds: 3600, resyncSeconds: 240 };
const firstRetrySeconds = 0.5;
/** Looks in a row that a server may leave unanswered before that is reported. */
const silentLooks = 5;
const longestRetrySeconds = 60;

export function createEngine(options: EngineOptions): Engine {
  const { client, source, logger, now = Date.now } = options;
  const settings = { ...defaults, ...options };
  const identity: AgentIdentity = { hubHash: options.hubHash, agentId: options.agentId ?? options.hubHash };
  const manager = createManager({
    client,
    logger,
    ...(options.metrics ? { metrics: options.metrics } : {}),
    ...(options.informers ? { informers: options.informers } : {}),
    ...(options.leaderElection ? { leaderElection: options.leaderElection } : {}),
  });
  const records = manager.informers.informer(appliedManifestWorks);
  const news = createChannel();
  const recordNews = createChannel();
  const states = createWorkStates((name) => {
    // While a work is torn down, its objects matter to its record.
    const isEnding = source.get(name)?.metadata.deletionTimestamp !== undefined;
    if (isEnding) recordNews.send({ namespace: '', name: recordName(name) });
    else news.send({ namespace: '', name });
  });
  const watches = createObjectWatches({
    client,
    logger,
    changed: states.changed,
    wanted: states.isWanted,
    ...(options.watchLimits ? { limits: options.watchLimits } : {}),
  });
  const rights = createExecutorRights(client);

  const recordName = (workName: string): string => appliedName(identity.hubHash, workName);

  function findRecord(workName: string, state: WorkState | undefined): AppliedManifestWork | undefined {
    const seen = records.get({ name: recordName(workName) });
    const written = state?.record;
    if (!seen || !written || seen.metadata.uid !== written.metadata.uid) return seen ?? written;
    return isOlder(seen.metadata.resourceVersion, written.metadata.resourceVersion) ? written : seen;
  }

  async function reconcileWork({ name }: Request, context: ReconcileContext): Promise<Result | undefined> {
    const { signal } = context;
    const work = source.get(name);
    if (!work) {
      states.forget(name);
      return undefined;
    }
    if (work.metadata.deletionTimestamp) return finish(work, signal);
    if (isComplete(work.status?.conditions, work.metadata.generation)) return expireInTime(work, signal);
    const held = work.metadata.finalizers?.includes(workFinalizer) ? work : await source.addFinalizer(work, signal);
    if (canBeRecorded(identity.hubHash, name)) return applyOrRefuse(held, context);
    await report(
      held,
      refuseAll(held, 'the name of the work cannot be part of the name of an AppliedManifestWork'),
      signal,
    );
    return undefined;
  }

  async function apply(work: ManifestWork, { signal, failures }: ReconcileContext): Promise<Result | undefined> {
    const name = work.metadata.name ?? '';
    const state = states.of(name);
    const known = findRecord(name, state);
    // Somebody deletes the record: it is made anew when it is gone, which its watch tells.
    if (known?.metadata.deletionTimestamp) return { requeueAfter: longestRetrySeconds };
    const outcome = await applyWork(work, state, {
      ...{ client, watches, states, rights, signal },
      async record(planned) {
        if (known) return known;
        state.recordGone = false;
        return createRecord(client, identity, work, planned, signal);
      },
      reportSilence: failures >= silentLooks,
    });
    state.record = outcome.record;
    state.lastLook = performance.now();
    state.failures = outcome.retry ? state.failures + 1 : 0;
    const waits = [
      settings.resyncSeconds * (1 + Math.random() / 2),
      ...(outcome.retry ? [Math.min(firstRetrySeconds * 2 ** (state.failures - 1), longestRetrySeconds)] : []),
      ...(outcome.againSeconds === undefined ? [] : [outcome.againSeconds]),
    ];
    const status = await report(work, outcome.results, signal);
    if (isComplete(status.conditions, work.metadata.generation)) return expireInTime({ ...work, status }, signal);
    return { requeueAfter: Math.min(...waits) };
  }

  async function report(work: ManifestWork, results: readonly ManifestResult[], signal: AbortSignal) {
    const status = nextStatus(work, results, { maxJsonRawLength: settings.maxJsonRawLength, now: now() });
    if (status !== work.status) await source.writeStatus(work, status, signal);
    return status;
  }

  /** A record that the server refuses, such as for the labels of the work, is reported like a manifest that it refuses. */
  async function applyOrRefuse(work: ManifestWork, context: ReconcileContext): Promise<Result | undefined> {
    try {
      return await apply(work, context);
    } catch (error) {
      if (!isInvalid(error)) throw error;
      await report(work, refuseAll(work, error.message), context.signal);
      return { requeueAfter: longestRetrySeconds };
    }
  }

  /** A work that has run to its end is left alone, and goes when its time is over. */
  async function expireInTime(work: ManifestWork, signal: AbortSignal): Promise<Result | undefined> {
    const ttl = work.spec?.deleteOption?.ttlSecondsAfterFinished;
    const since = findCondition(work.status?.conditions, completeCondition)?.lastTransitionTime;
    if (typeof ttl !== 'number' || since === undefined) return undefined;
    const left = (Date.parse(since) - now()) / 1000 + ttl;
    if (left > 0) return { requeueAfter: left };
    await source.expire(work, signal);
    return undefined;
  }

  /** Deletes the record, which takes the objects with it; the work goes when the record is gone, which its watch tells. */
  async function finish(work: ManifestWork, signal: AbortSignal): Promise<Result | undefined> {
    const name = work.metadata.name ?? '';
    const state = states.find(name);
    let found = findRecord(name, state);
    // A record made a moment ago may not be seen yet.
    if (!found && !state?.recordGone && canBeRecorded(identity.hubHash, name)) {
      found = await client.find(appliedManifestWorks, { name: recordName(name) }, { signal });
    }
    if (found) {
      if (found.metadata.deletionTimestamp) return { requeueAfter: longestRetrySeconds };
      const { uid } = found.metadata;
      try {
        await client.delete(appliedManifestWorks, nameOf(found), {
          signal,
          ...(uid ? { preconditions: { uid } } : {}),
        });
        return { requeueAfter: longestRetrySeconds };
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
        if (state) state.record = undefined;
        // Another one, or none: seen when its watch has caught up.
        return { requeueAfter: firstRetrySeconds };
      }
    }
    states.forget(name);
    await source.removeFinalizer(work, signal);
    return undefined;
  }

  const isOurs = (record: AppliedManifestWork): boolean => record.spec?.agentID === identity.agentId;
  const workOf = (record: AppliedManifestWork): readonly Request[] => {
    const name = record.spec?.manifestWorkName ?? '';
    return record.metadata.name === recordName(name) ? [{ namespace: '', name }] : [];
  };

  records.addHandler({
    delete(record) {
      const state = states.find(record.spec?.manifestWorkName ?? '');
      if (!state || record.metadata.name !== recordName(state.name)) return;
      if (state.record?.metadata.uid === record.metadata.uid) state.record = undefined;
      state.recordGone = state.record === undefined;
    },
  });
  manager.add({
    name: 'manifestwork',
    concurrency: settings.concurrency,
    sources: [
      source.changes,
      news.source,
      // A record that is gone is made anew, or lets its work go.
      watchSource(records, workOf, { add: () => false, update: () => false }),
    ],
    reconcile: (request, context) => reconcileWork({ ...request, namespace: '' }, context),
    backoff: { overall: { perSecond: 100, burst: 1000 } },
  });
  manager.add({
    name: 'appliedmanifestwork',
    concurrency: settings.concurrency,
    sources: [
      watchSource(records, (record) => (isOurs(record) ? [{ namespace: '', name: record.metadata.name ?? '' }] : []), {
        update: (old, record) =>
          old.metadata.deletionTimestamp !== record.metadata.deletionTimestamp ||
          old.status?.evictionStartTime !== record.status?.evictionStartTime,
        delete: () => false,
      }),
      recordNews.source,
      // A work that has come or gone decides whether its record stays.
      { begin: (enqueue) => source.changes.begin(({ name }) => enqueue({ namespace: '', name: recordName(name) })) },
    ],
    reconcile: (request, context) =>
      reconcileRecord(records.get({ name: request.name }), {
        ...{ client, source, now, signal: context.signal },
        hubHash: identity.hubHash,
        evictionGraceSeconds: settings.evictionGraceSeconds,
      }),
    backoff: { overall: { perSecond: 100, burst: 1000 } },
  });

  return {
    start: () => manager.start(),
    async stop(graceOver) {
      await manager.stop(graceOver);
      states.clear();
      await watches.stop();
    },
    check: () => manager.check(),
    get openWatches() {
      return watches.size;
    },
  };
}
