// Events: what a controller did or could not do, for people who look at an object with `kubectl describe`.
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from '../kit/log.ts';
import type { KubeClient } from './client.ts';
import { type EventObject, events, regardingOf } from './event-object.ts';
import { isNamespaceTerminating, isNotFound } from './kube-error.ts';
import type { KubeObject } from './object.ts';
import type { ResourceRef } from './resource.ts';
import { microTimeText } from './time.ts';

export interface NewEvent {
  readonly type: 'Normal' | 'Warning';
  /** Why, in one word in CamelCase: `ImagePullFailed`. */
  readonly reason: string;
  /** What was done, in one word in CamelCase: `CreatePod`. */
  readonly action: string;
  /** For people; cut at 1 KiB. */
  readonly note: string;
  /** Another object that it has to do with. */
  readonly related?: { readonly resource: ResourceRef<KubeObject>; readonly object: KubeObject };
}

export interface EventRecorder {
  /**
   * Records that something happened to an object. Returns at once and never throws: an event that cannot be written is logged
   * and lost. The same again within six minutes becomes a count on the first; more events about one object than its allowance
   * (25, and one more every 5 minutes) are dropped, so that an object in trouble does not fill the server.
   */
  record(resource: ResourceRef<KubeObject>, object: KubeObject, event: NewEvent): void;
  /** Writes what is pending and settles. */
  stop(): Promise<void>;
}

export interface EventRecorderOptions {
  readonly client: KubeClient;
  /** `aro.example.com/hypershift-operator`: stands in the event as its reporter. */
  readonly controller: string;
  /** Which of its processes; the host name unless given. */
  readonly instance?: string;
  readonly logger: Logger;
  /** Epoch milliseconds, for tests. */
  readonly now?: () => number;
}

const longestNote = 1024;
const longestName = 128;
const seriesMs = 6 * 60 * 1000;
const allowance = 25;
const refillMs = 5 * 60 * 1000;
/** Objects and events that are remembered; the oldest are forgotten first. */
const remembered = 4096;
/** Events that wait to be written. */
const longestQueue = 1000;

interface Series {
  /** Undefined until the first has been written. */
  written: EventObject | undefined;
  count: number;
  last: number;
}

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, controller, logger, now = Date.now } = options;
  const instance = (options.instance ?? hostname()).slice(0, longestName);
  const series = new Map<string, Series>();
  const allowances = new Map<string, { left: number; at: number }>();
  const pending: (() => Promise<void>)[] = [];
  let writing: Promise<void> | undefined;

  function allowed(uid: string): boolean {
    const time = now();
    const known = allowances.get(uid) ?? { left: allowance, at: time };
    const refilled = Math.max(0, (time - known.at) / refillMs);
    const left = Math.min(allowance, known.left + refilled);
    allowances.delete(uid);
    allowances.set(uid, { left: left >= 1 ? left - 1 : left, at: time });
    trim(allowances);
    return left >= 1;
  }

  function enqueue(write: () => Promise<void>): void {
    if (pending.length >= longestQueue) {
      logger.debug('an event was dropped: too many wait to be written');
      return;
    }
    pending.push(write);
    writing ??= drain().finally(() => {
      writing = undefined;
    });
  }

  async function drain(): Promise<void> {
    for (let write = pending.shift(); write; write = pending.shift()) {
      try {
        await write();
      } catch (err) {
        // The namespace of the object is going, and its events with it.
        if (!isNamespaceTerminating(err) && !isNotFound(err)) logger.warn({ err }, 'an event could not be written');
      }
    }
  }

  async function writeSeries(entry: Series): Promise<void> {
    const { written, count, last } = entry;
    const { name = '', namespace = '' } = written?.metadata ?? {};
    if (!written || count < 2) return;
    const patch = { series: { count, lastObservedTime: microTimeText(last) } };
    await client.patch(events, { namespace, name }, 'merge', patch);
  }

  return {
    record(resource, object, event) {
      const time = now();
      const regarding = regardingOf(resource, object);
      const related = event.related ? regardingOf(event.related.resource, event.related.object) : undefined;
      const key = JSON.stringify([regarding, related, event.type, event.reason, event.action, event.note]);
      const known = series.get(key);
      if (known && time - known.last < seriesMs) {
        known.count++;
        known.last = time;
        // Each doubling is written, so that a count costs the server little and is never far off.
        if ((known.count & (known.count - 1)) === 0) enqueue(() => writeSeries(known));
        return;
      }
      if (!allowed(regarding.uid || key)) return;
      const entry: Series = { written: undefined, count: 1, last: time };
      series.delete(key);
      series.set(key, entry);
      trim(series);
      const unique = `${time.toString(16)}${randomBytes(4).toString('hex')}`;
      const made: EventObject = {
        metadata: {
          name: `${(object.metadata.name ?? '').slice(0, 200).replace(/[.-]+$/, '')}.${unique}`,
          namespace: object.metadata.namespace || 'default',
        },
        eventTime: microTimeText(time),
        reportingController: controller,
        reportingInstance: instance,
        action: event.action.slice(0, longestName),
        reason: event.reason.slice(0, longestName),
        regarding,
        ...(related ? { related } : {}),
        note: cut(event.note),
        type: event.type,
      };
      enqueue(async () => {
        entry.written = await client.create(events, made);
      });
    },
    async stop() {
      while (writing) await writing;
    },
  };
}

function trim(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    if (map.size <= remembered) return;
    map.delete(key);
  }
}

/** The limit is in bytes; a character is not cut in two. */
function cut(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= longestNote) return note;
  return `${bytes
    .subarray(0, longestNote - 4)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}…`;
}
