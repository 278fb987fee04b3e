// Quantities of resources: `500m`, `1Gi`, `1e3`. Read to an exact number, written in the one canonical form.

type Format = 'binary' | 'decimal' | 'exponent';

export interface Quantity {
  /** In billionths, the finest the server knows; exact. */
  readonly nanos: bigint;
  readonly format: Format;
}

/** The text of a refused quantity, as the server words it. */
export class QuantityError extends Error {}

const form = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const billion = 1_000_000_000n;
const most = (1n << 63n) - 1n;
/** More than anybody means; keeps a hostile exponent from making a number of that many digits. */
const widestExponent = 400;

function suffixOf(suffix: string): { format: Format; binary: number; decimal: number } {
  const decimal = decimalSuffixes.indexOf(suffix);
  if (decimal >= 0) return { format: 'decimal', binary: 0, decimal: (decimal - 3) * 3 };
  const binary = binarySuffixes.indexOf(suffix);
  if (binary > 0) return { format: 'binary', binary: binary * 10, decimal: 0 };
  const exponent = /^[eE]([-+]?[0-9]+)$/.exec(suffix)?.[1];
  if (exponent === undefined) throw new QuantityError("unable to parse quantity's suffix");
  const value = Number(exponent);
  if (Math.abs(value) > widestExponent) throw new QuantityError('unable to parse numeric part of quantity');
  return { format: 'exponent', binary: 0, decimal: value };
}

/** Few texts are in use, so what was made of them is remembered; beyond this many, all is forgotten. */
const keptTexts = 4096;
const longestKept = 32;

function remembering<Result>(work: (text: string) => Result): (text: string) => Result {
  const known = new Map<string, Result>();
  return (text) => {
    let result = known.get(text);
    if (result !== undefined) return result;
    result = work(text);
    if (text.length <= longestKept) {
      if (known.size >= keptTexts) known.clear();
      known.set(text, result);
    }
    return result;
  };
}

/** Reads a quantity; throws QuantityError. */
export const parseQuantity: (text: string) => Quantity = remembering(read);

function read(text: string): Quantity {
  const [, sign, whole = '', fraction = '', suffix = ''] = form.exec(text) ?? [];
  if (sign === undefined || text === '') {
    throw new QuantityError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  const { format, binary, decimal } = suffixOf(suffix);
  const digits = BigInt(`0${whole}${fraction}`) << BigInt(binary);
  const power = decimal - fraction.length + 9;
  let nanos = power >= 0 ? digits * 10n ** BigInt(power) : roundedUp(digits, 10n ** BigInt(-power));
  if (format === 'binary' && nanos > most * billion) nanos = most * billion;
  return { nanos: sign === '-' ? -nanos : nanos, format };
}

const roundedUp = (value: bigint, divisor: bigint): bigint => (value + divisor - 1n) / divisor;

function decimalText(nanos: bigint, format: Format): string {
  let mantissa = nanos;
  let exponent = -9;
  while (mantissa % 10n === 0n) {
    mantissa /= 10n;
    exponent++;
  }
  while (exponent % 3 !== 0) {
    mantissa *= 10n;
    exponent--;
  }
  const suffix = format === 'exponent' ? undefined : decimalSuffixes[exponent / 3 + 3];
  if (suffix !== undefined) return `${mantissa}${suffix}`;
  return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
}

/** The one way the server writes a quantity. */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0';
  const small = nanos > -1024n * billion && nanos < 1024n * billion;
  if (format !== 'binary' || small || nanos % billion !== 0n) {
    return decimalText(nanos, format === 'exponent' ? 'exponent' : 'decimal');
  }
  let mantissa = nanos / billion;
  let step = 0;
  while (mantissa % 1024n === 0n && step < binarySuffixes.length - 1) {
    mantissa /= 1024n;
    step++;
  }
  return `${mantissa}${binarySuffixes[step]}`;
}

/** The canonical form of a quantity written in any way; throws QuantityError. */
export const canonicalQuantity: (text: string) => string = remembering((text) => formatQuantity(read(text)));

/** Below zero, zero or above as `one` is less than, equal to or more than `other`. */
export const compareQuantities = (one: Quantity, other: Quantity): number =>
  one.nanos < other.nanos ? -1 : one.nanos > other.nanos ? 1 : 0;

/** Whole units, rounded up. */
export const quantityValue = ({ nanos }: Quantity): bigint =>
  nanos >= 0n ? roundedUp(nanos, billion) : nanos / billion;

/** Thousandths, rounded up. */
export const quantityMilliValue = ({ nanos }: Quantity): bigint =>
  nanos >= 0n ? roundedUp(nanos, 1_000_000n) : nanos / 1_000_000n;
