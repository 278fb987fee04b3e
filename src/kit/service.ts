/** A service that has been started. */
export interface Running {
  /** Where each of its listeners answers, by listener name: `https://127.0.0.1:8443`. Ports are the ones really bound. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Settles when the service can do its work; rejects when it never will. */
  readonly ready: Promise<void>;
  /**
   * Stops accepting, lets work in flight end within the grace period, then frees everything. Never rejects; calling it
   * again returns the same promise.
   */
  stop(): Promise<void>;
  /** The names of the parts that have been told to stop, or are still to be told, and have not ended. */
  stillRunning?(): readonly string[];
}

/** What every service's main.ts exports: takes checked configuration, returns once its listeners are bound. */
export type Start<Config> = (config: Config) => Promise<Running>;

/** How long a service may take to stop: what Azure's load balancers need to notice (30 s) and a little. */
export const graceSeconds = 31;
