// Events: what happened to an object, for people. The same thing happening again is counted, not told again.
import { randomBytes } from 'node:crypto';
import type { KubeObject } from '../object.ts';
import { timestamp } from '../registry/timestamp.ts';
import type { RequestContext } from '../request-context.ts';
import { decoded } from './hands.ts';
import { events } from './kinds.ts';
import { parsed } from './parsed.ts';
import type { EventObject } from './shapes.ts';

export type EventType = 'Normal' | 'Warning';

export interface Happening {
  readonly context: RequestContext;
  /** Who says so. */
  readonly component: string;
  readonly host?: string;
  readonly about: KubeObject;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

export interface Recorder {
  record(happening: Happening): Promise<void>;
}

/** How many happenings are remembered, to count them when they happen again. */
const mostRemembered = 4096;

export function createRecorder(): Recorder {
  const remembered = new Map<string, string>();

  return {
    async record({ context, component, host, about, type, reason, message }) {
      const { cluster } = context;
      const { name = '', namespace = '', uid = '', resourceVersion = '' } = about.metadata;
      const place = namespace || 'default';
      const key = [cluster.name, uid || name, component, type, reason, message].join('\0');
      const now = timestamp(cluster.now());
      try {
        const before = remembered.get(key);
        const entry = before === undefined ? undefined : cluster.objects.get(events.type.storage, place, before);
        if (entry) {
          const { count = 1 } = parsed<EventObject>(entry);
          await cluster.registry.patch(context, events.type, entry, {
            type: 'merge',
            body: { count: count + 1, lastTimestamp: now },
          });
          return;
        }
        const eventName = `${name}.${randomBytes(8).toString('hex')}`;
        const event = {
          metadata: { name: eventName, namespace: place },
          involvedObject: {
            apiVersion: about.apiVersion,
            kind: about.kind,
            name,
            uid,
            ...(namespace ? { namespace } : {}),
            ...(resourceVersion ? { resourceVersion } : {}),
          },
          reason,
          message,
          type,
          count: 1,
          firstTimestamp: now,
          lastTimestamp: now,
          source: { component, ...(host ? { host } : {}) },
          reportingComponent: component,
          ...(host ? { reportingInstance: host } : {}),
        };
        await cluster.registry.create(context, events.type, place, decoded(events.type, event));
        if (remembered.size >= mostRemembered) {
          for (const oldest of remembered.keys()) {
            remembered.delete(oldest);
            break;
          }
        }
        remembered.set(key, eventName);
      } catch (error) {
        // The namespace may be going away, or the cluster: an event is never worth a failure.
        cluster.log.debug({ err: error, reason }, 'an event was not recorded');
      }
    },
  };
}
