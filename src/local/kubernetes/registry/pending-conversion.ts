// Objects of some custom resources are converted between versions by a webhook, while the registry reads and writes without
// waiting. What is needed and not there yet is thrown: whoever can wait does, and begins again.
import type { ResourceType } from '../types/resource-type.ts';

/** A conversion has to be waited for. */
export class PendingConversion extends Error {
  /** Settles when it is there; rejects with a StatusError where it cannot be had. */
  readonly ready: Promise<void>;

  constructor(ready: Promise<void>) {
    super('a conversion is pending');
    this.ready = ready;
  }
}

/** How often one piece of work may need another conversion: what it reads and what it writes, and again when others are quicker. */
const mostConversions = 20;

/** Does some work, again after each conversion that it has to wait for. */
export async function converting<T>(type: ResourceType, work: () => T | Promise<T>): Promise<T> {
  if (!type.convert?.ready) return work();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PendingConversion) || attempt >= mostConversions) throw error;
      await error.ready;
    }
  }
}
