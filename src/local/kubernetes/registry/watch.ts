// Watches: what there is, then what changes, as one watcher with its selectors must see it.
import type { Change, Entry, Objects } from '../objects/objects.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { addBookmarked } from './bookmarks.ts';
import { checkWatchQuery, readRevision } from './list-options.ts';
import type { WatchQuery, WatchSink } from './registry.ts';
import { type Selection, selectionOf } from './selection.ts';
import { atRevision } from './served.ts';

/** The test an entry must pass, namespace included; undefined when all of the type pass. */
function testOf({ namespace, matches }: Selection): ((entry: Entry) => boolean) | undefined {
  if (namespace === undefined) return matches;
  return matches
    ? (entry) => entry.namespace === namespace && matches(entry)
    : (entry) => entry.namespace === namespace;
}

/** A change as a watcher with this test sees it; undefined when it does not. */
function seen(change: Change, passes: (entry: Entry) => boolean): Change | undefined {
  const { kind, entry, before } = change;
  if (kind === 'DELETED') return passes(before ?? entry) ? change : undefined;
  const now = passes(entry);
  const then = before !== undefined && passes(before);
  if (now) return then || kind === 'ADDED' ? change : { kind: 'ADDED', entry, before: undefined };
  return then ? { kind: 'DELETED', entry: atRevision(before, entry.revision), before } : undefined;
}

/**
 * Watches a type. Without a revision, or from "0", the sink first gets everything there is as ADDED. Refuses with 410 when the
 * history does not reach back to the revision asked for.
 */
export function watch(objects: Objects, type: ResourceType, query: WatchQuery, sink: WatchSink): () => void {
  checkWatchQuery(query);
  const selection = selectionOf(type, query);
  const passes = testOf(selection);
  const wanted = readRevision(query.resourceVersion);
  const fromNow = query.initialEventsAsked && !query.sendInitialEvents && !wanted;
  const initial = query.sendInitialEvents || (!query.initialEventsAsked && !wanted);

  if (initial) {
    const { namespace } = selection;
    for (const entry of objects.list(type.storage, namespace === undefined ? {} : { namespace })) {
      if (!passes || passes(entry)) sink.event({ kind: 'ADDED', entry, before: undefined }, true);
    }
  }
  const start = initial || fromNow || wanted === undefined ? objects.revision : wanted;
  const listener = passes
    ? (change: Change): void => {
        const shown = seen(change, passes);
        if (shown) sink.event(shown, false);
      }
    : (change: Change): void => sink.event(change, false);
  const stopWatching = objects.watch(type.storage, start, listener);
  if (!query.allowBookmarks) return stopWatching;
  if (initial) sink.bookmark(start, true);
  const leave = addBookmarked(() => sink.bookmark(objects.revision, false));
  return () => {
    leave();
    stopWatching();
  };
}
