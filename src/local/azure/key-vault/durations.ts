// Durations as policies write them: `P90D`, `P2Y`, `P18M`.

const form =
  /^P(?:(\d{1,4})Y)?(?:(\d{1,5})M)?(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,7})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$/;

/** The epoch milliseconds that lie this long after (or, with -1, before) a time; undefined when the text is no duration. */
export function shift(from: number, duration: string, sign: 1 | -1 = 1): number | undefined {
  const match = form.exec(duration);
  if (match === null || duration === 'P' || duration.endsWith('T')) return undefined;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part) => (part === undefined ? 0 : Number(part)));
  const date = new Date(from);
  date.setUTCMonth(date.getUTCMonth() + sign * (years * 12 + months));
  const time = date.getTime() + sign * (((weeks * 7 + days) * 24 + hours) * 3600 + minutes * 60 + seconds) * 1000;
  return Number.isNaN(time) ? undefined : time;
}
