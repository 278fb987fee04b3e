/** How often something may happen. */
export interface Rate {
  /** Counts one, and says whether it may happen. */
  take(): boolean;
}

const minuteMs = 60_000;

export function createRate(perMinute: number, now: () => number): Rate {
  let start = Number.NEGATIVE_INFINITY;
  let taken = 0;
  return {
    take() {
      if (now() - start >= minuteMs) {
        start = now();
        taken = 0;
      }
      taken++;
      return taken <= perMinute;
    },
  };
}
