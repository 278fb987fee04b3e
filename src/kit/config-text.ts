import { choicesOf, type SettingSchema } from './config-schema.ts';

/** Text in a setting's own notation did not mean anything. */
export const unreadable = Symbol('unreadable');

const durationUnits: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const byteUnits: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** Seconds in `1h30m`. */
export function parseDuration(text: string): number | typeof unreadable {
  if (!/^(?:\d{1,12}(?:\.\d{1,6})?(?:ms|s|m|h|d))+$/.test(text)) return unreadable;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)([a-z]+)/g)) {
    seconds += Number(amount) * (durationUnits[unit ?? ''] ?? Number.NaN);
  }
  return seconds;
}

/** Bytes in `4MiB`. */
export function parseBytes(text: string): number | typeof unreadable {
  const match = /^(\d{1,15}(?:\.\d{1,6})?)(B|[kMGT]B|[KMGT]iB)$/.exec(text);
  if (!match) return unreadable;
  const size = Number(match[1]) * (byteUnits[match[2] ?? ''] ?? Number.NaN);
  return Number.isSafeInteger(size) ? size : unreadable;
}

/** A flag's or variable's text as the type that the schema asks for. Nothing is guessed: `yes` is not true, `1 ` is not 1. */
export function fromText(schema: SettingSchema, text: string): unknown {
  if (schema['x-config'] || choicesOf(schema)) return text;
  switch (schema.type) {
    case 'integer':
    case 'number':
      return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : unreadable;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : unreadable;
    case 'array': {
      const items = text === '' ? [] : text.split(',').map((item) => fromText(schema.items ?? {}, item.trim()));
      return items.includes(unreadable) ? unreadable : items;
    }
    default:
      return text;
  }
}
