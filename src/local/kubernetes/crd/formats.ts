// The formats that schemas of custom resources may ask of strings. Others are taken as they come.
import { isIP, isIPv4, isIPv6 } from 'node:net';

const days = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const dateForm = /^(\d{4})-(\d\d)-(\d\d)$/;

function isDate(text: string): boolean {
  const [, year, month, day] = dateForm.exec(text) ?? [];
  if (year === undefined) return false;
  const [m, d, y] = [Number(month), Number(day), Number(year)];
  const leap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0;
  return m >= 1 && m <= 12 && d >= 1 && d <= (m === 2 && !leap ? 28 : (days[m - 1] ?? 0));
}

const timeForm =
  /^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):?[0-5]\d)$/;

export function isDateTime(text: string): boolean {
  const [, date] = timeForm.exec(text) ?? [];
  return date !== undefined && isDate(date);
}

const durationForm = /^[-+]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)(((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*)$/;
/** Beside Go's own: `3 days`, `1 week`. */
const spokenDuration =
  /^\d+\s*(ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)$/i;

export const isDuration = (text: string): boolean =>
  text === '0' || durationForm.test(text) || spokenDuration.test(text);

const uuid = (version: string): RegExp =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, 'i');
const uuidForms = { uuid: uuid('[0-9a-f]'), uuid3: uuid('3'), uuid4: uuid('4'), uuid5: uuid('5') };

const hostPart = /^[a-zA-Z0-9\u00a1-\uffff]([a-zA-Z0-9\u00a1-\uffff-]{0,61}[a-zA-Z0-9\u00a1-\uffff])?$/;
function isHostname(text: string): boolean {
  if (text.length > 255 || text === '') return false;
  return text
    .replace(/\.$/, '')
    .split('.')
    .every((part) => hostPart.test(part));
}

function isUri(text: string): boolean {
  if (text.startsWith('/')) return true;
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text) && !/[\s\p{Cc}]/u.test(text);
}

function isCidr(text: string): boolean {
  const [address = '', length = '', ...more] = text.split('/');
  if (more.length > 0 || !/^\d{1,3}$/.test(length)) return false;
  const family = isIP(address);
  return family !== 0 && Number(length) <= (family === 4 ? 32 : 128);
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

const shortName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const longName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: (text) => /^[0-9a-f]{24}$/i.test(text),
  byte: isBase64,
  cidr: isCidr,
  date: isDate,
  'date-time': isDateTime,
  datetime: isDateTime,
  duration: isDuration,
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  hexcolor: (text) => /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text),
  hostname: isHostname,
  ipv4: isIPv4,
  ipv6: isIPv6,
  'k8s-long-name': (text) => text.length <= 253 && longName.test(text),
  'k8s-short-name': (text) => shortName.test(text),
  mac: (text) => /^([0-9a-f]{2}[:-]){5}([0-9a-f]{2}[:-]){0,2}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$/i.test(text),
  rgbcolor: (text) => /^rgb\(\s*\d{1,3}\s*,\s*\d{1,3}\s*,\s*\d{1,3}\s*\)$/.test(text),
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  uri: isUri,
  uuid: (text) => uuidForms.uuid.test(text),
  uuid3: (text) => uuidForms.uuid3.test(text),
  uuid4: (text) => uuidForms.uuid4.test(text),
  uuid5: (text) => uuidForms.uuid5.test(text),
};

/** Whether a string has a format, as far as the format is one that is checked. */
export function hasFormat(format: string, text: string): boolean {
  const check = Object.hasOwn(formats, format) ? formats[format] : undefined;
  return check === undefined || check(text);
}
