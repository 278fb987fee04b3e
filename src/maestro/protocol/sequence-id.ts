// Sequence ids of status events: snowflakes, decimal. 41 bits of milliseconds, 10 of node, 12 of step.

/** The start of the snowflakes' time, in milliseconds since 1970. */
const epochMs = 1_288_834_974_657n;
/** Every agent uses this node: servers in use refuse a status whose node differs from the last one's. */
const node = 1n;
const [nodeBits, stepBits] = [10n, 12n];
const timeShift = nodeBits + stepBits;
const maxStep = (1n << stepBits) - 1n;
const maxId = (1n << 63n) - 1n;

const form = /^(?:0|[1-9][0-9]{0,18})$/;

interface Parts {
  readonly time: bigint;
  readonly node: bigint;
  readonly step: bigint;
}

function parts(text: string): Parts | undefined {
  if (!form.test(text)) return undefined;
  const id = BigInt(text);
  if (id > maxId) return undefined;
  return { time: id >> timeShift, node: (id >> stepBits) & ((1n << nodeBits) - 1n), step: id & maxStep };
}

export function isSequenceId(text: string): boolean {
  return parts(text) !== undefined;
}

/**
 * How a status event's sequence id stands to the last one accepted. With none accepted yet (empty) it is newer. Ids of different
 * nodes, and texts that are none, cannot be compared.
 */
export function compareSequenceIds(next: string, last: string): 'newer' | 'same' | 'older' | 'incomparable' {
  const [a, b] = [parts(next), parts(last)];
  if (last === '' && (a !== undefined || next === '')) return 'newer';
  if (a === undefined || b === undefined || a.node !== b.node) return 'incomparable';
  if (a.time !== b.time) return a.time > b.time ? 'newer' : 'older';
  if (a.step !== b.step) return a.step > b.step ? 'newer' : 'older';
  return 'same';
}

/** Hands out ids, each greater than all before it and than every id it has been told of, whatever the clock does. */
export interface Sequence {
  next(): string;
  /** An id handed out by an earlier run of this agent: later ones will be greater. What is no sequence id is left alone. */
  observe(id: string): void;
}

export function createSequence(now: () => number = Date.now): Sequence {
  let time = 0n;
  let step = 0n;

  return {
    next() {
      const clock = BigInt(Math.trunc(now())) - epochMs;
      if (clock > time) [time, step] = [clock, 0n];
      // A full millisecond borrows from the next; the clock catches up.
      else if (step === maxStep) [time, step] = [time + 1n, 0n];
      else step += 1n;
      return String((time << timeShift) | (node << stepBits) | step);
    },
    observe(id) {
      const seen = parts(id);
      if (seen === undefined) return;
      if (seen.time > time || (seen.time === time && seen.step > step)) ({ time, step } = seen);
    },
  };
}
