import type { Readable } from 'node:stream';

/** Reads a stream of bytes in the sizes that a protocol asks for. Undefined when it has ended before. */
export interface ByteReader {
  exactly(length: number): Promise<Buffer | undefined>;
  /** What has come, at least one byte and at most so many. */
  some(most: number): Promise<Buffer | undefined>;
}

export function createByteReader(source: Readable): ByteReader {
  const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);

  async function more(): Promise<Buffer | undefined> {
    const next = await chunks.next();
    return next.done ? undefined : next.value;
  }

  const take = (length: number): Buffer => {
    const taken = held.subarray(0, length);
    held = held.subarray(length);
    return taken;
  };

  return {
    async exactly(length) {
      if (held.length < length) {
        const parts = [held];
        let have = held.length;
        while (have < length) {
          const chunk = await more();
          if (!chunk) return undefined;
          parts.push(chunk);
          have += chunk.length;
        }
        held = Buffer.concat(parts, have);
      }
      return take(length);
    },
    async some(most) {
      while (held.length === 0) {
        const chunk = await more();
        if (!chunk) return undefined;
        held = chunk;
      }
      return take(most);
    },
  };
}
