// The Subscribe streams that stand now, by who subscribed: sources by their ids, agents by their consumers.
import type { EventStream } from './event-stream.ts';

export interface StreamTable {
  /** Kept until it ends. */
  add(name: string, stream: EventStream): void;
  of(name: string): readonly EventStream[];
  has(name: string): boolean;
  names(): readonly string[];
  size(): number;
  /** Ends all of them. */
  end(reason: string): void;
}

export function createStreamTable(): StreamTable {
  const streams = new Map<string, Set<EventStream>>();

  function remove(name: string, stream: EventStream): void {
    const set = streams.get(name);
    set?.delete(stream);
    if (set?.size === 0) streams.delete(name);
  }

  return {
    add(name, stream) {
      if (stream.ended.aborted) return;
      const set = streams.get(name) ?? new Set();
      streams.set(name, set.add(stream));
      stream.ended.addEventListener('abort', () => remove(name, stream), { once: true });
    },
    of: (name) => [...(streams.get(name) ?? [])],
    has: (name) => streams.has(name),
    names: () => [...streams.keys()],
    size: () => [...streams.values()].reduce((sum, set) => sum + set.size, 0),
    end(reason) {
      for (const set of [...streams.values()]) for (const stream of [...set]) stream.end(reason);
    },
  };
}
