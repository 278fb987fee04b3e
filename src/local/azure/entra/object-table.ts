// The directory's objects: kept in the store, held in memory as a whole. A directory of this cloud has thousands of objects at
// most, every token check asks it, and Graph searches it by any property.
import { foldCase } from '../../../arm/resource-id.ts';
import type { Container, Document, Operation, Store } from '../../../store/store.ts';
import { audienceKey } from './audience-key.ts';
import type { DirectoryObject, ObjectKind, ObjectOf } from './directory-objects.ts';

export interface ObjectTable {
  /** By object id, any case. */
  get(id: string): DirectoryObject | undefined;
  find<K extends ObjectKind>(kind: K, id: string): ObjectOf<K> | undefined;
  /** Of a tenant, in the order of ids. */
  list<K extends ObjectKind>(kind: K, tenantId: string): readonly ObjectOf<K>[];
  user(tenantId: string, userPrincipalName: string): ObjectOf<'User'> | undefined;
  /** An application of whatever tenant, by its app id. */
  application(appId: string): ObjectOf<'Application'> | undefined;
  servicePrincipal(tenantId: string, appId: string): ObjectOf<'ServicePrincipal'> | undefined;
  /** By any of its names as a resource. */
  principalNamed(tenantId: string, name: string): ObjectOf<'ServicePrincipal'> | undefined;
  managedIdentity(tenantId: string, resourceId: string): ObjectOf<'ServicePrincipal'> | undefined;
  /** Object ids of the groups that the object is in, nested ones too, sorted. */
  groupsOf(id: string): readonly string[];
  /** Grows with every change; what was worked out before may be stale after. */
  readonly generation: number;
  /** All or nothing, in one tenant. Throws StoreError: Exists, UniqueKey. */
  create(tenantId: string, objects: readonly DirectoryObject[]): Promise<void>;
  /** Throws StoreError NotFound. Returning undefined leaves the object as it is. */
  change<K extends ObjectKind>(
    object: ObjectOf<K>,
    change: (now: ObjectOf<K>) => ObjectOf<K> | undefined,
  ): Promise<ObjectOf<K>>;
  /** All or nothing, in one tenant; those that are gone already are fine. */
  remove(tenantId: string, ids: readonly string[]): Promise<void>;
}

interface Held {
  readonly object: DirectoryObject;
  readonly revision: number;
}

export async function openObjectTable(store: Store): Promise<ObjectTable> {
  const container = await store.container<DirectoryObject>({
    name: 'entra_objects',
    uniqueKeys: [
      { name: 'app', paths: [['kind'], ['appId']] },
      { name: 'upn', paths: [['upnKey']] },
      { name: 'identity', paths: [['resourceKey']] },
    ],
    sealed: [['passwordHash'], ['passwordCredentials', '*', 'hash']],
  });
  const held = new Map<string, Held>();
  const byKey = new Map<string, DirectoryObject>();
  const lists = new Map<string, readonly DirectoryObject[]>();
  const groups = new Map<string, readonly string[]>();
  let parents: ReadonlyMap<string, readonly string[]> | undefined;
  let generation = 0;

  const changed = ({ kind, tenantId }: DirectoryObject): void => {
    generation++;
    lists.delete(`${kind} ${tenantId}`);
    if (kind !== 'Group') return;
    groups.clear();
    parents = undefined;
  };
  const drop = (id: string): void => {
    const known = held.get(id);
    if (!known) return;
    held.delete(id);
    for (const key of keysOf(known.object)) byKey.delete(key);
    changed(known.object);
  };
  const take = (document: Document<DirectoryObject>): void => {
    const known = held.get(document.id);
    // Of two writes under way the later one may be answered first.
    if (known && known.revision >= document.revision) return;
    drop(document.id);
    held.set(document.id, { object: document.body, revision: document.revision });
    for (const key of keysOf(document.body)) byKey.set(key, document.body);
    changed(document.body);
  };
  await readAll(container, take);

  const find = <K extends ObjectKind>(kind: K, id: string): ObjectOf<K> | undefined => {
    const object = held.get(foldCase(id))?.object;
    return object?.kind === kind ? (object as ObjectOf<K>) : undefined;
  };
  const keyed = <K extends ObjectKind>(kind: K, key: string): ObjectOf<K> | undefined => {
    const object = byKey.get(key);
    return object?.kind === kind ? (object as ObjectOf<K>) : undefined;
  };
  const parentsOf = (id: string): readonly string[] => {
    parents ??= membership(held.values());
    return parents.get(id) ?? [];
  };

  return {
    get generation() {
      return generation;
    },
    get: (id) => held.get(foldCase(id))?.object,
    find,
    list<K extends ObjectKind>(kind: K, tenantId: string) {
      const key = `${kind} ${tenantId}`;
      let list = lists.get(key);
      if (!list) {
        list = [...held.values()]
          .map(({ object }) => object)
          .filter((object) => object.kind === kind && object.tenantId === tenantId)
          .sort((a, b) => (a.id < b.id ? -1 : 1));
        lists.set(key, list);
      }
      return list as readonly ObjectOf<K>[];
    },
    user: (tenantId, name) => keyed('User', `upn ${tenantId} ${foldCase(name)}`),
    application: (appId) => keyed('Application', `app ${foldCase(appId)}`),
    servicePrincipal: (tenantId, appId) => keyed('ServicePrincipal', `sp ${tenantId} ${foldCase(appId)}`),
    principalNamed: (tenantId, name) => keyed('ServicePrincipal', `name ${tenantId} ${audienceKey(name)}`),
    managedIdentity: (tenantId, id) => keyed('ServicePrincipal', `mi ${tenantId} ${foldCase(id)}`),
    groupsOf(id) {
      const key = foldCase(id);
      let found = groups.get(key);
      if (!found) {
        found = reachable(key, parentsOf);
        groups.set(key, found);
      }
      return found;
    },
    async create(tenantId, objects) {
      const written = await container.batch(
        tenantId,
        objects.map((body) => ({ kind: 'create', id: body.id, body })),
      );
      for (const document of written) if (document) take(document);
    },
    async change<K extends ObjectKind>(
      object: ObjectOf<K>,
      change: (now: ObjectOf<K>) => ObjectOf<K> | undefined,
    ): Promise<ObjectOf<K>> {
      const key = { partition: object.tenantId, id: object.id };
      const written = await container.update(key, (body) => change(body as ObjectOf<K>));
      take(written);
      return written.body as ObjectOf<K>;
    },
    async remove(tenantId, ids) {
      const operations: Operation<DirectoryObject>[] = [];
      for (const id of ids) {
        const version = await container.read({ partition: tenantId, id });
        if (version) operations.push({ kind: 'delete', version });
      }
      if (operations.length > 0) await container.batch(tenantId, operations);
      for (const id of ids) drop(id);
    },
  };
}

async function readAll(
  container: Container<DirectoryObject>,
  take: (document: Document<DirectoryObject>) => void,
): Promise<void> {
  let continuation: string | undefined;
  do {
    const page = await container.query({ limit: 1000, ...(continuation === undefined ? {} : { continuation }) });
    page.documents.forEach(take);
    continuation = page.continuation;
  } while (continuation !== undefined);
}

function keysOf(object: DirectoryObject): readonly string[] {
  switch (object.kind) {
    case 'User':
      return [`upn ${object.tenantId} ${object.upnKey}`];
    case 'Application':
      return [`app ${object.appId}`];
    case 'ServicePrincipal':
      return [
        `sp ${object.tenantId} ${object.appId}`,
        ...object.servicePrincipalNames.map((name) => `name ${object.tenantId} ${audienceKey(name)}`),
        ...(object.resourceKey === undefined ? [] : [`mi ${object.tenantId} ${object.resourceKey}`]),
      ];
    case 'Group':
      return [];
  }
}

/** The groups that each object is a direct member of. */
function membership(all: Iterable<Held>): ReadonlyMap<string, readonly string[]> {
  const parents = new Map<string, string[]>();
  for (const { object } of all) {
    if (object.kind !== 'Group') continue;
    for (const member of object.members) {
      const known = parents.get(member);
      if (known) known.push(object.id);
      else parents.set(member, [object.id]);
    }
  }
  return parents;
}

/** Everything above an id; groups that contain each other are fine. */
function reachable(id: string, parentsOf: (id: string) => readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const next = [...parentsOf(id)];
  for (let group = next.pop(); group !== undefined; group = next.pop()) {
    if (seen.has(group)) continue;
    seen.add(group);
    next.push(...parentsOf(group));
  }
  return [...seen].sort();
}
