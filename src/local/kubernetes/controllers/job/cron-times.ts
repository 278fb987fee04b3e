// When a cron schedule is due.
import { parseDuration } from '../../cel/functions/times.ts';

interface Fields {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** Where both are restricted, either will do. */
  readonly anyDay: boolean;
  readonly anyWeekday: boolean;
}

const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

function numbers(text: string, least: number, most: number, names: readonly string[] = [], first = 0): Set<number> {
  const value = (part: string): number => {
    const named = names.indexOf(part.toLowerCase());
    return named >= 0 ? named + first : Number(part);
  };
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const [range = '', step] = part.split('/');
    const [low = '', high] = range.split('-');
    const any = low === '*' || low === '?';
    const start = any ? least : value(low);
    const end = any ? most : high === undefined ? (step === undefined ? start : most) : value(high);
    for (let each = start; each <= end; each += Number(step ?? 1)) found.add(each);
  }
  return found;
}

/** Reads a schedule that validation has let pass. */
function parse(schedule: string): Fields {
  const [minute = '*', hour = '*', day = '*', month = '*', weekday = '*'] = (macros[schedule.trim()] ?? schedule)
    .trim()
    .split(/\s+/);
  // A step makes a restriction of it.
  const any = (text: string): boolean => text.split(',').some((part) => /^[*?](\/1)?$/.test(part));
  return {
    minutes: numbers(minute, 0, 59),
    hours: numbers(hour, 0, 23),
    days: numbers(day, 1, 31),
    months: numbers(month, 1, 12, monthNames, 1),
    weekdays: numbers(weekday, 0, 6, dayNames),
    anyDay: any(day),
    anyWeekday: any(weekday),
  };
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** Beyond this a schedule is never due: 30 February. */
const longestSearchDays = 5 * 366;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Milliseconds that a zone's clock is ahead of UTC at a moment. */
function offsetAt(zone: string, epochMs: number): number {
  if (zone === 'UTC') return 0;
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(epochMs)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(epochMs / 1000) * 1000;
}

function fits({ months, days, weekdays, anyDay, anyWeekday }: Fields, local: Date): boolean {
  if (!months.has(local.getUTCMonth() + 1)) return false;
  const day = days.has(local.getUTCDate());
  const weekday = weekdays.has(local.getUTCDay());
  return anyDay || anyWeekday ? day && weekday : day || weekday;
}

/** What lies between two times of `@every 1h30m`: whole seconds, one at least. Undefined for other schedules. */
export function intervalOf(schedule: string): number | undefined {
  const [, text] = /^@every (\S+)$/.exec(schedule.trim()) ?? [];
  if (text === undefined) return undefined;
  const seconds = parseDuration(text).nanos / 1_000_000_000n;
  return Number(seconds < 1n ? 1n : seconds) * 1000;
}

/** The first time after a moment that a schedule is due, in epoch milliseconds; undefined when it never is. */
export function nextTime(schedule: string, after: number, zone = 'UTC'): number | undefined {
  const interval = intervalOf(schedule);
  if (interval !== undefined) return Math.floor(after / 1000) * 1000 + interval;
  const fields = parse(schedule);
  const from = Math.floor(after / minuteMs) * minuteMs + minuteMs;
  const start = from + offsetAt(zone, from);
  let day = Math.floor(start / dayMs) * dayMs;
  for (let searched = 0; searched < longestSearchDays; searched += 1, day += dayMs) {
    if (!fits(fields, new Date(day))) continue;
    for (const hour of [...fields.hours].sort((a, b) => a - b)) {
      for (const minute of [...fields.minutes].sort((a, b) => a - b)) {
        const local = day + (hour * 60 + minute) * minuteMs;
        if (local < start) continue;
        const due = local - offsetAt(zone, local - offsetAt(zone, local));
        if (due > after) return due;
      }
    }
  }
  return undefined;
}
