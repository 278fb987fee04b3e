// Bounds on what a template may cost. Every node that is evaluated and every element or piece of text that is made is charged.
import { TemplateError } from './template-error.ts';

export interface Budget {
  /** Throws when the work of the whole template goes beyond what is allowed. */
  spend(units: number): void;
}

/** Enough for templates at every documented limit; well below a second of work. */
export const evaluationUnits = 10_000_000;

export function createBudget(units = evaluationUnits): Budget {
  let left = units;
  return {
    spend(asked) {
      left -= asked;
      if (left < 0) {
        throw new TemplateError('The template is too costly to evaluate: it exceeds the limit of evaluation steps');
      }
    },
  };
}

/** What a text costs when it is made or searched. */
export function textUnits(text: string): number {
  return 1 + (text.length >>> 3);
}
