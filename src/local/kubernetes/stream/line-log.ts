// A log in memory for a service of this process: the newest lines of this run and of the one before.
import type { LogLine, LogSource } from './pod-backends.ts';

export interface LineLog extends LogSource {
  write(text: string, time?: number): void;
  /** The service has ended; what it wrote becomes the previous run's when it writes again. */
  end(): void;
}

/** Keeps up to `capacity` lines of each run. */
export function createLineLog(capacity = 10_000): LineLog {
  let kept: LogLine[] = [];
  let before: readonly LogLine[] | undefined;
  let ended = false;
  const followers = new Set<{ onLine: (line: LogLine) => void; onEnd: () => void }>();
  return {
    write(text, time = Date.now()) {
      if (ended) {
        ended = false;
        before = kept;
        kept = [];
      }
      const line = { time, text };
      kept.push(line);
      // Cut now and then, not at every line.
      if (kept.length >= capacity * 2) kept = kept.slice(-capacity);
      for (const follower of followers) follower.onLine(line);
    },
    end() {
      ended = true;
      const told = [...followers];
      followers.clear();
      for (const follower of told) follower.onEnd();
    },
    lines: (previous) => (previous ? before : kept)?.slice(-capacity),
    follow(onLine, onEnd) {
      if (ended) {
        onEnd();
        return () => {};
      }
      const follower = { onLine, onEnd };
      followers.add(follower);
      return () => followers.delete(follower);
    },
  };
}
