// Times: ISO 8601 texts, durations, and the formats of .NET that templates use.
import { type FunctionTable, func } from '../environment.ts';
import { TemplateError } from '../template-error.ts';
import { wantInteger, wantText } from '../values.ts';

export const dateFunctions: FunctionTable = {
  datetimeadd: func([2, 3], ([base, duration, format], call) => {
    const time = parseTime(wantText(base, call), call.name);
    const made = addDuration(time, wantText(duration, call));
    return formatTime(made, format === undefined ? undefined : wantText(format, call));
  }),
  datetimefromepoch: func(1, ([seconds], call) =>
    formatTime(checked(wantInteger(seconds, call) * 1000), 'yyyy-MM-ddTHH:mm:ssZ'),
  ),
  datetimetoepoch: func(1, ([text], call) => Math.floor(parseTime(wantText(text, call), call.name) / 1000)),
};

const timeMax = 253_402_300_799_999;

function checked(time: number): number {
  if (!Number.isFinite(time) || time < -62_135_596_800_000 || time > timeMax) {
    throw new TemplateError('The time is outside of the years 1 to 9999');
  }
  return time;
}

function parseTime(text: string, name: string): number {
  const found = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,7})?)?)?\s?(Z|[+-]\d\d:?\d\d)?$/.exec(
    text,
  );
  const time = found === null ? Number.NaN : Date.parse(isoOf(found));
  if (Number.isNaN(time)) {
    throw new TemplateError(
      `The template language function '${name}' expects its parameter to be a date and time in ISO 8601 format`,
    );
  }
  return checked(time);
}

function isoOf(parts: RegExpExecArray): string {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '.000', zone = 'Z'] = parts;
  const offset = zone === 'Z' || zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.padEnd(4, '0').slice(0, 4)}${offset}`;
}

function addDuration(time: number, text: string): number {
  const found =
    /^(-)?P(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,8})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,12})(?:\.\d{1,7})?S)?)?$/.exec(
      text,
    );
  if (found === null || /P$|T$/.test(text)) {
    throw new TemplateError(
      "The template language function 'dateTimeAdd' expects its second parameter to be a duration in ISO 8601 format",
    );
  }
  const [years, months, weeks, days, hours, minutes, seconds] = found.slice(2).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const sign = found[1] === '-' ? -1 : 1;
  // .NET reads the years and months of a duration as 365 and 30 days.
  const allDays = years * 365 + months * 30 + weeks * 7 + days;
  return checked(time + sign * 1000 * (allDays * 86_400 + hours * 3600 + minutes * 60 + seconds));
}

const standardFormats: { readonly [letter: string]: string } = {
  d: 'M/d/yyyy',
  D: 'dddd, d MMMM yyyy',
  u: 'yyyy-MM-dd HH:mm:ssZ',
  s: 'yyyy-MM-ddTHH:mm:ss',
  o: 'yyyy-MM-ddTHH:mm:ss.fffffffZ',
  O: 'yyyy-MM-ddTHH:mm:ss.fffffffZ',
  t: 'h:mm tt',
  T: 'h:mm:ss tt',
  r: "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
  R: "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
  g: 'M/d/yyyy h:mm tt',
  G: 'M/d/yyyy h:mm:ss tt',
};

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

const fields: { readonly [field: string]: (at: Date) => string } = {
  yyyy: (at) => pad(at.getUTCFullYear(), 4),
  yy: (at) => pad(at.getUTCFullYear() % 100, 2),
  MMMM: (at) => months[at.getUTCMonth()] ?? '',
  MMM: (at) => (months[at.getUTCMonth()] ?? '').slice(0, 3),
  MM: (at) => pad(at.getUTCMonth() + 1, 2),
  M: (at) => String(at.getUTCMonth() + 1),
  dddd: (at) => days[at.getUTCDay()] ?? '',
  ddd: (at) => (days[at.getUTCDay()] ?? '').slice(0, 3),
  dd: (at) => pad(at.getUTCDate(), 2),
  d: (at) => String(at.getUTCDate()),
  HH: (at) => pad(at.getUTCHours(), 2),
  H: (at) => String(at.getUTCHours()),
  hh: (at) => pad(at.getUTCHours() % 12 || 12, 2),
  h: (at) => String(at.getUTCHours() % 12 || 12),
  mm: (at) => pad(at.getUTCMinutes(), 2),
  m: (at) => String(at.getUTCMinutes()),
  ss: (at) => pad(at.getUTCSeconds(), 2),
  s: (at) => String(at.getUTCSeconds()),
  fffffff: (at) => `${pad(at.getUTCMilliseconds(), 3)}0000`,
  fff: (at) => pad(at.getUTCMilliseconds(), 3),
  tt: (at) => (at.getUTCHours() < 12 ? 'AM' : 'PM'),
  K: () => 'Z',
  zzz: () => '+00:00',
};

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

/** A time in a .NET format; ISO 8601 to the second when none is given. */
export function formatTime(time: number, format = 'yyyy-MM-ddTHH:mm:ssZ'): string {
  if (format.length > 200) throw new TemplateError('The format of a date and time is too long');
  const at = new Date(time);
  const pattern = format.length === 1 ? standardFormats[format] : format;
  if (pattern === undefined) throw new TemplateError(`The format '${format}' is not a valid format of a date and time`);
  return pattern.replace(/'([^']*)'|([yMdHhmsftzK])\2*/g, (token, quoted: string | undefined) => {
    if (quoted !== undefined) return quoted;
    return Object.hasOwn(fields, token) ? (fields[token]?.(at) ?? token) : token;
  });
}
