// Locks on scopes. They are resources like others (Microsoft.Authorization/locks); there are few, and every write asks for them, so
// those of a partition are held in memory until one of them changes.
import { ArmError } from '../../../arm/errors.ts';
import { isWithin } from './references.ts';
import { asResource, type State } from './state.ts';

export const lockType = 'microsoft.authorization/locks';

export interface Locks {
  /**
   * Throws ScopeLocked when a lock on the scope, or above it, forbids the verb. A delete is also forbidden by locks below.
   * The id is shown in the error.
   */
  demand(partition: string, key: string, shownId: string, verb: 'write' | 'delete'): Promise<void>;
  /** To be called after a lock of the partition was written or removed. */
  changed(partition: string): void;
}

type Level = 'ReadOnly' | 'CanNotDelete';

interface Lock {
  readonly level: Level;
  /** As the lock's own id spells it. */
  readonly scope: string;
}

export function createLocks(state: State): Locks {
  const held = new Map<string, Promise<ReadonlyMap<string, Lock>>>();

  const load = async (partition: string): Promise<ReadonlyMap<string, Lock>> => {
    const locks = new Map<string, Lock>();
    let continuation: string | undefined;
    do {
      const page = await state.query({
        partition,
        filter: { op: 'eq', field: ['type'], value: lockType },
        limit: 1000,
        ...(continuation === undefined ? {} : { continuation }),
      });
      for (const document of page.documents) {
        const record = asResource(document)?.body;
        if (record?.parent === undefined) continue;
        const level = record.resource.properties?.level === 'ReadOnly' ? 'ReadOnly' : 'CanNotDelete';
        const { id } = record.resource;
        const scope = id.slice(0, id.toLowerCase().lastIndexOf('/providers/'));
        if (level === 'ReadOnly' || !locks.has(record.parent)) locks.set(record.parent, { level, scope });
      }
      continuation = page.continuation;
    } while (continuation !== undefined);
    return locks;
  };

  const locksOf = (partition: string): Promise<ReadonlyMap<string, Lock>> => {
    const known = held.get(partition);
    if (known) return known;
    const loading = load(partition);
    held.set(partition, loading);
    loading.catch(() => {
      if (held.get(partition) === loading) held.delete(partition);
    });
    return loading;
  };

  return {
    changed: (partition) => void held.delete(partition),
    async demand(partition, key, shownId, verb) {
      const locks = await locksOf(partition);
      if (locks.size === 0) return;
      const scopes: string[] = [];
      for (const [scope, lock] of locks) {
        if (verb === 'write' && lock.level !== 'ReadOnly') continue;
        if (isWithin(key, scope) || (verb === 'delete' && isWithin(scope, key))) scopes.push(lock.scope);
      }
      if (scopes.length === 0) return;
      throw new ArmError(
        409,
        'ScopeLocked',
        `The scope '${shownId}' cannot perform ${verb} operation because following scope(s) are locked: ` +
          `'${scopes.slice(0, 20).join(',')}'. Please remove the lock and try again.`,
      );
    },
  };
}
