// Bounds on what a template may cost. Every node that is evaluated and every element or piece of text that is made is charged.
import { TemplateError } from './template-error.ts';

export interface Budget {
  /** Throws when the work of the whole template goes beyond what is allowed. */
  spend(units: number): void;
  /** Throws when calls are nested too deep; else {@link leave} must follow. */
  enter(): void;
  leave(): void;
}

/** Enough for templates at every documented limit; about a second of work. */
export const evaluationUnits = 3_000_000;
const depthMax = 200;

export function createBudget(units = evaluationUnits): Budget {
  let left = units;
  let depth = 0;
  return {
    spend(asked) {
      left -= asked;
      if (left < 0) {
        throw new TemplateError('The template is too costly to evaluate: it exceeds the limit of evaluation steps');
      }
    },
    enter() {
      if (depth >= depthMax) {
        throw new TemplateError(`The template functions are nested deeper than '${depthMax}' calls`);
      }
      depth++;
    },
    leave() {
      depth--;
    },
  };
}

/** What a text costs when it is made or searched. */
export function textUnits(text: string): number {
  return 1 + (text.length >>> 3);
}
