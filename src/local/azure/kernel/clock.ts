/** The cloud's time. It goes with the machine's clock, and ahead of it by what was skipped; never back. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Skips ahead and runs what became due, in the order of its times. Resolves when all of that has been done. */
  advance(ms: number): Promise<void>;
  /**
   * Calls once when the time has come, never before; errors are logged. Returns how to cancel. Times that have passed are called
   * on the next turn. Nothing of this outlives the process: what must happen is recorded first and armed again at the start.
   */
  at(time: number, run: () => void | Promise<void>): () => void;
}
