// What happens in vaults by itself: certificates that are being made or renewed, keys that rotate, deleted things whose time is over.
// When it is due stands in the document, so that it happens after a restart as well.
import type { Document } from '../../../store/store.ts';
import type { World } from '../kernel/world.ts';
import { openObjects, type Stored } from './objects.ts';

export interface Agenda {
  /** Looks at what is due and waits for the next. Call it at the start, and after writing something that is due earlier. */
  wake(): void;
}

/** Brings a document on. It must leave it with another time, or none; what it throws is logged and tried again later. */
export type Handler = (document: Document<Stored>) => Promise<void>;

const againMs = 60_000;
/** The clock's timers reach no further than this. */
const furthestMs = 20 * 86_400_000;

export function createAgenda(world: World, handle: Handler): Agenda {
  let armed: { readonly time: number; readonly cancel: () => void } | undefined;
  let running: Promise<void> | undefined;
  let isAsked = false;

  const arm = (time: number): void => {
    if (world.stopping.aborted || (armed !== undefined && armed.time <= time)) return;
    armed?.cancel();
    armed = {
      time,
      cancel: world.clock.at(time, () => {
        armed = undefined;
        return run();
      }),
    };
  };

  /** One round at a time; who asks meanwhile gets another one. */
  const run = (): Promise<void> => {
    isAsked = true;
    running ??= rounds().finally(() => {
      running = undefined;
    });
    return running;
  };

  const rounds = async (): Promise<void> => {
    while (isAsked && !world.stopping.aborted) {
      isAsked = false;
      try {
        await round();
      } catch (err) {
        if (world.stopping.aborted) return;
        world.logger.error({ err }, 'the agenda of the vaults could not be read');
        arm(world.clock.now() + againMs);
      }
    }
  };

  const round = async (): Promise<void> => {
    const objects = await openObjects(world);
    const seen = new Set<string>();
    let hasFailed = false;
    for (;;) {
      const now = world.clock.now();
      const { documents } = await objects.query({
        filter: { op: 'le', field: ['dueAt'], value: now },
        orderBy: [{ field: ['dueAt'], type: 'number' }],
        limit: 100,
      });
      const due = documents.filter(({ etag }) => !seen.has(etag));
      if (due.length === 0) break;
      for (const document of due) {
        seen.add(document.etag);
        if (world.stopping.aborted) return;
        try {
          await handle(document);
        } catch (err) {
          hasFailed = true;
          world.logger.warn({ err, vault: document.partition, object: document.id }, 'a vault could not bring this on');
        }
      }
    }
    const now = world.clock.now();
    if (hasFailed) arm(now + againMs);
    const { documents } = await objects.query({
      filter: { op: 'gt', field: ['dueAt'], value: now },
      orderBy: [{ field: ['dueAt'], type: 'number' }],
      limit: 1,
    });
    const [next] = documents;
    if (next !== undefined && 'dueAt' in next.body && next.body.dueAt !== undefined)
      arm(Math.min(next.body.dueAt, now + furthestMs));
  };

  return {
    wake() {
      arm(world.clock.now());
    },
  };
}
