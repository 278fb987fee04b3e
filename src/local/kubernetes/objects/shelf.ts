// The objects of one type in one cluster, with what is remembered of it and who watches it.
import type { StoredEntry } from './entry.ts';
import type { Past } from './history.ts';
import type { Change, StorageType } from './objects.ts';
import type { SortedEntries } from './sorted-entries.ts';

export interface Shelf {
  readonly type: StorageType;
  readonly entries: SortedEntries;
  readonly past: Past;
  /** How far `entries` has what is in the database: up to this namespace and name, or `all` of it. */
  loaded: 'all' | readonly [namespace: string, name: string];
  watchers: Set<Watcher> | undefined;
}

export interface Watcher {
  readonly listener: (change: Change) => void;
  /** It knows everything up to this revision. */
  readonly after: number;
}

export interface StoredChange extends Change {
  readonly entry: StoredEntry;
  readonly before: StoredEntry | undefined;
}
