// Names that are unique in the whole cloud. Who has a name is a document of its own, in another partition than the resource, so it is
// written first and removed last; a name whose owner does not exist is free.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { KnownType } from './catalogue.ts';
import { namesPartition, readResource, type State } from './state.ts';

export interface Names {
  /** Takes a name for a resource while `write` runs; throws when another one has it. */
  hold<T>(known: KnownType, name: string, owner: string, write: () => Promise<T>): Promise<T>;
  release(typeKey: string, name: string, owner: string): Promise<void>;
  /** The folded id of the resource that has the name. */
  owner(typeKey: string, name: string): Promise<string | undefined>;
}

const attempts = 20;

export function createNames(state: State): Names {
  /** Names whose resource is being written: it does not exist yet, and yet the name is taken. */
  const writing = new Map<string, string>();
  const place = (typeKey: string, name: string) => ({
    partition: namesPartition,
    id: `${typeKey}/${foldCase(name)}`,
  });
  const isLive = async (owner: string, id: string): Promise<boolean> =>
    writing.get(id) === owner || (await readResource(state, owner)) !== undefined;

  const take = async (known: KnownType, name: string, owner: string): Promise<void> => {
    const key = place(known.key, name);
    for (let attempt = 0; attempt < attempts; attempt++) {
      try {
        const there = await state.read(key);
        if (there === undefined) await state.create(key, { kind: 'name', owner });
        else if (there.body.kind === 'name' && there.body.owner !== owner) {
          if (await isLive(there.body.owner, key.id)) throw taken(known, name);
          await state.replace(there, { kind: 'name', owner });
        }
        return;
      } catch (error) {
        if (!isStoreError(error, 'Exists', 'Changed', 'NotFound')) throw error;
      }
    }
    throw taken(known, name);
  };

  return {
    async hold(known, name, owner, write) {
      const { id } = place(known.key, name);
      const before = writing.get(id);
      if (before !== undefined && before !== owner) throw taken(known, name);
      writing.set(id, owner);
      try {
        await take(known, name, owner);
        return await write();
      } finally {
        if (before === undefined) writing.delete(id);
      }
    },
    async release(typeKey, name, owner) {
      try {
        const there = await state.read(place(typeKey, name));
        if (there?.body.kind === 'name' && there.body.owner === owner && writing.get(there.id) !== owner)
          await state.delete(there);
      } catch (error) {
        // Somebody else has taken it already, as the owner is gone.
        if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
      }
    },
    async owner(typeKey, name) {
      const there = await state.read(place(typeKey, name));
      return there?.body.kind === 'name' ? there.body.owner : undefined;
    },
  };
}

function taken(known: KnownType, name: string): ArmError {
  return (
    known.definition.nameTaken?.(name) ??
    new ArmError(
      409,
      'NameAlreadyExists',
      `The name '${name}' for a resource of type '${known.fullType}' is already in use. Choose another one.`,
    )
  );
}
