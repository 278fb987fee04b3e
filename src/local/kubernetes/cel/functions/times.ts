// Times and durations.
import { isDateTime } from '../../crd/formats.ts';
import type { Declaration } from '../overloads.ts';
import { CelError, Duration, Timestamp } from '../values.ts';

const nanosOf: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** What is wrong with the first part that is not a number and a unit. */
function durationProblem(text: string): string {
  for (const [part, number = '', unit = ''] of text.matchAll(/(\d+\.?\d*|\.\d+|)([^.\d]*)/g)) {
    if (part === '' || number === '') break;
    if (unit === '') return 'missing unit in';
    if (!Object.hasOwn(nanosOf, unit)) return `unknown unit ${JSON.stringify(unit)} in`;
  }
  return 'invalid';
}

/** Reads a duration as Go does: `1h30m`. */
export function parseDuration(text: string): Duration {
  const sign = text.startsWith('-') ? -1n : 1n;
  const rest = text.replace(/^[+-]/, '');
  if (rest === '0') return new Duration(0n);
  if (!/^((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) {
    throw new CelError(`time: ${durationProblem(rest)} duration ${JSON.stringify(text)}`);
  }
  let nanos = 0n;
  for (const [, whole = '', , unit = ''] of rest.matchAll(/(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const [integer = '', fraction = ''] = whole.split('.');
    const scale = nanosOf[unit] ?? 1;
    nanos += BigInt(integer || '0') * BigInt(scale) + BigInt(Math.trunc(Number(`0.${fraction || '0'}`) * scale));
  }
  return new Duration(sign * nanos);
}

/** Reads a time in the form of RFC 3339. */
export function parseTimestamp(text: string): Timestamp {
  if (!isDateTime(text))
    throw new CelError(`parsing time ${JSON.stringify(text)} as "2006-01-02T15:04:05Z07:00": cannot parse`);
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? [];
  const milliseconds = Date.parse(text.replace(/\.\d+/, '').toUpperCase());
  return new Timestamp(BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9)));
}

export function timestampText({ nanos }: Timestamp): string {
  const seconds = new Date(Number(nanos / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
  const fraction = String(nanos % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${seconds}${fraction ? `.${fraction}` : ''}Z`;
}

/** In seconds, as CEL prints durations. */
export const durationText = ({ nanos }: Duration): string => `${Number(nanos) / 1e9}s`;

interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly milliseconds: number;
  readonly dayOfYear: number;
}

/** Minutes that a zone is ahead of UTC: `+02:00`, or a name such as `Europe/Oslo`. */
function offsetOf(zone: string, milliseconds: number): number {
  const [, sign, hours, minutes] = /^([+-]?)(\d\d):(\d\d)$/.exec(zone) ?? [];
  if (hours !== undefined) return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  try {
    const shown = new Date(milliseconds).toLocaleString('sv-SE', { timeZone: zone, hour12: false });
    return Math.round((Date.parse(`${shown.replace(' ', 'T')}Z`) - milliseconds) / 60_000);
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
}

function partsOf({ nanos }: Timestamp, zone?: string): Parts {
  const utc = Number(nanos / 1_000_000n);
  const date = new Date(utc + (zone === undefined ? 0 : offsetOf(zone, utc) * 60_000));
  const year = date.getUTCFullYear();
  return {
    year,
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hours: date.getUTCHours(),
    minutes: date.getUTCMinutes(),
    seconds: date.getUTCSeconds(),
    milliseconds: date.getUTCMilliseconds(),
    dayOfYear: Math.floor((date.getTime() - Date.UTC(year, 0, 1)) / 86_400_000),
  };
}

const getters: Readonly<Record<string, (parts: Parts) => number>> = {
  getFullYear: ({ year }) => year,
  getMonth: ({ month }) => month,
  getDate: ({ day }) => day,
  getDayOfMonth: ({ day }) => day - 1,
  getDayOfWeek: ({ weekday }) => weekday,
  getDayOfYear: ({ dayOfYear }) => dayOfYear,
  getHours: ({ hours }) => hours,
  getMinutes: ({ minutes }) => minutes,
  getSeconds: ({ seconds }) => seconds,
  getMilliseconds: ({ milliseconds }) => milliseconds,
};

const ofDurations: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

export const timeFunctions: readonly Declaration[] = [
  ...Object.entries(getters).flatMap(([name, get]): Declaration[] => [
    [`.${name}(timestamp): int`, (time: Timestamp) => BigInt(get(partsOf(time)))],
    [`.${name}(timestamp, string): int`, (time: Timestamp, zone: string) => BigInt(get(partsOf(time, zone)))],
  ]),
  ...Object.entries(ofDurations).map(
    ([name, unit]): Declaration => [`.${name}(duration): int`, ({ nanos }: Duration) => nanos / unit],
  ),
];
