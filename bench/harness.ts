// What every benchmark shares: how figures are printed, and how a thing and its peer are measured fairly in one run.

/** One line of output. */
export interface Figure {
  readonly bench: string;
  readonly case: string;
  readonly value: number;
  readonly unit: string;
  /** The same of the peer or the bare baseline, measured in the same run. */
  readonly peer?: number;
  /** `value` divided by `peer`. */
  readonly ratio?: number;
  /** What the figure must not miss. */
  readonly bound?: Bound;
}

/** A bound of the value, or of the ratio. */
export type Bound = { readonly atMost: number } | { readonly atLeast: number } | { readonly ratioAtLeast: number };

/**
 * Prints a figure on standard output, as one line of JSON. One that misses its bound says so, and the process will end with an
 * exit code that is not zero.
 */
export function report(figure: Figure): void {
  const { bench, case: name, value, unit, peer = null, ratio = null, bound } = figure;
  const rounded = (number: number | null) => (number === null ? null : Number(number.toPrecision(4)));
  const line = { bench, case: name, value: rounded(value), unit, peer: rounded(peer), ratio: rounded(ratio) };
  const met = bound && isMet(bound, value, ratio);
  process.stdout.write(`${JSON.stringify(bound ? { ...line, bound: boundText(bound), met } : line)}\n`);
  if (met === false) process.exitCode = 1;
}

/** A ratio without a peer in this run is nothing to judge by. */
function isMet(bound: Bound, value: number, ratio: number | null): boolean {
  if ('atMost' in bound) return value <= bound.atMost;
  return 'atLeast' in bound ? value >= bound.atLeast : ratio === null || ratio >= bound.ratioAtLeast;
}

function boundText(bound: Bound): string {
  if ('atMost' in bound) return `value <= ${bound.atMost}`;
  return 'atLeast' in bound ? `value >= ${bound.atLeast}` : `ratio >= ${bound.ratioAtLeast}`;
}

/** Says on standard error what is going on. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  const index = Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100));
  return sorted[index] ?? Number.NaN;
}

/** Does the work `operations` times; answers with how many seconds counted. */
export type Contestant = (operations: number, round: number) => Promise<number> | number;

/** Times the whole of a loop over an operation that may be asynchronous. */
export function loopOf(operation: (index: number) => Promise<unknown> | undefined): Contestant {
  let index = 0;
  return async (operations) => {
    const start = performance.now();
    for (let done = 0; done < operations; done++) {
      const pending = operation(index++);
      if (pending !== undefined) await pending;
    }
    return (performance.now() - start) / 1000;
  };
}

export interface Comparison {
  readonly bench: string;
  readonly case: string;
  /** Per round and contestant. */
  readonly operations: number;
  readonly rounds?: number;
  readonly subject: Contestant;
  readonly peer: Contestant;
  readonly bound?: Bound;
}

/**
 * Measures both in turns, round by round, so that whatever else the machine does hits both alike, and reports the medians in
 * operations per second. Many short rounds rather than few long ones: a disturbance then spoils a round, not the median.
 * The first round warms up and does not count.
 */
export async function compare(comparison: Comparison): Promise<void> {
  const { operations, rounds = 9 } = comparison;
  const rates: { readonly subject: number[]; readonly peer: number[] } = { subject: [], peer: [] };
  for (let round = 0; round <= rounds; round++) {
    const order = round % 2 === 0 ? (['subject', 'peer'] as const) : (['peer', 'subject'] as const);
    for (const name of order) {
      const rate = operations / (await comparison[name](operations, round));
      if (round > 0) rates[name].push(rate);
    }
  }
  const [value, peer] = [median(rates.subject), median(rates.peer)];
  const { bench, case: name, bound } = comparison;
  const figure = { bench, case: name, value, unit: 'operations/s', peer, ratio: value / peer };
  report(bound ? { ...figure, bound } : figure);
}
