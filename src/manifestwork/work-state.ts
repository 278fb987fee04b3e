// What the engine remembers of each work between two looks at it. All of it can be lost: it only spares requests.
import type { UntypedObject } from '../kube/object.ts';
import type { ObjectWatch } from './object-watches.ts';
import type { Settled } from './settled.ts';
import type { AppliedManifestWork } from './work.ts';

/** One object of a work. */
export interface ObjectState {
  readonly watch: ObjectWatch;
  settled: Settled | undefined;
  /** The version that the last look saw; undefined where the object was not there. */
  seen: string | undefined;
  /** As this process wrote or read it itself, until the watch tells of it. */
  written: UntypedObject | undefined;
  /** How often the watch has told of it, and the version it told of last. */
  tellings: number;
  told: string | undefined;
}

export interface WorkState {
  readonly name: string;
  /** By resource key. */
  readonly objects: Map<string, ObjectState>;
  /** As last written, until its watch tells of it. */
  record: AppliedManifestWork | undefined;
  /** There was one, and its watch told that it has gone. */
  recordGone: boolean;
  /** Looks in a row that left something undone. */
  failures: number;
  lastLook: number;
  /** Objects that have changed, with the versions they have now, and when they are looked at. */
  readonly news: Map<string, string | undefined>;
  due: NodeJS.Timeout | undefined;
}

export interface WorkStates {
  /** The state of a work; made when there is none. */
  of(name: string): WorkState;
  find(name: string): WorkState | undefined;
  /** The work's objects from now on: those that are not among them are let go. */
  keep(state: WorkState, keys: ReadonlySet<string>): void;
  /** The object's state; it is watched from now on. */
  object(state: WorkState, key: string, watch: () => ObjectWatch): ObjectState;
  isWanted(key: string): boolean;
  /** An object has changed to this version: whoever has not seen it looks again, soon. */
  changed(key: string, version: string | undefined): void;
  forget(name: string): void;
  clear(): void;
}

/** Changes of an object often come in groups, also those that this process makes: one look is enough. */
const gatherMs = 10;
/** A work whose objects change all the time is not looked at more often than this. */
const restMs = 100;

/** `look` is called with the name of a work that has to be looked at. */
export function createWorkStates(look: (name: string) => void): WorkStates {
  const states = new Map<string, WorkState>();
  const works = new Map<string, Set<WorkState>>();

  function drop(state: WorkState, key: string): void {
    state.objects.get(key)?.watch.release();
    state.objects.delete(key);
    const sharing = works.get(key);
    if (sharing?.delete(state) && sharing.size === 0) works.delete(key);
  }

  function keep(state: WorkState, keys: ReadonlySet<string>): void {
    for (const key of [...state.objects.keys()]) if (!keys.has(key)) drop(state, key);
  }

  function soon(state: WorkState): void {
    if (state.due) return;
    const wait = Math.max(gatherMs, state.lastLook + restMs - performance.now());
    state.due = setTimeout(() => {
      state.due = undefined;
      // What the last look has seen, or made, is no news.
      const isNews = [...state.news].some(([key, version]) => state.objects.get(key)?.seen !== version);
      state.news.clear();
      if (isNews) look(state.name);
    }, wait);
  }

  function forget(name: string): void {
    const state = states.get(name);
    if (!state) return;
    clearTimeout(state.due);
    keep(state, new Set());
    states.delete(name);
  }

  return {
    of(name) {
      const known = states.get(name);
      if (known) return known;
      const state: WorkState = {
        name,
        objects: new Map(),
        record: undefined,
        recordGone: false,
        failures: 0,
        lastLook: Number.NEGATIVE_INFINITY,
        news: new Map(),
        due: undefined,
      };
      states.set(name, state);
      return state;
    },
    find: (name) => states.get(name),
    keep,
    object(state, key, watch) {
      const known = state.objects.get(key);
      if (known) return known;
      // Wanted before it is watched, so that the watch keeps the whole object.
      const sharing = works.get(key);
      if (sharing) sharing.add(state);
      else works.set(key, new Set([state]));
      const object: ObjectState = {
        watch: watch(),
        settled: undefined,
        seen: undefined,
        written: undefined,
        tellings: 0,
        told: undefined,
      };
      state.objects.set(key, object);
      return object;
    },
    isWanted: (key) => works.has(key),
    changed(key, version) {
      for (const state of works.get(key) ?? []) {
        const object = state.objects.get(key);
        if (object) {
          object.tellings++;
          object.told = version;
        }
        if (object?.written && isOlder(version, object.written.metadata.resourceVersion)) continue;
        if (object) object.written = undefined;
        state.news.set(key, version);
        soon(state);
      }
    },
    forget,
    clear() {
      for (const name of [...states.keys()]) forget(name);
    },
  };
}

/** Versions that are numbers grow; of others nothing is known. */
export function isOlder(version: string | undefined, than: string | undefined): boolean {
  const [one, other] = [Number(version), Number(than)];
  return version !== undefined && Number.isSafeInteger(one) && Number.isSafeInteger(other) && one < other;
}

/**
 * Keeps what was written or read until the watch tells of it; `since` is how often it had told before. Its event may have come
 * before the answer: then the watch knows better.
 */
export function keepWritten(object: ObjectState, written: UntypedObject | undefined, since: number): void {
  const isTold = object.tellings !== since && !isOlder(object.told, written?.metadata.resourceVersion);
  object.written = isTold ? undefined : written;
}
