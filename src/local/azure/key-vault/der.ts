// As much of DER as PKCS #12 needs.

export interface DerNode {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag, length and content. */
  readonly whole: Buffer;
}

export const tags = {
  integer: 0x02,
  bitString: 0x03,
  octets: 0x04,
  null: 0x05,
  oid: 0x06,
  sequence: 0x30,
  set: 0x31,
  context0: 0xa0,
} as const;

export class DerError extends Error {}

/** The nodes that stand one after another in these bytes. */
export function readAll(bytes: Buffer): readonly DerNode[] {
  const nodes: DerNode[] = [];
  for (let at = 0; at < bytes.length; ) {
    const node = readOne(bytes, at);
    nodes.push(node);
    at += node.whole.length;
  }
  return nodes;
}

/** The parts of a node whose tag is as expected. */
export function parts(node: DerNode | undefined, tag: number): readonly DerNode[] {
  return readAll(contentOf(node, tag));
}

export function contentOf(node: DerNode | undefined, tag: number): Buffer {
  if (node?.tag !== tag) throw new DerError('another element was expected');
  return node.content;
}

export function readOne(bytes: Buffer, at = 0): DerNode {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw new DerError('an element is cut off');
  let length = first;
  let start = at + 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4 || start + count > bytes.length) throw new DerError('a length is not definite');
    length = bytes.readUIntBE(start, count);
    start += count;
  }
  const end = start + length;
  if (end > bytes.length) throw new DerError('an element is cut off');
  return { tag, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) };
}

export function write(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const size = length < 0x100 ? 1 : length < 0x1_0000 ? 2 : length < 0x100_0000 ? 3 : 4;
  const head = Buffer.alloc(2 + size);
  head[0] = tag;
  head[1] = 0x80 | size;
  head.writeUIntBE(length, 2, size);
  return Buffer.concat([head, content]);
}

export function writeInteger(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(value, 1);
  let from = 0;
  while (from < 4 && bytes[from] === 0 && (bytes[from + 1] ?? 0) < 0x80) from++;
  return write(tags.integer, bytes.subarray(from));
}

export function writeOid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const bytes: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const groups = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return write(tags.oid, Buffer.from(bytes));
}

export function readOid(node: DerNode | undefined): string {
  const bytes = contentOf(node, tags.oid);
  const arcs: number[] = [];
  let value = 0;
  for (const byte of bytes) {
    value = value * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    arcs.push(value);
    value = 0;
  }
  const [head = 0, ...rest] = arcs;
  const first = Math.min(2, Math.floor(head / 40));
  return [first, head - first * 40, ...rest].join('.');
}

export function readInteger(node: DerNode | undefined): number {
  const bytes = contentOf(node, tags.integer);
  if (bytes.length === 0 || bytes.length > 5) throw new DerError('a number is too large');
  return bytes.readIntBE(0, bytes.length);
}
