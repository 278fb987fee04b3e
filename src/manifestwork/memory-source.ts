// Works that are kept in memory, for an agent that gets them as messages.
import { createChannel } from '../kube/source.ts';
import { timeText } from '../kube/time.ts';
import { type ManifestWork, type ManifestWorkStatus, workFinalizer } from './work.ts';
import type { WorkSource } from './work-source.ts';

/** What the agent is told. Each is called after the change can be read. */
export interface MemorySourceEvents {
  /** The status has changed. */
  statusWritten(work: ManifestWork): void;
  /** A work that is being deleted has no objects any more: it can be reported as deleted and removed. */
  finalized(work: ManifestWork): void;
  /** A work was deleted because its time is over; `finalized` follows when its objects are gone. */
  expired?(work: ManifestWork): void;
}

export interface MemorySource extends WorkSource {
  /**
   * Adds a work, or changes it. A work of the same name and uid keeps its finalizers, its status and its deletion time; with
   * another uid it is another work.
   */
  put(work: ManifestWork): void;
  /** Forgets a work. What it has applied is evicted later, unless it was finalized. */
  remove(name: string): void;
  list(): readonly ManifestWork[];
  /** All works are known now. */
  setComplete(complete: boolean): void;
}

export function createMemorySource(events: MemorySourceEvents, now: () => number = Date.now): MemorySource {
  const works = new Map<string, ManifestWork>();
  const channel = createChannel();
  let complete = false;

  const tell = (name: string): void => channel.send({ namespace: '', name });

  function change(work: ManifestWork, changed: Partial<ManifestWork>): ManifestWork {
    const name = work.metadata.name ?? '';
    const current = works.get(name);
    if (!current || current.metadata.uid !== work.metadata.uid) throw new Error(`the work ${name} is gone`);
    const next = { ...current, ...changed };
    works.set(name, next);
    return next;
  }

  return {
    changes: {
      begin(enqueue) {
        const end = channel.source.begin(enqueue);
        for (const name of works.keys()) enqueue({ namespace: '', name });
        return end;
      },
    },
    get: (name) => works.get(name),
    list: () => [...works.values()],
    get complete() {
      return complete;
    },
    setComplete(value) {
      complete = value;
    },
    put(work) {
      const name = work.metadata.name ?? '';
      const known = works.get(name);
      const isSame = known?.metadata.uid === work.metadata.uid;
      const { finalizers, deletionTimestamp } = (isSame ? known?.metadata : undefined) ?? {};
      const { status: given, ...rest } = work;
      const status = isSame ? (known?.status ?? given) : given;
      works.set(name, {
        ...rest,
        metadata: {
          ...work.metadata,
          ...(finalizers ? { finalizers } : {}),
          ...(deletionTimestamp ? { deletionTimestamp } : {}),
        },
        ...(status ? { status } : {}),
      });
      tell(name);
    },
    remove(name) {
      if (works.delete(name)) tell(name);
    },
    async addFinalizer(work) {
      const finalizers = new Set([...(work.metadata.finalizers ?? []), workFinalizer]);
      const current = works.get(work.metadata.name ?? '') ?? work;
      return change(work, { metadata: { ...current.metadata, finalizers: [...finalizers] } });
    },
    async removeFinalizer(work) {
      const current = works.get(work.metadata.name ?? '');
      if (!current || current.metadata.uid !== work.metadata.uid) return;
      const finalizers = (current.metadata.finalizers ?? []).filter((each) => each !== workFinalizer);
      events.finalized(change(current, { metadata: { ...current.metadata, finalizers } }));
    },
    async writeStatus(work, status: ManifestWorkStatus) {
      const current = works.get(work.metadata.name ?? '');
      // Of a spec that has been replaced meanwhile; the new one is looked at next.
      if (current?.metadata.generation !== work.metadata.generation) return;
      events.statusWritten(change(work, { status }));
    },
    async expire(work) {
      const current = works.get(work.metadata.name ?? '') ?? work;
      const next = change(work, { metadata: { ...current.metadata, deletionTimestamp: timeText(now()) } });
      events.expired?.(next);
      tell(next.metadata.name ?? '');
    },
  };
}
