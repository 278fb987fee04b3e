// Lists: what is current, or what was current at a revision that the history still reaches back to.
import type { Entry, Objects } from '../objects/objects.ts';
import { StatusError } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { decodePosition, encodePosition, expired, listTooOld, type Position } from './continue-token.ts';
import { checkListQuery, readRevision, tooLargeRevision } from './list-options.ts';
import type { ListQuery, ObjectList } from './registry.ts';
import { type Selection, selectionOf } from './selection.ts';

type Key = readonly [namespace: string, name: string];

/** Entries after a key, in order, as they were at one revision. */
type Source = (after: Key | undefined, limit: number | undefined) => Entry[];

const keyOf = ({ namespace, name }: { namespace: string; name: string }): string => `${namespace}/${name}`;

function currentSource(objects: Objects, type: ResourceType, { namespace }: Selection): Source {
  return (after, limit) =>
    objects.list(type.storage, {
      ...(namespace === undefined ? {} : { namespace }),
      ...(after === undefined ? {} : { after }),
      ...(limit === undefined ? {} : { limit }),
    });
}

/** What the entries changed since a revision were then; undefined for those that did not exist. */
function changedSince(objects: Objects, type: ResourceType, revision: number): Map<string, Entry | undefined> {
  const before = new Map<string, Entry | undefined>();
  objects.watch(type.storage, revision, (change) => {
    const key = keyOf(change.entry);
    if (!before.has(key)) before.set(key, change.before);
  })();
  return before;
}

/** The state at a revision: the current one with the changes since then undone. Throws 410 when they are not known any more. */
function pastSource(objects: Objects, type: ResourceType, selection: Selection, revision: number): Source {
  const current = currentSource(objects, type, selection);
  if (revision >= objects.revision) return current;
  const before = changedSince(objects, type, revision);
  if (before.size === 0) return current;
  const { namespace } = selection;
  return (after, limit) => {
    const from = after && keyOf({ namespace: after[0], name: after[1] });
    const entries = current(after, limit === undefined ? undefined : limit + before.size).filter(
      (entry) => !before.has(keyOf(entry)),
    );
    // Of a page that was cut, only what lies before its end is known to be complete.
    const last = limit === undefined ? undefined : entries.at(-1);
    const whole = last === undefined || entries.length < (limit ?? 0);
    for (const [key, entry] of before) {
      if (!entry || (namespace !== undefined && entry.namespace !== namespace)) continue;
      if ((from !== undefined && key <= from) || (!whole && last && key > keyOf(last))) continue;
      entries.push(entry);
    }
    entries.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    return limit === undefined ? entries : entries.slice(0, limit);
  };
}

const pageSize = 500;

/** One page of matching entries, and one entry more where there is one. */
function page(source: Source, selection: Selection, after: Key | undefined, limit: number): Entry[] {
  const { matches } = selection;
  if (!matches) return source(after, limit + 1);
  const found: Entry[] = [];
  let from = after;
  for (;;) {
    const some = source(from, pageSize);
    for (const entry of some) {
      if (matches(entry)) found.push(entry);
      if (found.length > limit) return found;
    }
    const last = some.at(-1);
    if (last === undefined || some.length < pageSize) return found;
    from = [last.namespace, last.name];
  }
}

function all(objects: Objects, source: Source, type: ResourceType, selection: Selection, current: boolean): Entry[] {
  const { matches, name, namespace } = selection;
  if (matches && name !== undefined && current && (namespace !== undefined || !type.namespaced)) {
    const entry = objects.get(type.storage, namespace ?? '', name);
    return entry && matches(entry) ? [entry] : [];
  }
  const entries = source(undefined, undefined);
  return matches ? entries.filter(matches) : entries;
}

export function list(objects: Objects, type: ResourceType, query: ListQuery): ObjectList {
  checkListQuery(query);
  const selection = selectionOf(type, query);
  const wanted = readRevision(query.resourceVersion, 'invalid resource version: ');
  const limit = query.limit !== undefined && query.limit > 0 ? query.limit : undefined;
  const position = query.continue ? decodePosition(query.continue, selection.namespace) : undefined;
  if (wanted !== undefined && wanted > objects.revision) throw tooLargeRevision(wanted, objects.revision);

  const exact = query.resourceVersionMatch === 'Exact' || (limit !== undefined && !query.resourceVersionMatch);
  const revision =
    position && position.revision > 0
      ? position.revision
      : wanted !== undefined && wanted > 0 && exact
        ? wanted
        : objects.revision;
  const source = sourceAt(objects, type, selection, revision, position);
  if (limit === undefined && position === undefined) {
    return { entries: all(objects, source, type, selection, revision === objects.revision), revision };
  }
  const entries = page(source, selection, position?.after, limit ?? Number.MAX_SAFE_INTEGER - 1);
  if (limit === undefined || entries.length <= limit) return { entries, revision };
  entries.length = limit;
  const last = entries.at(-1);
  if (last === undefined) return { entries, revision };
  const remaining = selection.matches ? undefined : remainingAfter(objects, type, selection, position, entries.length);
  const next: Position = { revision, after: [last.namespace, last.name], remaining };
  return {
    entries,
    revision,
    continue: encodePosition(next, selection.namespace),
    ...(remaining === undefined ? {} : { remaining }),
  };
}

function sourceAt(
  objects: Objects,
  type: ResourceType,
  selection: Selection,
  revision: number,
  position: Position | undefined,
): Source {
  try {
    return pastSource(objects, type, selection, revision);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 410) throw error;
    throw position ? expired(position, selection.namespace) : listTooOld();
  }
}

function remainingAfter(
  objects: Objects,
  type: ResourceType,
  { namespace }: Selection,
  position: Position | undefined,
  given: number,
): number | undefined {
  if (position) return position.remaining === undefined ? undefined : position.remaining - given;
  return objects.count(type.storage, namespace) - given;
}
