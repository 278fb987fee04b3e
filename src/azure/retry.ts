// When a call to Azure is made again, and after how long. One set of rules for all clients.
import { setTimeout as delay } from 'node:timers/promises';
import { AzureError, noAnswer } from './errors.ts';

export interface RetryRules {
  /** All of them, the first included. */
  readonly attempts: number;
  readonly initialMs: number;
  readonly factor: number;
  /** By how much of itself a wait is longer at most, so that many clients do not come back at once. */
  readonly jitter: number;
  readonly capMs: number;
  /** Whether a refusal is one that goes by itself while a new role assignment spreads. */
  readonly untilAllowed: boolean;
}

/** For calls of Resource Manager. */
export const armRetry: RetryRules = {
  attempts: 4,
  initialMs: 15_000,
  factor: 2,
  jitter: 0.1,
  capMs: 60_000,
  untilAllowed: false,
};

/** For what needs a role that was assigned a moment ago, or a principal that was just made. */
export const rbacRetry: RetryRules = { ...armRetry, attempts: 12, untilAllowed: true };

export const neverRetry: RetryRules = { ...armRetry, attempts: 1 };

/** Waits; ends at once, with the signal's reason, when that comes first. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

export const sleep: Sleep = async (ms, signal) => {
  try {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
};

export interface RetryOptions {
  readonly rules: RetryRules;
  /** Whether the call can be made twice with the effect of one. What is not is repeated only when it had none for certain. */
  readonly idempotent: boolean;
  readonly sleep?: Sleep;
  /** From 0 to 1. */
  readonly random?: () => number;
  readonly signal?: AbortSignal;
  /** Before each wait. */
  readonly onRetry?: (error: AzureError, waitMs: number) => void;
}

/** Calls until it succeeds, fails for good, or has failed as often as the rules allow; then the last error is thrown. */
export async function withRetry<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { rules, idempotent, signal } = options;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof AzureError) || attempt >= rules.attempts) throw error;
      const kind = kindOf(error, rules, idempotent);
      if (kind === 'final') throw error;
      const waitMs = error.retryAfterMs ?? backOffMs(rules, kind, attempt, (options.random ?? Math.random)());
      options.onRetry?.(error, waitMs);
      await (options.sleep ?? sleep)(waitMs, signal);
    }
  }
}

type Kind = 'final' | 'busy' | 'transient';

const transientInitialMs = 1000;

function backOffMs(rules: RetryRules, kind: Kind, attempt: number, random: number): number {
  const initial = kind === 'transient' ? Math.min(transientInitialMs, rules.initialMs) : rules.initialMs;
  return Math.min(rules.capMs, initial * rules.factor ** (attempt - 1)) * (1 + rules.jitter * random);
}

const transientStatus: ReadonlySet<number> = new Set([408, 500, 502, 503, 504]);
/** Of Entra ID while a new secret or application spreads. */
const spreading = /AADSTS700021[56]/;
const later = /RetryableError|retry later|retry the (?:request|operation) (?:later|after)/i;
const refusals: ReadonlySet<string> = new Set(['AuthorizationFailed', 'LinkedAuthorizationFailed', 'Forbidden']);

/** `busy` waits long, since others must finish first; `transient` starts with a short wait. */
export function kindOf(error: AzureError, rules: RetryRules, idempotent: boolean): Kind {
  const { status, code, message } = error;
  const texts = [code, message, ...error.details.flatMap((detail) => [detail.code, detail.message])];
  if (status === 429) return 'busy';
  if (texts.some((text) => spreading.test(text))) return 'busy';
  if (status === 409 && error.retryAfterMs !== undefined) return 'busy';
  if (texts.some((text) => later.test(text))) return 'busy';
  if (rules.untilAllowed && (status === 403 || refusals.has(code) || code === 'PrincipalNotFound')) return 'busy';
  if (idempotent && (code === noAnswer || (status !== undefined && transientStatus.has(status)))) return 'transient';
  return 'final';
}
