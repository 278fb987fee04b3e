// How long ago something was, in the server's short form.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24;
const year = 365 * day;

const two = (whole: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${whole}${unit}` : `${whole}${unit}${rest}${restUnit}`;

/** A duration in milliseconds as `45s`, `3m20s`, `5h`, `3d4h`, `2y10d`. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / second);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(ms / minute);
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(ms / hour);
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / day);
  if (hours < 8 * day) return two(days, 'd', hours % day, 'h');
  if (hours < 2 * year) return `${days}d`;
  const years = Math.trunc(days / 365);
  return hours < 8 * year ? two(years, 'y', days % 365, 'd') : `${years}y`;
}

/** How long ago a timestamp was; `<unknown>` when there is none. */
export const since = (timestamp: string | null | undefined, now: number): string =>
  timestamp ? humanDuration(now - Date.parse(timestamp)) : '<unknown>';
