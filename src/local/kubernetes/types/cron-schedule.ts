// Schedules of cron jobs: five fields, or a name for a common one.
import { parseDuration } from '../cel/functions/times.ts';
import { CelError } from '../cel/values.ts';

interface Field {
  readonly least: number;
  readonly most: number;
  readonly names?: Readonly<Record<string, number>>;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const fields: readonly Field[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: Object.fromEntries(months.map((name, index) => [name, index + 1])) },
  { least: 0, most: 6, names: Object.fromEntries(days.map((name, index) => [name, index])) },
];

const macros = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

class ScheduleError extends Error {}

function number(text: string, names: Field['names']): number {
  const named = names?.[text.toLowerCase()];
  if (named !== undefined) return named;
  if (!/^[+-]?\d+$/.test(text)) {
    throw new ScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  if (Number(text) < 0) throw new ScheduleError(`negative number (${Number(text)}) not allowed: ${text}`);
  return Number(text);
}

function checkRange(text: string, { least, most, names }: Field): void {
  const [range = '', step, ...more] = text.split('/');
  const [low = '', high, ...rest] = range.split('-');
  let start = least;
  let end = most;
  if (low !== '*' && low !== '?') {
    start = number(low, names);
    if (rest.length > 0) throw new ScheduleError(`too many hyphens: ${text}`);
    end = high === undefined ? (step === undefined ? start : most) : number(high, names);
  }
  if (more.length > 0) throw new ScheduleError(`too many slashes: ${text}`);
  const stride = step === undefined ? 1 : number(step, undefined);
  if (start < least) throw new ScheduleError(`beginning of range (${start}) below minimum (${least}): ${text}`);
  if (end > most) throw new ScheduleError(`end of range (${end}) above maximum (${most}): ${text}`);
  if (start > end) throw new ScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (stride === 0) throw new ScheduleError(`step of range should be a positive number: ${text}`);
}

const every = '@every ';

function durationProblem(schedule: string): string | undefined {
  try {
    parseDuration(schedule.slice(every.length));
    return undefined;
  } catch (error) {
    if (error instanceof CelError) return `failed to parse duration ${schedule}: ${error.message}`;
    throw error;
  }
}

/** What is wrong with a schedule in the server's words; undefined when nothing is. */
export function scheduleProblem(text: string): string | undefined {
  const schedule = text.replace(/^(CRON_)?TZ=\S*\s+/, '').trim();
  try {
    if (schedule.startsWith('@')) {
      if (macros.includes(schedule)) return undefined;
      if (schedule.startsWith(every)) return durationProblem(schedule);
      return `unrecognized descriptor: ${schedule}`;
    }
    const parts = schedule === '' ? [] : schedule.split(/\s+/);
    if (parts.length !== fields.length) {
      return `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`;
    }
    for (const [index, field] of fields.entries()) {
      for (const range of (parts[index] ?? '').split(',')) checkRange(range, field);
    }
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}

/** Whether a time zone is known by this name. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
