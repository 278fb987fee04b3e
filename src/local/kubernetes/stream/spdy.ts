// The server's side of SPDY/3.1, as much of it as port forwarding uses. Its clients open streams and send no window updates,
// and expect none: what holds a fast sender back is the connection itself, which is not read on while a stream is full.
import { Duplex } from 'node:stream';
import { createByteReader } from './byte-reader.ts';
import { createHeaderBlocks, type SpdyHeaders } from './spdy-headers.ts';

export interface SpdyStream extends Duplex {
  readonly headers: SpdyHeaders;
}

const kinds = { synStream: 1, synReply: 2, reset: 3, settings: 4, ping: 6, goAway: 7, headers: 8, windowUpdate: 9 };
const reasons = { protocolError: 1, refused: 3, cancel: 5, alreadyClosed: 9 };
const finFlag = 1;
const idMask = 0x7fff_ffff;

/** Streams open at a time on one connection. */
const streamLimit = 2000;
const controlLimit = 64 * 1024;
/** Bytes that may wait for the reader of one stream before the connection is not read on. */
const waitingLimit = 1024 * 1024;
const frameLimit = 0xff_ffff;

function controlFrame(kind: number, flags: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x8003, 0);
  head.writeUInt16BE(kind, 2);
  head.writeUInt32BE(((flags << 24) | payload.length) >>> 0, 4);
  return Buffer.concat([head, payload]);
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

function dataHead(id: number, flags: number, length: number): Buffer {
  return numbers(id, ((flags << 24) | length) >>> 0);
}

interface Open {
  readonly stream: SpdyStream;
  /** Settles when the stream takes more, or is closed. */
  room(): Promise<void> | undefined;
  /** The other side has sent its last. */
  end(): void;
  /** The other side has given the stream up. */
  reset(): void;
}

/**
 * Serves a connection until it ends; `onStream` takes every stream the client opens, once it has been accepted. A stream that
 * is destroyed before both sides have ended is reset. Resolves when everything is over, whatever ended it.
 */
export async function serveSpdy(connection: Duplex, onStream: (stream: SpdyStream) => void): Promise<void> {
  const streams = new Map<number, Open>();
  const blocks = createHeaderBlocks();
  const reader = createByteReader(connection);
  const onDrain: (() => void)[] = [];
  let leaving = false;
  connection.on('drain', () => {
    for (const go of onDrain.splice(0)) go();
  });

  const send = (bytes: Buffer, done?: () => void): void => {
    if (connection.destroyed || connection.writableEnded) done?.();
    else if (connection.write(bytes) || !done) done?.();
    else onDrain.push(done);
  };
  const reset = (id: number, reason: number): void => send(controlFrame(kinds.reset, 0, numbers(id, reason)));

  function closed(id: number): void {
    streams.delete(id);
    if (leaving && streams.size === 0) connection.end();
  }

  async function open(flags: number, payload: Buffer): Promise<void> {
    const id = payload.readUInt32BE(0) & idMask;
    const headers = await blocks.read(payload.subarray(10));
    if (id % 2 === 0 || streams.has(id)) {
      reset(id, reasons.protocolError);
      return;
    }
    if (leaving || streams.size >= streamLimit) {
      reset(id, reasons.refused);
      return;
    }
    const reply = await blocks.write(new Map());
    const opened = openStream(id, headers, { send, reset: () => reset(id, reasons.cancel), closed: () => closed(id) });
    streams.set(id, opened);
    send(controlFrame(kinds.synReply, 0, Buffer.concat([numbers(id), reply])));
    if (flags & finFlag) opened.end();
    onStream(opened.stream);
  }

  async function data(id: number, flags: number, length: number): Promise<boolean> {
    const open = streams.get(id);
    for (let left = length; left > 0; ) {
      const piece = await reader.some(left);
      if (!piece) return false;
      left -= piece.length;
      if (!open || open.stream.destroyed) continue;
      open.stream.push(piece);
      await open.room();
    }
    if (flags & finFlag) open?.end();
    if (!open && length > 0) reset(id, reasons.alreadyClosed);
    return true;
  }

  async function control(kind: number, flags: number, payload: Buffer): Promise<void> {
    switch (kind) {
      case kinds.synStream:
        return open(flags, payload);
      case kinds.reset:
        streams.get(payload.readUInt32BE(0) & idMask)?.reset();
        return;
      case kinds.ping:
        // Even ones would be answers to our own, and we send none.
        if (payload.readUInt32BE(0) % 2 === 1) send(controlFrame(kinds.ping, 0, payload));
        return;
      case kinds.goAway:
        leaving = true;
        if (streams.size === 0) connection.end();
        return;
      case kinds.synReply:
      case kinds.headers:
        // Of no use here, but all blocks are compressed as one.
        await blocks.read(payload.subarray(4));
        return;
      default:
        // Settings and window updates: see above. Other kinds are to be ignored.
        return;
    }
  }

  async function next(): Promise<boolean> {
    const head = await reader.exactly(8);
    if (!head) return false;
    const first = head.readUInt32BE(0);
    const flags = head.readUInt8(4);
    const length = head.readUIntBE(5, 3);
    if (first <= idMask) return data(first, flags, length);
    if (length > controlLimit) throw new RangeError('a frame is too large');
    if (first >>> 16 !== 0x8003) throw new RangeError('a frame is of another version');
    const payload = await reader.exactly(length);
    if (!payload) return false;
    await control(first & 0xffff, flags, payload);
    return true;
  }

  try {
    while (await next());
  } catch {
    // The connection broke, or what came over it is not SPDY: either way there is nobody to tell.
  } finally {
    connection.destroy();
    for (const { reset: drop } of [...streams.values()]) drop();
    for (const go of onDrain.splice(0)) go();
    blocks.close();
  }
}

interface Wire {
  send(bytes: Buffer, done?: () => void): void;
  reset(): void;
  closed(): void;
}

function openStream(id: number, headers: SpdyHeaders, wire: Wire): Open {
  let waiting: (() => void) | undefined;
  let received = false;
  let finished = false;
  let given = false;
  const goOn = (): void => {
    waiting?.();
    waiting = undefined;
  };
  const duplex = new Duplex({
    read: goOn,
    write(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at += frameLimit) {
        const piece = chunk.subarray(at, at + frameLimit);
        const last = at + frameLimit >= chunk.length;
        wire.send(Buffer.concat([dataHead(id, 0, piece.length), piece]), last ? done : undefined);
      }
      if (chunk.length === 0) done();
    },
    final(done) {
      finished = true;
      wire.send(dataHead(id, finFlag, 0));
      done();
    },
    destroy(error, done) {
      goOn();
      if (!given && !(received && finished)) wire.reset();
      wire.closed();
      done(error);
    },
  });
  // Breaking off is told by the stream's end; who reads it need not listen.
  duplex.on('error', () => {});
  return {
    stream: Object.assign(duplex, { headers }),
    room() {
      if (duplex.readableLength < waitingLimit || duplex.destroyed) return undefined;
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
    end() {
      if (received) return;
      received = true;
      duplex.push(null);
    },
    reset() {
      given = true;
      duplex.destroy();
    },
  };
}
