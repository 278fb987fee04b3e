/** What an endless iteration waits with: every wait ends when it is told to stop, and leaves no timer behind. */
export interface Stop {
  readonly stopped: boolean;
  /** Ends the wait under way, and every later one, with an error that only says so. */
  now(): void;
  /** Ends a `sleepUnlessWoken`, the one under way or, when there is none since `rearm`, the next. */
  wake(): void;
  /** Forgets earlier wakes: call it before looking, so that what comes while looking is not lost. */
  rearm(): void;
  /** The result of the work, unless told to stop first. */
  unless<R>(work: Promise<R>): Promise<R>;
  sleep(ms: number): Promise<void>;
  sleepUnlessWoken(ms: number): Promise<void>;
}

/** One wait at a time, as an iteration has. */
export function stopper(): Stop {
  let stopped = false;
  let woken = false;
  let interrupt: (() => void) | undefined;
  let rouse: (() => void) | undefined;

  const stopError = () => new Error('stopped');
  const unless = <R>(work: Promise<R>): Promise<R> =>
    new Promise<R>((resolve, reject) => {
      if (stopped) {
        work.catch(() => {});
        reject(stopError());
        return;
      }
      interrupt = () => reject(stopError());
      // At once, not in a later microtask: by then the next wait may have set its own.
      work.then(
        (result) => {
          interrupt = undefined;
          resolve(result);
        },
        (error: unknown) => {
          interrupt = undefined;
          reject(error);
        },
      );
    });
  const sleep = async (ms: number, untilWoken: boolean): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    try {
      await unless(
        new Promise<void>((resolve) => {
          timer = setTimeout(resolve, ms).unref();
          if (!untilWoken) return;
          if (woken) resolve();
          rouse = resolve;
        }),
      );
    } finally {
      clearTimeout(timer);
      rouse = undefined;
    }
  };

  return {
    get stopped() {
      return stopped;
    },
    now() {
      stopped = true;
      interrupt?.();
    },
    wake() {
      woken = true;
      rouse?.();
    },
    rearm() {
      woken = false;
    },
    unless,
    sleep: (ms) => sleep(ms, false),
    sleepUnlessWoken: (ms) => sleep(ms, true),
  };
}
