// A watch on the wire: one JSON line per event. What a slow client has not taken yet is bounded; beyond that it is cut off.
import type { Change } from '../objects/objects.ts';
import type { WatchSink } from '../registry/registry.ts';
import { apiVersionOf } from '../registry/served.ts';
import type { Status } from '../status.ts';
import type { ResourceType } from '../types/resource-type.ts';
import type { AnswerStream } from './exchange.ts';
import { type Shaping, shapedEventObject } from './shapes.ts';

/** Bytes of events that may wait for one client. */
const queueLimit = 8 * 1024 * 1024;
/** Events are put together up to this size before they are handed on. */
const chunkSize = 64 * 1024;

const heads: Readonly<Record<Change['kind'], Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const tail = Buffer.from('}\n');

function line(type: ResourceType, shaping: Shaping, change: Change, first: boolean): Buffer {
  return Buffer.concat([heads[change.kind], shapedEventObject(shaping, type, change.entry, first), tail]);
}

/** The line of the change that was sent last: all watchers of a type get a change one after the other, so it is made once. */
let last: { readonly change: Change; readonly type: ResourceType; readonly bytes: Buffer } | undefined;

function sharedLine(type: ResourceType, shaping: Shaping, change: Change): Buffer {
  if (last?.change === change && last.type === type) return last.bytes;
  const bytes = line(type, shaping, change, false);
  last = { change, type, bytes };
  return bytes;
}

/** The chunk that was put together last: most watchers of a type get the same lines, so that it is made once for all of them. */
let lastChunk: { readonly parts: readonly Buffer[]; readonly bytes: Buffer } | undefined;

function joined(parts: readonly Buffer[], length: number): Buffer {
  const known = lastChunk;
  if (known?.parts.length === parts.length && parts.every((part, at) => part === known.parts[at])) return known.bytes;
  const bytes = Buffer.concat(parts, length);
  lastChunk = { parts, bytes };
  return bytes;
}

/** Streams that have something to send; all of them are served once the changes of this turn are in. */
let waiting: Set<() => void> | undefined;

function soon(flush: () => void): void {
  if (!waiting) {
    waiting = new Set();
    setImmediate(() => {
      const due = waiting;
      waiting = undefined;
      last = undefined;
      for (const each of due ?? []) each();
      lastChunk = undefined;
    });
  }
  waiting.add(flush);
}

export interface WatchStream extends WatchSink {
  /** Ends the watch in order, after what is queued. */
  end(): void;
  /** Tells the client that the watch cannot go on, and ends it. */
  fail(status: Status): void;
}

export function watchStream(
  stream: AnswerStream,
  type: ResourceType,
  shaping: Shaping,
  onCut: () => void,
): WatchStream {
  /** Changes of the initial state are made into bytes when it is their turn; they cost no memory before. */
  let initial: Change[] = [];
  let initialAt = 0;
  let queue: Buffer[] = [];
  let queued = 0;
  let first = true;
  let writable = true;
  let ending = false;
  let over = false;

  const push = (bytes: Buffer): void => {
    if (over) return;
    queue.push(bytes);
    queued += bytes.length;
    if (queued > queueLimit) {
      over = true;
      queue = [];
      initial = [];
      stream.cut();
      onCut();
    } else soon(flush);
  };

  function nextChunk(): Buffer | undefined {
    const parts: Buffer[] = [];
    let length = 0;
    while (length < chunkSize && initialAt < initial.length) {
      const change = initial[initialAt];
      initialAt += 1;
      if (!change) continue;
      const bytes = line(type, shaping, change, first);
      first = false;
      parts.push(bytes);
      length += bytes.length;
    }
    if (initialAt >= initial.length) {
      if (initial.length > 0) {
        initial = [];
        initialAt = 0;
      }
      if (length === 0 && queue.length === 1) {
        const only = queue[0];
        queue = [];
        queued = 0;
        return only;
      }
      let taken = 0;
      while (length < chunkSize && taken < queue.length) {
        const bytes = queue[taken];
        taken += 1;
        if (!bytes) continue;
        parts.push(bytes);
        length += bytes.length;
        queued -= bytes.length;
      }
      if (taken > 0) queue = queue.slice(taken);
    }
    return length === 0 ? undefined : joined(parts, length);
  }

  function flush(): void {
    while (writable && !over) {
      const chunk = nextChunk();
      if (!chunk) {
        if (ending) {
          over = true;
          stream.end();
        }
        return;
      }
      writable = stream.write(chunk);
    }
  }

  stream.onDrain(() => {
    writable = true;
    flush();
  });

  const bookmarkObject = (revision: number, initialEventsEnd: boolean): object => ({
    kind: type.kind,
    apiVersion: apiVersionOf(type),
    metadata: {
      resourceVersion: String(revision),
      ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    },
  });

  return {
    event(change, isInitial) {
      if (over || ending) return;
      if (isInitial) {
        initial.push(change);
        soon(flush);
        return;
      }
      if (shaping.form.shape === 'object') push(sharedLine(type, shaping, change));
      else {
        push(line(type, shaping, change, first && initial.length === 0));
        first = false;
      }
    },
    bookmark(revision, initialEventsEnd) {
      if (over || ending) return;
      push(
        Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object: bookmarkObject(revision, initialEventsEnd) })}\n`),
      );
    },
    end() {
      if (over) return;
      ending = true;
      soon(flush);
    },
    fail(status) {
      push(Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`));
      ending = true;
    },
  };
}
