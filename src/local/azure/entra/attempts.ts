// How often a guess may be wrong. Kept in memory: a restart forgives.

export interface AttemptRules {
  /** Wrong guesses in a row before the wait. */
  readonly allowed: number;
  readonly waitSeconds: number;
  /** How many names are remembered; the one that was wrong longest ago is forgotten first. */
  readonly remembered: number;
}

export interface Attempts {
  isLocked(name: string): boolean;
  wrong(name: string): void;
  right(name: string): void;
}

/** Ten wrong guesses, then a minute's wait, as Entra's smart lockout has it. */
export const signInRules: AttemptRules = { allowed: 10, waitSeconds: 60, remembered: 10_000 };

export function countAttempts(rules: AttemptRules, now: () => number): Attempts {
  const names = new Map<string, { readonly wrong: number; readonly lockedUntil: number }>();
  return {
    isLocked(name) {
      return (names.get(name)?.lockedUntil ?? 0) > now();
    },
    wrong(name) {
      const wrong = (names.get(name)?.wrong ?? 0) + 1;
      const over = wrong >= rules.allowed;
      names.delete(name);
      // After the wait a single wrong guess starts the next one.
      names.set(name, {
        wrong: over ? rules.allowed - 1 : wrong,
        lockedUntil: over ? now() + rules.waitSeconds * 1000 : 0,
      });
      if (names.size > rules.remembered) {
        const [oldest] = names.keys();
        if (oldest !== undefined) names.delete(oldest);
      }
    },
    right(name) {
      names.delete(name);
    },
  };
}
