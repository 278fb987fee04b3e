// Times on the wire: RFC 3339 with nanoseconds in text, seconds and nanoseconds in protobuf.

export interface Timestamp {
  /** Since 1970; may be negative. */
  readonly seconds: number;
  /** 0 to 999999999, counted forwards also before 1970. */
  readonly nanos: number;
}

const form = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)$/;
const maxLength = 64;
/** From year 1 to 9999: what a protobuf Timestamp may be. */
const [minSeconds, maxSeconds] = [-62_135_596_800, 253_402_300_799];

/** Undefined for what is not a time of RFC 3339 in the years 1 to 9999. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = text.length > maxLength ? null : form.exec(text);
  if (match === null) return undefined;
  const [, date = '', time = '', fraction = '', zone = ''] = match;
  const local = new Date(`${date}T${time}Z`);
  // A day that the month does not have rolls over into the next one.
  if (Number.isNaN(local.getTime()) || !local.toISOString().startsWith(date)) return undefined;
  const offset = offsetSeconds(zone);
  if (offset === undefined) return undefined;
  return inRange(local.getTime() / 1000 - offset, Number(fraction.padEnd(9, '0')));
}

function offsetSeconds(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4))];
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60);
}

function inRange(seconds: number, nanos: number): Timestamp | undefined {
  return seconds >= minSeconds && seconds <= maxSeconds ? { seconds, nanos } : undefined;
}

/** In UTC, with no more decimals than are needed. Undefined for what no text can say. */
export function formatTimestamp({ seconds, nanos }: Timestamp): string | undefined {
  if (!Number.isInteger(seconds) || seconds < minSeconds || seconds > maxSeconds) return undefined;
  if (!Number.isInteger(nanos) || nanos < 0 || nanos > 999_999_999) return undefined;
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
  return `${whole}${fraction}Z`;
}

/** To the millisecond. */
export function timestampDate(text: string): Date | undefined {
  const time = parseTimestamp(text);
  return time === undefined ? undefined : new Date(time.seconds * 1000 + Math.floor(time.nanos / 1e6));
}

export function dateTimestamp(date: Date): Timestamp {
  const seconds = Math.floor(date.getTime() / 1000);
  return { seconds, nanos: (date.getTime() - seconds * 1000) * 1e6 };
}
