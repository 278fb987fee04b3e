// DER: writing the few types that certificates consist of, and reading them back one element at a time.

/** One element: its tag, its content, and its whole encoding. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  readonly bytes: Buffer;
}

export const derTag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The tag of a context-specific element; constructed when it holds other elements. */
export const contextTag = (number: number, constructed: boolean): number => 0x80 | (constructed ? 0x20 : 0) | number;

export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const length = contents.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(length)]), ...contents]);
}

export const derSequence = (...elements: readonly Uint8Array[]): Buffer => der(derTag.sequence, ...elements);
export const derTrue = der(derTag.boolean, Buffer.from([0xff]));
export const derNull = Buffer.from([0x05, 0x00]);

/** A number that is not negative, most significant octet first, in as few octets as it can have. */
export function derInteger(octets: Uint8Array): Buffer {
  const first = octets.findIndex((octet) => octet !== 0);
  const digits = first < 0 ? Buffer.from([0]) : octets.subarray(first);
  return der(derTag.integer, ...((digits[0] ?? 0) > 0x7f ? [Buffer.from([0])] : []), digits);
}

export function derBits(octets: Uint8Array, unusedBits = 0): Buffer {
  return der(derTag.bitString, Buffer.from([unusedBits]), octets);
}

/** An object identifier written with dots. */
export function derObjectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(derTag.objectId, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

/** A time of X.509: two-digit years until 2049, whole seconds. */
export function derTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/\.\d+/, '').replaceAll(/[-:T]/g, '');
  const year = date.getUTCFullYear();
  return year >= 1950 && year < 2050
    ? der(derTag.utcTime, Buffer.from(digits.slice(2)))
    : der(derTag.generalizedTime, Buffer.from(digits));
}

/** The elements of a constructed one. Throws RangeError for what is not DER. */
export function derElements(content: Buffer): DerElement[] {
  const found: DerElement[] = [];
  for (let at = 0; at < content.length; ) {
    const tag = content.readUInt8(at);
    let length = content.readUInt8(at + 1);
    let start = at + 2;
    if (length > 0x7f) {
      const octets = length & 0x7f;
      length = content.readUIntBE(start, octets);
      start += octets;
    }
    const end = start + length;
    if (end > content.length) throw new RangeError('an element ends after what holds it');
    found.push({ tag, content: content.subarray(start, end), bytes: content.subarray(at, end) });
    at = end;
  }
  return found;
}

function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return [0x80 | octets.length, ...octets];
}

function base128(number: number): number[] {
  const digits = [number % 128];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128))
    digits.unshift(0x80 | (rest % 128));
  return digits;
}
