/** Passes when the thing can do its work; throws, with a reason a person can act on, when it cannot. */
export type ReadinessCheck = (signal: AbortSignal) => void | Promise<void>;

export interface NotReady {
  readonly name: string;
  readonly reason: string;
}

/** What has to work before a service counts as ready. `/readyz` answers from it. */
export interface Readiness {
  /** Adds a check under a name of its own; the function returned takes it out again. */
  addReadiness(name: string, check: ReadinessCheck): () => void;
  /**
   * Runs every check at once and returns those that did not pass, by name; empty means ready. Never rejects. A check
   * that gives no answer in time counts as not ready and is not started again until it has answered.
   */
  notReady(): Promise<readonly NotReady[]>;
}

/** A check asks for something small; one that takes longer than this is itself the problem. */
export const checkSeconds = 5;

export function createReadiness(options: { readonly checkSeconds?: number } = {}): Readiness {
  const limitMs = (options.checkSeconds ?? checkSeconds) * 1000;
  const checks = new Map<string, () => Promise<NotReady | undefined>>();

  return {
    addReadiness(name, check) {
      if (checks.has(name)) throw new TypeError(`there is already a readiness check named ${name}`);
      const run = shared(() => answer(name, check, limitMs));
      checks.set(name, () => within(limitMs, name, run()));
      return () => {
        checks.delete(name);
      };
    },
    async notReady() {
      const answers = await Promise.all([...checks.values()].map((run) => run()));
      return answers.filter((found) => found !== undefined);
    },
  };
}

async function answer(name: string, check: ReadinessCheck, limitMs: number): Promise<NotReady | undefined> {
  try {
    await check(AbortSignal.timeout(limitMs));
    return undefined;
  } catch (error) {
    return { name, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Callers that come while a run is under way share its result. */
function shared<T>(run: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= run().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

async function within(
  limitMs: number,
  name: string,
  run: Promise<NotReady | undefined>,
): Promise<NotReady | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<NotReady>((resolve) => {
    timer = setTimeout(() => resolve({ name, reason: `gave no answer within ${limitMs / 1000} s` }), limitMs);
  });
  try {
    return await Promise.race([run, late]);
  } finally {
    clearTimeout(timer);
  }
}
