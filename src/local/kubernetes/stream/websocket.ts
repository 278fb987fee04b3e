// The server's side of a WebSocket that carries a stream of bytes: binary messages, whose bounds mean nothing.
import { createHash } from 'node:crypto';
import { Duplex } from 'node:stream';
import { createByteReader } from './byte-reader.ts';

const opcodes = { continuation: 0, binary: 2, close: 8, ping: 9, pong: 10 };
const lastFlag = 0x80;
const maskFlag = 0x80;
const controlLimit = 125;

/** What a client's key is answered with. */
export function acceptKey(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

/** A frame as servers send them, unmasked. */
function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = lastFlag | opcode;
  if (head.length === 2) head[1] = length;
  else if (head.length === 4) {
    head[1] = 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, payload]);
}

function unmask(bytes: Buffer, mask: Buffer, offset: number): Buffer {
  const plain = Buffer.allocUnsafe(bytes.length);
  for (let at = 0; at < bytes.length; at++) plain[at] = (bytes[at] ?? 0) ^ (mask[(at + offset) & 3] ?? 0);
  return plain;
}

/** The bytes within a WebSocket whose handshake is over. Destroying it, or a frame that is wrong, ends the connection. */
export function webSocketBytes(connection: Duplex): Duplex {
  const reader = createByteReader(connection);
  let goOn: (() => void) | undefined;
  let closing = false;

  const bytes = new Duplex({
    read() {
      goOn?.();
      goOn = undefined;
    },
    write(chunk: Buffer, _encoding, done) {
      if (connection.destroyed || connection.writableEnded) done();
      else if (connection.write(frame(opcodes.binary, chunk))) done();
      else connection.once('drain', done);
    },
    final(done) {
      close(1000);
      done();
    },
    destroy(error, done) {
      goOn?.();
      connection.destroy();
      done(error);
    },
  });
  connection.once('close', () => bytes.destroy());

  function close(code: number): void {
    if (closing || connection.destroyed) return;
    closing = true;
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    connection.end(frame(opcodes.close, payload));
  }

  async function message(length: number, mask: Buffer): Promise<boolean> {
    for (let read = 0; read < length; ) {
      const piece = await reader.some(length - read);
      if (!piece) return false;
      const plain = unmask(piece, mask, read);
      read += piece.length;
      if (!bytes.push(plain) && !bytes.destroyed) {
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
      }
    }
    return true;
  }

  async function next(): Promise<boolean> {
    const head = await reader.exactly(2);
    if (!head) return false;
    const opcode = head.readUInt8(0) & 0x0f;
    const second = head.readUInt8(1);
    const length = await payloadLength(second & 0x7f);
    // Clients must mask what they send.
    const mask = second & maskFlag ? await reader.exactly(4) : undefined;
    if (length === undefined || !mask) return false;
    if (opcode === opcodes.binary || opcode === opcodes.continuation) return message(length, mask);
    if (length > controlLimit) return false;
    const payload = await reader.exactly(length);
    if (!payload || opcode === opcodes.close) return false;
    if (opcode === opcodes.ping) connection.write(frame(opcodes.pong, unmask(payload, mask, 0)));
    return opcode === opcodes.ping || opcode === opcodes.pong;
  }

  async function payloadLength(short: number): Promise<number | undefined> {
    if (short < 126) return short;
    const long = await reader.exactly(short === 126 ? 2 : 8);
    if (!long) return undefined;
    return short === 126 ? long.readUInt16BE(0) : Number(long.readBigUInt64BE(0));
  }

  async function serve(): Promise<void> {
    try {
      while (await next());
    } catch {
      // The connection broke; its end tells whoever reads.
    }
    close(1000);
    bytes.push(null);
  }
  void serve();
  return bytes;
}
