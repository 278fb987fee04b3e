// Where a controller's requests come from: changes of objects, mapped to what is to be reconciled.
import type { Informer } from './informer.ts';
import { type KubeObject, keyOf, keyText } from './object.ts';
import { controllerOf, refersTo } from './owner.ts';
import type { Predicate } from './predicate.ts';
import type { ResourceRef } from './resource.ts';

/** Names the object to reconcile. It says nothing of what has happened: a reconcile looks for itself. */
export interface Request {
  /** Empty for objects without a namespace. */
  readonly namespace: string;
  readonly name: string;
}

/** Calls `enqueue` for what is to be reconciled, until the function returned is called. */
export interface Source {
  readonly informer: Pick<Informer<KubeObject>, 'resource' | 'synced' | 'whenSynced' | 'problem'>;
  begin(enqueue: (request: Request) => void): () => void;
}

/** The objects that a controller is for: each change is a request for the object itself. */
export function objects<T extends KubeObject>(informer: Informer<T>, predicate: Predicate<T> = {}): Source {
  return watches(informer, (object) => [keyOf(object)], predicate);
}

/** Objects that those of `owner` control: each change is a request for the owner. */
export function owns<T extends KubeObject>(
  informer: Informer<T>,
  owner: ResourceRef<KubeObject>,
  predicate: Predicate<T> = {},
): Source {
  return watches(
    informer,
    (object) => {
      const reference = controllerOf(object);
      if (!reference || !refersTo(reference, owner)) return [];
      return [{ namespace: owner.namespaced ? (object.metadata.namespace ?? '') : '', name: reference.name }];
    },
    predicate,
  );
}

/**
 * Objects that matter to others: `map` says to which. Of an update, both what was and what is are mapped, so that nobody who
 * had to do with the object before is forgotten.
 */
export function watches<T extends KubeObject>(
  informer: Informer<T>,
  map: (object: T) => readonly Request[],
  predicate: Predicate<T> = {},
): Source {
  return {
    informer,
    begin(enqueue) {
      // One change is one request for each object it matters to, or a worker that is quick would be sent twice.
      const each = (...states: readonly T[]): void => {
        const requests = new Map<string, Request>();
        for (const object of states) {
          for (const request of map(object)) requests.set(keyText(request), request);
        }
        for (const request of requests.values()) enqueue(request);
      };
      return informer.addHandler({
        add: (object) => {
          if (predicate.add?.(object) ?? true) each(object);
        },
        update: (old, object) => {
          if (predicate.update?.(old, object) ?? true) each(old, object);
        },
        delete: (object) => {
          if (predicate.delete?.(object) ?? true) each(object);
        },
      });
    },
  };
}

/** Requests that come from elsewhere, such as a timer or another service's events. */
export interface Channel {
  readonly source: Pick<Source, 'begin'>;
  send(request: Request): void;
}

/** What is sent while no controller listens is not kept: a controller that begins looks at every object anyway. */
export function createChannel(): Channel {
  const listeners = new Set<(request: Request) => void>();
  return {
    source: {
      begin(enqueue) {
        const own = (request: Request): void => enqueue(request);
        listeners.add(own);
        return () => {
          listeners.delete(own);
        };
      },
    },
    send(request) {
      for (const listener of listeners) listener(request);
    },
  };
}
