// What an expression may use: a rule must not keep the server from its work.
import { CostError } from './values.ts';

/** What one evaluation of one expression may cost, in steps of about the work of one operator. */
export const costOfExpression = 1_000_000;
/** What all rules of one object may cost together. */
export const costOfObject = 10_000_000;

export interface Budget {
  /** Counts steps. Throws CostError when there are too many. */
  spend(steps: number): void;
  /** Counts the reading of a text or list of this length. */
  read(length: number): void;
  readonly spent: number;
}

export function createBudget(most = costOfExpression): Budget {
  let spent = 0;
  const spend = (steps: number): void => {
    spent += steps;
    if (spent > most) throw new CostError();
  };
  return {
    spend,
    read: (length) => spend(1 + length / 10),
    get spent() {
      return spent;
    },
  };
}
