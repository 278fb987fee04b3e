// Asynchronous operations: recorded with the write that begins them, put on the clock, ended by ending.ts. Those under way when the
// process ended are put on the clock again at the start.
import { randomUUID } from 'node:crypto';
import type { Logger } from '../../../kit/log.ts';
import type { Clock } from './clock.ts';
import type { FaultEffect } from './faults.ts';
import { durationOf, type Profile } from './profiles.ts';
import type { State, StoredOperation } from './state.ts';

export interface NewOperation
  extends Pick<
    StoredOperation,
    'resourceId' | 'verb' | 'apiVersion' | 'location' | 'also' | 'gone' | 'caller' | 'query' | 'secrets'
  > {
  /** Folded full type, for how long it takes. */
  readonly type: string;
  readonly faults?: readonly FaultEffect[];
}

export interface Operations {
  /** To be written in the batch that begins it, and armed after that. */
  make(given: NewOperation): StoredOperation;
  arm(partition: string, operation: StoredOperation): void;
  /** Does its work now rather than when it is due. */
  run(partition: string, operation: StoredOperation): Promise<void>;
  /** Tells those who wait that it has ended, by its own work or by another's. */
  ended(operationId: string): void;
  /** Where an operation under way, or one that ended lately, is kept. */
  partitionOf(operationId: string): string | undefined;
  /** Resolves when it has ended. Only for operations that are under way. */
  ending(operationId: string, signal?: AbortSignal): Promise<void>;
  isUnderWay(operationId: string): boolean;
  start(): Promise<void>;
  /** Takes up nothing more and waits for what is being done. Operations under way stay so in the store. */
  stop(): Promise<void>;
  readonly isStopping: boolean;
}

export interface OperationsOptions {
  readonly state: State;
  readonly clock: Clock;
  readonly profile: () => Profile;
  readonly logger: Logger;
  /** Does the work at the end and records it. Throws only when it could not be recorded; it is called again then. */
  readonly end: (partition: string, operationId: string) => Promise<void>;
}

/** Ended operations whose place is remembered; others are looked for. */
const rememberedMax = 10_000;
const retryMs = 1000;

interface UnderWay {
  readonly partition: string;
  readonly waiting: Set<() => void>;
  cancel: () => void;
}

export function createOperations(options: OperationsOptions): Operations {
  const { state, clock, profile, logger, end } = options;
  const underWay = new Map<string, UnderWay>();
  const remembered = new Map<string, string>();
  const working = new Set<Promise<void>>();
  let isStopping = false;

  const track = (partition: string, operationId: string): UnderWay => {
    const known = underWay.get(operationId);
    if (known) return known;
    const made: UnderWay = { partition, waiting: new Set(), cancel: () => undefined };
    underWay.set(operationId, made);
    return made;
  };

  const work = async (partition: string, operationId: string): Promise<void> => {
    try {
      await end(partition, operationId);
    } catch (err) {
      if (isStopping) return;
      logger.error({ err, operationId }, 'the end of an operation could not be recorded; it is tried again');
      track(partition, operationId).cancel = clock.at(clock.now() + retryMs, () => tracked(partition, operationId));
    }
  };
  const tracked = (partition: string, operationId: string): Promise<void> => {
    if (isStopping) return Promise.resolve();
    const done = work(partition, operationId).finally(() => working.delete(done));
    working.add(done);
    return done;
  };

  const operations: Operations = {
    get isStopping() {
      return isStopping;
    },
    make({ type, faults, ...given }) {
      const now = clock.now();
      const fault = faultOf(faults);
      return {
        kind: 'operation',
        operationId: randomUUID(),
        status: 'Running',
        ...given,
        startTime: new Date(now).toISOString(),
        dueAt: now + durationOf(profile(), type, given.verb),
        ...(fault === undefined ? {} : { fault }),
      };
    },
    arm(partition, { operationId, dueAt, fault }) {
      if (isStopping) return;
      const entry = track(partition, operationId);
      if (fault?.kind !== 'stuck') entry.cancel = clock.at(dueAt, () => tracked(partition, operationId));
    },
    async run(partition, { operationId }) {
      track(partition, operationId);
      await tracked(partition, operationId);
    },
    ended(operationId) {
      const entry = underWay.get(operationId);
      if (!entry) return;
      underWay.delete(operationId);
      entry.cancel();
      remembered.set(operationId, entry.partition);
      const [oldest] = remembered.keys();
      if (remembered.size > rememberedMax && oldest !== undefined) remembered.delete(oldest);
      for (const tell of entry.waiting) tell();
    },
    partitionOf: (operationId) => underWay.get(operationId)?.partition ?? remembered.get(operationId),
    isUnderWay: (operationId) => underWay.has(operationId),
    ending(operationId, signal) {
      const entry = underWay.get(operationId);
      if (!entry) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const settle = (): void => {
          entry.waiting.delete(settle);
          signal?.removeEventListener('abort', abort);
          resolve();
        };
        const abort = (): void => {
          entry.waiting.delete(settle);
          reject(signal?.reason);
        };
        if (signal?.aborted) return abort();
        signal?.addEventListener('abort', abort, { once: true });
        entry.waiting.add(settle);
      });
    },
    async start() {
      let continuation: string | undefined;
      do {
        const page = await state.query({
          filter: { op: 'eq', field: ['status'], value: 'Running' },
          limit: 1000,
          ...(continuation === undefined ? {} : { continuation }),
        });
        for (const { partition, body } of page.documents)
          if (body.kind === 'operation') operations.arm(partition, body);
        continuation = page.continuation;
      } while (continuation !== undefined);
    },
    async stop() {
      isStopping = true;
      for (const entry of underWay.values()) entry.cancel();
      for (const entry of underWay.values()) for (const tell of entry.waiting) tell();
      await Promise.allSettled(working);
    },
  };
  return operations;
}

function faultOf(faults: readonly FaultEffect[] | undefined): StoredOperation['fault'] {
  for (const effect of faults ?? []) {
    if (effect.kind === 'stuck') return { kind: 'stuck' };
    if (effect.kind === 'failedOperation')
      return {
        kind: 'fail',
        code: effect.code,
        message: effect.message ?? `This failure was asked for (${effect.code}).`,
      };
  }
  return undefined;
}

/** Whether the faults of a call are about the operation that it starts, so that it must start one. */
export function concernsOperation(faults: readonly FaultEffect[] | undefined): boolean {
  return faultOf(faults) !== undefined;
}
