// The works of this agent: takes what the server says of bundles, whatever the order it comes in and however often, and gives the
// engine the works to apply.
import type { Logger } from '../../kit/log.ts';
import { timeText } from '../../kube/time.ts';
import { createMemorySource, type MemorySource } from '../../manifestwork/memory-source.ts';
import type { ManifestWork } from '../../manifestwork/work.ts';
import type { WorkSource } from '../../manifestwork/work-source.ts';
import { checkBundleSize } from '../protocol/bundle-data.ts';
import type { SpecMessage } from '../protocol/messages.ts';
import type { ResourceVersion } from '../protocol/resync.ts';
import { isDeletion, workName, workOf } from './bundle-work.ts';
import type { AgentState } from './state.ts';

/** What became of a message; a bounded set, for a metric. */
export type SpecOutcome =
  | 'added'
  | 'changed'
  | 'deleting'
  /** The version that is there already: its sender lacks the status. */
  | 'known'
  /** An older version, or an event of a life of the bundle that is over. */
  | 'stale'
  /** Not a bundle that can be applied. The status says why. */
  | 'refused';

export interface Works {
  readonly source: WorkSource;
  take(message: SpecMessage): SpecOutcome;
  /** By id. Also works that are not applied: those refused, and those whose time is over. */
  get(id: string): ManifestWork | undefined;
  list(): readonly ManifestWork[];
  /** What the agent has, for the server to say what it lacks. */
  versions(): readonly ResourceVersion[];
  /** The server has said everything it has. */
  setComplete(complete: boolean): void;
}

export interface WorksOptions {
  readonly logger: Logger;
  readonly state: AgentState;
  /** The status of a work is to be reported. */
  readonly onStatus: (id: string) => void;
  /** A bundle's objects are gone, and the work with them. */
  readonly onDeleted: (work: ManifestWork) => void;
  /** A bundle that was gone, or was never there, is there. */
  readonly onAdded: (id: string) => void;
}

/** Ids of events of one work that are remembered, to know them again when they come late or twice. */
const maxEvents = 16;
/** Works that are gone whose events are remembered. */
const maxGone = 10_000;

export function createWorks(options: WorksOptions): Works {
  const { state } = options;
  const names = new Map<string, string>();
  /** Works that the engine does not get, by id. */
  const held = new Map<string, ManifestWork>();
  const events = new Map<string, string[]>();
  const gone = new Map<string, readonly string[]>();
  const expired = new Set<string>();

  const memory: MemorySource = createMemorySource({
    statusWritten: ({ metadata }) => options.onStatus(metadata.uid ?? ''),
    finalized,
    expired: ({ metadata }) => expired.add(metadata.uid ?? ''),
  });

  function finalized(work: ManifestWork): void {
    const { uid = '', name = '' } = work.metadata;
    memory.remove(name);
    names.delete(uid);
    if (expired.delete(uid)) {
      const { deletionTimestamp: _, ...metadata } = work.metadata;
      held.set(uid, { ...work, metadata });
      return;
    }
    bury(uid);
    options.onDeleted(work);
  }

  function bury(id: string): void {
    gone.delete(id);
    gone.set(id, events.get(id) ?? []);
    events.delete(id);
    for (const [oldest] of gone) {
      if (gone.size <= maxGone) break;
      gone.delete(oldest);
    }
  }

  function remember(id: string, event: string): void {
    const seen = events.get(id) ?? [];
    seen.push(event);
    if (seen.length > maxEvents) seen.shift();
    events.set(id, seen);
  }

  const inMemory = (id: string): ManifestWork | undefined => memory.get(names.get(id) ?? '');
  const get = (id: string): ManifestWork | undefined => held.get(id) ?? inMemory(id);

  function takeDeletion(message: SpecMessage): SpecOutcome {
    const { resourceId: id } = message;
    held.delete(id);
    expired.delete(id);
    state.forgetExpired(id);
    const known = inMemory(id);
    if (known?.metadata.deletionTimestamp !== undefined) return 'known';
    const asked = workOf(message);
    // The spec stays: how the objects go is in it.
    const work =
      known === undefined
        ? asked
        : {
            ...known,
            metadata: {
              ...known.metadata,
              deletionTimestamp: asked.metadata.deletionTimestamp ?? timeText(Date.now()),
            },
          };
    names.set(id, work.metadata.name ?? id);
    memory.put(work);
    return 'deleting';
  }

  /** Keeps a work from the engine, with a status that says why. */
  function refuse(message: SpecMessage, why: string): SpecOutcome {
    const work = workOf(message);
    const condition = {
      type: 'Applied',
      status: 'False',
      reason: 'AppliedManifestWorkFailed',
      message: why,
      observedGeneration: message.resourceVersion,
      lastTransitionTime: timeText(Date.now()),
    } as const;
    held.set(message.resourceId, { ...work, status: { conditions: [condition], resourceStatus: { manifests: [] } } });
    options.onStatus(message.resourceId);
    options.logger.warn({ bundle: message.resourceId, why }, 'a bundle was refused');
    return 'refused';
  }

  function takeSpec(message: SpecMessage): SpecOutcome {
    const { resourceId: id, resourceVersion: version } = message;
    const known = get(id);
    if (known === undefined && gone.get(id)?.includes(message.id)) return 'stale';
    if (known !== undefined) {
      const { generation = 0, deletionTimestamp } = known.metadata;
      // It goes; when it has gone the server is told, and sends it again if it should be there.
      if (deletionTimestamp !== undefined) return 'stale';
      if (version !== 0 && version < generation) return 'stale';
      if (version !== 0 && version === generation) {
        options.onStatus(id);
        return 'known';
      }
    }
    remember(id, message.id);
    const size = message.bundle === undefined ? undefined : checkBundleSize(message.bundle);
    if (size === undefined || !size.ok) return refuse(message, size?.refusal.message ?? 'the bundle has no manifests');
    const name = workName(message);
    const other = memory.get(name);
    if (other !== undefined && other.metadata.uid !== id) {
      return refuse(message, `the name ${name} is that of another bundle`);
    }
    const work = workOf(message);
    if (state.isExpired(id, version)) {
      held.set(id, work);
      return 'known';
    }
    held.delete(id);
    state.forgetExpired(id);
    const before = names.get(id);
    names.set(id, name);
    memory.put(work);
    if (before !== undefined && before !== name) memory.remove(before);
    if (known !== undefined) return 'changed';
    gone.delete(id);
    options.onAdded(id);
    return 'added';
  }

  const source: WorkSource = {
    changes: memory.changes,
    get: memory.get,
    get complete() {
      return memory.complete;
    },
    addFinalizer: memory.addFinalizer,
    removeFinalizer: memory.removeFinalizer,
    writeStatus: memory.writeStatus,
    async expire(work, signal) {
      const { uid = '', generation = 0 } = work.metadata;
      // Written first: after a restart it must not be run again.
      await state.addExpired(uid, generation, signal);
      await memory.expire(work, signal);
    },
  };

  return {
    source,
    get,
    take: (message) => (isDeletion(message) ? takeDeletion(message) : takeSpec(message)),
    list: () => [...memory.list().filter(({ metadata }) => !held.has(metadata.uid ?? '')), ...held.values()],
    versions() {
      return this.list().map(({ metadata: { uid = '', generation = 0 } }) => ({
        resourceID: uid,
        resourceVersion: generation,
      }));
    },
    setComplete: memory.setComplete,
  };
}
