/** How many of something may run at the same time; more are turned away rather than queued. */
export interface AtOnce {
  /** Undefined when too many run already. */
  run<T>(work: () => Promise<T>): Promise<T> | undefined;
}

export function createAtOnce(most: number): AtOnce {
  let running = 0;
  return {
    run(work) {
      if (running >= most) return undefined;
      running++;
      return work().finally(() => {
        running--;
      });
    },
  };
}
