// Which changes are worth a reconcile.
import type { KubeObject } from './object.ts';

/**
 * Says of each kind of change whether it matters; a kind that is left out does. Predicates only spare work: a reconcile must be
 * right when it is called once too often.
 */
export interface Predicate<T extends KubeObject = KubeObject> {
  add?(object: T): boolean;
  update?(old: T, object: T): boolean;
  delete?(object: T): boolean;
}

/** The spec has changed, or the object is being deleted. For kinds that count generations; status changes pass by. */
export const generationChanged: Predicate = {
  update: (old, object) =>
    old.metadata.generation !== object.metadata.generation ||
    old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp,
};

export const labelsChanged: Predicate = {
  update: (old, object) => !sameMap(old.metadata.labels, object.metadata.labels),
};

export const annotationsChanged: Predicate = {
  update: (old, object) => !sameMap(old.metadata.annotations, object.metadata.annotations),
};

/** The object has changed at all: a resync passes by. */
export const versionChanged: Predicate = {
  update: (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
};

/** Only objects for which this is true, before a change or after it. */
export function matching<T extends KubeObject>(matches: (object: T) => boolean): Predicate<T> {
  return {
    add: matches,
    update: (old, object) => matches(old) || matches(object),
    delete: matches,
  };
}

export function anyOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    add: (object) => predicates.some((each) => each.add?.(object) ?? true),
    update: (old, object) => predicates.some((each) => each.update?.(old, object) ?? true),
    delete: (object) => predicates.some((each) => each.delete?.(object) ?? true),
  };
}

export function allOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    add: (object) => predicates.every((each) => each.add?.(object) ?? true),
    update: (old, object) => predicates.every((each) => each.update?.(old, object) ?? true),
    delete: (object) => predicates.every((each) => each.delete?.(object) ?? true),
  };
}

type StringMap = Readonly<Record<string, string>> | undefined;

function sameMap(one: StringMap = {}, other: StringMap = {}): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
