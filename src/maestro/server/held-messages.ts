// Where every server hears every agent, what an agent says is for the server that owns its consumer. What comes while a consumer changes
// hands would be for nobody: so those who do not own it keep it for as long as a handover can take.
import type { Message } from '../protocol/messages.ts';

export interface HeldMessages {
  /** Keeps the last of each bundle, and the last request for a resync. */
  hold(consumer: string, message: Message): void;
  /** What was kept of a consumer that has come to this server, in the order in which it came. */
  take(consumer: string): readonly Message[];
}

/** Beyond it the oldest go: agents are asked for their statuses after every handover. */
const maxHeld = 5000;

export function createHeldMessages(keepMs: number, now: () => number = () => performance.now()): HeldMessages {
  const held = new Map<string, { readonly consumer: string; readonly message: Message; readonly until: number }>();

  return {
    hold(consumer, message) {
      const key = `${consumer}\n${message.kind === 'status' ? message.resourceId : ''}`;
      // In order of time, so the oldest are first.
      held.delete(key);
      held.set(key, { consumer, message, until: now() + keepMs });
      for (const [name, { until }] of held) {
        if (until > now() && held.size <= maxHeld) break;
        held.delete(name);
      }
    },
    take(consumer) {
      const taken: Message[] = [];
      for (const [key, kept] of held) {
        if (kept.consumer !== consumer) continue;
        held.delete(key);
        if (kept.until > now()) taken.push(kept.message);
      }
      return taken;
    },
  };
}
