// Where works come from and their status goes to.
import type { Source } from '../kube/source.ts';
import type { ManifestWork, ManifestWorkStatus } from './work.ts';

/**
 * The works of one cluster, by name. The engine asks for a work when `changes` names it, so whoever changes a work names it
 * after the change can be read. What `get` gives is not changed by anybody; a change is another object.
 */
export interface WorkSource {
  /** Names every work there is when it begins, then each that has changed, come or gone. The namespace is not looked at. */
  readonly changes: Source | Pick<Source, 'begin'>;
  get(name: string): ManifestWork | undefined;
  /**
   * Whether all works are known. Until then a work that is not there may still come, and what was applied for it is not
   * evicted. When it becomes true, `changes` need not say anything.
   */
  readonly complete: boolean;
  /** Sees to it that the work has the finalizer of the engine; the work as it is then. */
  addFinalizer(work: ManifestWork, signal: AbortSignal): Promise<ManifestWork>;
  /** The work's objects are gone: takes the finalizer off. Called again where it fails. */
  removeFinalizer(work: ManifestWork, signal: AbortSignal): Promise<void>;
  /** Called only when the status differs. Throws when the work has changed since it was read; the engine comes again then. */
  writeStatus(work: ManifestWork, status: ManifestWorkStatus, signal: AbortSignal): Promise<void>;
  /**
   * The work has run to its end, and the time it was to be kept after that is over: deletes it. Its objects are torn down
   * when `get` shows it with a deletion time.
   */
  expire(work: ManifestWork, signal: AbortSignal): Promise<void>;
}
