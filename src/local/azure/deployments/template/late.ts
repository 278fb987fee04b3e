// Evaluation with values that come later: everything that can be is evaluated, and what must be fetched first is told all at once.
import type { Json } from '../../kernel/record.ts';
import { evaluateText } from '../expressions/evaluate.ts';
import { TemplateError } from '../expressions/template-error.ts';
import { measure } from '../expressions/values.ts';
import type { TemplateEnvironment } from './context.ts';
import { evaluateTree } from './evaluate-tree.ts';
import { type Fetch, type Fetched, fetchKey, Pending } from './runtime-functions.ts';

export type Reader = (fetch: Fetch) => Promise<Json>;

const roundsMax = 16;

/**
 * Evaluates, fetches what was missing, and evaluates again until nothing is. `fetched` is added to, so what was read once is not read
 * again. Throws TemplateError, and what the reader throws.
 */
export async function evaluateFetching(
  value: Json,
  environment: TemplateEnvironment,
  fetched: Map<string, Json>,
  read: Reader,
): Promise<Json> {
  for (let round = 0; round < roundsMax; round++) {
    const { made, missing } = evaluateNow(value, environment);
    if (missing.size === 0) {
      measure(made, environment.budget);
      return made;
    }
    for (const [key, fetch] of missing) fetched.set(key, await read(fetch));
  }
  throw new TemplateError('The expressions refer to resources through too many others');
}

/** One round: texts whose values are not there yet stay as they are. */
export function evaluateNow(
  value: Json,
  environment: TemplateEnvironment,
): { readonly made: Json; readonly missing: ReadonlyMap<string, Fetch> } {
  const missing = new Map<string, Fetch>();
  const made = evaluateTree(value, environment, (text, within) => {
    try {
      return evaluateText(text, within);
    } catch (error) {
      if (!(error instanceof Pending)) throw error;
      missing.set(fetchKey(error.fetch), error.fetch);
      return text;
    }
  });
  return { made, missing };
}

/** For those who fetch nothing. */
export const nothingFetched: Fetched = new Map();
