// Times and durations as the server reads and writes them.

/** The text of a refused time or duration, as the server words it. */
export class TimeError extends Error {}

interface Element {
  /** As the layout spells it. */
  readonly layout: string;
  readonly form: RegExp;
}

const literal = (text: string): Element => ({ layout: text, form: new RegExp(`^${text.replace('.', '\\.')}`) });
const date: readonly Element[] = [
  { layout: '2006', form: /^\d{4}/ },
  literal('-'),
  { layout: '01', form: /^\d{2}/ },
  literal('-'),
  { layout: '02', form: /^\d{2}/ },
  literal('T'),
  { layout: '15', form: /^\d{2}/ },
  literal(':'),
  { layout: '04', form: /^\d{2}/ },
  literal(':'),
];
const zone: Element = { layout: 'Z07:00', form: /^(?:Z|[+-]\d{2}:\d{2})/ };
const second: Element = { layout: '05', form: /^\d{2}/ };

interface Layout {
  readonly text: string;
  readonly elements: readonly Element[];
}

const seconds: Layout = {
  text: '2006-01-02T15:04:05Z07:00',
  // A fraction may follow the seconds although the layout has none.
  elements: [...date, { layout: '05', form: /^\d{2}(?:[.,]\d+)?/ }, zone],
};
const micros: Layout = {
  text: '2006-01-02T15:04:05.000000Z07:00',
  elements: [...date, second, { layout: '.000000', form: /^[.,]\d{6}(?!\d)/ }, zone],
};

const ranges: readonly (readonly [part: string, least: number, most: number])[] = [
  ['month', 1, 12],
  ['day', 1, 31],
  ['hour', 0, 23],
  ['minute', 0, 59],
  ['second', 0, 59],
];

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();

/** Checks a time against a layout and gives epoch milliseconds and the microseconds within the second. */
function parse(text: string, { text: layout, elements }: Layout): { ms: number; micro: string } {
  const quoted = JSON.stringify(text);
  let rest = text;
  for (const element of elements) {
    const found = element.form.exec(rest)?.[0];
    if (found === undefined) {
      throw new TimeError(
        `parsing time ${quoted} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(element.layout)}`,
      );
    }
    rest = rest.slice(found.length);
  }
  if (rest !== '') throw new TimeError(`parsing time ${quoted}: extra text: ${JSON.stringify(rest)}`);
  const numbers = text.slice(0, 19).split(/[-T:]/).map(Number);
  const [year = 0, month = 0, day = 0] = numbers;
  for (const [index, [part, least, most]] of ranges.entries()) {
    const value = numbers[index + 1] ?? 0;
    if (value < least || value > most) throw new TimeError(`parsing time ${quoted}: ${part} out of range`);
  }
  if (day > daysIn(year, month)) throw new TimeError(`parsing time ${quoted}: day out of range`);
  const fraction = /[.,](\d+)/.exec(text)?.[1] ?? '';
  return { ms: Date.parse(text.replace(/[.,]\d+/, '')), micro: fraction.padEnd(6, '0').slice(0, 6) };
}

/** A time in UTC to the second, as `Time` is written. Throws TimeError. */
export const canonicalTime = (text: string): string =>
  new Date(parse(text, seconds).ms).toISOString().replace('.000Z', 'Z');

/** A time in UTC to the microsecond, as `MicroTime` is written. Throws TimeError. */
export function canonicalMicroTime(text: string): string {
  const { ms, micro } = parse(text, micros);
  return new Date(ms).toISOString().replace('.000Z', `.${micro}Z`);
}

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds of a duration such as `1h30m` or `-1.5s`; undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  const match = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.exec(text);
  if (!match) return /^[+-]?0$/.test(text) ? 0 : undefined;
  let total = 0;
  for (const [, number, unit = ''] of (match[2] ?? '').matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    total += Number(number) * (units[unit] ?? 0);
  }
  return match[1] === '-' ? -total : total;
}
