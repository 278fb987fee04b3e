// Where every server hears every agent, an agent's request for a resync is for the server that owns its consumer. One that comes while a
// consumer changes hands would be for nobody: so those who do not own it keep it for as long as a handover can take.
import type { Message } from '../protocol/messages.ts';

export interface HeldResyncs {
  hold(consumer: string, message: Message): void;
  /** What was kept of a consumer that has come to this server. */
  take(consumer: string): Message | undefined;
}

const maxHeld = 10_000;

export function createHeldResyncs(keepMs: number, now: () => number = () => performance.now()): HeldResyncs {
  const held = new Map<string, { readonly message: Message; readonly until: number }>();

  return {
    hold(consumer, message) {
      // In order of time, so the oldest are first.
      held.delete(consumer);
      held.set(consumer, { message, until: now() + keepMs });
      for (const [name, { until }] of held) {
        if (until > now() && held.size <= maxHeld) break;
        held.delete(name);
      }
    },
    take(consumer) {
      const found = held.get(consumer);
      held.delete(consumer);
      return found !== undefined && found.until > now() ? found.message : undefined;
    },
  };
}
