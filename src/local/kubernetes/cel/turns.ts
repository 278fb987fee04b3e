// Rules that take long are evaluated in turns, so that one object's do not keep the server from everybody else. A write is made
// without waiting; what is not done when its turn is over is thrown, and the write begins again with what was found so far.
import type { JsonValue } from '../object.ts';
import { equalJson } from '../patch/json-tree.ts';
import { isObject } from '../schema/decode.ts';
import type { FieldError } from '../status.ts';

/** What the first turn may cost: many writes may have theirs at once. */
const costOfFirstTurn = 50_000;
/** What each other turn may cost, but for the evaluation it ends with; those follow one another. */
const costOfTurn = 100_000;
/** So often at most does a write begin again; then others have changed the object each time, and it is done at one go. */
const mostTurns = 200;

/** The turn of a write is over. */
export class TurnOver extends Error {
  constructor() {
    super('the rules of an object take another turn');
  }
}

/** What came of one evaluation. */
export interface Outcome {
  readonly errors: readonly FieldError[];
  readonly cost: number;
}

/** The evaluations of one object's rules, in order, over all turns of a write. */
export interface Turns {
  /** What the next evaluation came to in a turn before. */
  replay(): Outcome | undefined;
  record(outcome: Outcome): void;
  /** What the next evaluation may cost. Throws TurnOver when the turn is. */
  allowance(most: number): number;
}

/** How far the turns of one write have come. */
export interface Progress {
  readonly outcomes: Outcome[];
  turn: number;
  value: JsonValue;
  old: JsonValue | undefined;
}

let current: Progress | undefined;

/** Checks an object of a write; it may throw TurnOver. */
export function checkedInTurns<T>(progress: Progress | undefined, check: () => T): T {
  current = progress;
  try {
    return check();
  } finally {
    current = undefined;
  }
}

/** Rules see nothing else of metadata; a name that the server makes up is made up anew each time. */
function seen(value: JsonValue | undefined): JsonValue | undefined {
  if (!isObject(value) || !isObject(value.metadata)) return value;
  const { name = null, generateName = null } = value.metadata;
  return { ...value, metadata: generateName ? { generateName } : { name } };
}

/** The turns of the write that is being checked; undefined where nobody waits. */
export function turnsOf(value: JsonValue, old: JsonValue | undefined): Turns | undefined {
  const progress = current;
  if (!progress || progress.turn > mostTurns) return undefined;
  const now = seen(value) ?? null;
  const before = seen(old);
  if (!equalJson(now, progress.value) || !equalJson(before, progress.old)) progress.outcomes.length = 0;
  progress.value = now;
  progress.old = before;
  let next = 0;
  let left = progress.turn === 0 ? costOfFirstTurn : costOfTurn;
  return {
    replay() {
      const known = progress.outcomes[next];
      if (known) next += 1;
      return known;
    },
    record(outcome) {
      progress.outcomes.push(outcome);
      next += 1;
      left -= outcome.cost;
    },
    allowance(most) {
      if (left <= 0) throw new TurnOver();
      return progress.turn === 0 ? Math.min(most, left) : most;
    },
  };
}

let last: Promise<unknown> = Promise.resolve();

/** Waits until everybody else had a chance. Writes that wait do so one behind the other. */
function nextTurn(): Promise<unknown> {
  last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
  return last;
}

export const beginTurns = (): Progress => ({ outcomes: [], turn: 0, value: null, old: undefined });

/** Does some work, again for each turn that it needs. */
export async function inTurns<T>(progress: Progress | undefined, work: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TurnOver) || !progress) throw error;
      progress.turn += 1;
      await nextTurn();
    }
  }
}
