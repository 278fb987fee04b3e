import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { constants, deflateSync } from 'node:zlib';
import { createByteReader } from './byte-reader.ts';
import { type SpdyStream, serveSpdy } from './spdy.ts';
import { createHeaderBlocks, dictionary, type HeaderBlocks } from './spdy-headers.ts';

interface Frame {
  /** `data`, or the number of the kind. */
  readonly kind: 'data' | number;
  readonly flags: number;
  /** Of data frames. */
  readonly id: number;
  readonly payload: Buffer;
}

interface Peer {
  readonly socket: Socket;
  readonly blocks: HeaderBlocks;
  /** Settles when the server is done with the connection. */
  readonly served: Promise<void>;
  control(kind: number, payload: Buffer, flags?: number): void;
  data(id: number, payload: Buffer, flags?: number): void;
  open(id: number, headers: Record<string, string>, flags?: number): Promise<void>;
  /** The next frame; undefined at the end. */
  next(): Promise<Frame | undefined>;
}

const kinds = { synStream: 1, synReply: 2, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 9 };
const fin = 1;

function word(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, at * 4);
  return bytes;
}

/** A client over a real connection, whose frames are written by hand. */
async function peer(t: TestContext, onStream: (stream: SpdyStream) => void): Promise<Peer> {
  const served = Promise.withResolvers<void>();
  const server = createServer((connection) => {
    served.resolve(serveSpdy(connection, onStream));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  const blocks = createHeaderBlocks();
  t.after(() => {
    socket.destroy();
    server.close();
    blocks.close();
  });
  const reader = createByteReader(socket);
  const control = (kind: number, payload: Buffer, flags = 0): void => {
    socket.write(Buffer.concat([word(0x80030000 + kind, flags * 2 ** 24 + payload.length), payload]));
  };
  return {
    socket,
    blocks,
    served: served.promise,
    control,
    data(id, payload, flags = 0) {
      socket.write(Buffer.concat([word(id, flags * 2 ** 24 + payload.length), payload]));
    },
    async open(id, headers, flags) {
      const block = await blocks.write(new Map(Object.entries(headers)));
      control(kinds.synStream, Buffer.concat([word(id, 0), Buffer.alloc(2), block]), flags);
    },
    async next() {
      const head = await reader.exactly(8).catch(() => undefined);
      if (!head) return undefined;
      const payload = (await reader.exactly(head.readUIntBE(5, 3))) ?? Buffer.alloc(0);
      const first = head.readUInt32BE(0);
      const isData = first < 0x8000_0000;
      return { kind: isData ? 'data' : first & 0xffff, flags: head.readUInt8(4), id: isData ? first : 0, payload };
    },
  };
}

test('a stream is accepted, carries bytes both ways and ends each way by itself', async (t) => {
  const opened = Promise.withResolvers<SpdyStream>();
  const client = await peer(t, opened.resolve);
  await client.open(1, { streamtype: 'data', port: '80' });
  const stream = await opened.promise;
  assert.deepEqual(
    [...stream.headers],
    [
      ['streamtype', 'data'],
      ['port', '80'],
    ],
  );
  const reply = await client.next();
  assert.equal(reply?.kind, kinds.synReply);
  assert.equal(reply.payload.readUInt32BE(0), 1);
  assert.equal((await client.blocks.read(reply.payload.subarray(4))).size, 0);

  client.data(1, Buffer.from('ask'), fin);
  let asked = '';
  for await (const part of stream.iterator({ destroyOnReturn: false })) asked += part;
  assert.equal(asked, 'ask');
  stream.end('answer');
  assert.equal((await client.next())?.payload.toString(), 'answer');
  assert.deepEqual(await client.next(), { kind: 'data', flags: fin, id: 1, payload: Buffer.alloc(0) });
});

test('the headers of many streams share one compression, in order', async (t) => {
  const seen: (string | undefined)[] = [];
  const client = await peer(t, (stream) => seen.push(stream.headers.get('requestid')));
  for (let at = 0; at < 50; at++) {
    await client.open(at * 2 + 1, { requestid: String(at) });
    const reply = await client.next();
    assert.equal(reply?.kind, kinds.synReply);
    await client.blocks.read(reply.payload.subarray(4));
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 50 }, (_, at) => String(at)),
  );
});

test('a ping comes back; settings, window updates and unknown frames are passed over', async (t) => {
  const client = await peer(t, () => {});
  client.control(kinds.settings, word(0));
  client.control(kinds.windowUpdate, word(1, 65_536));
  client.control(77, Buffer.from('anything'));
  client.control(kinds.ping, word(7));
  assert.deepEqual(await client.next(), { kind: kinds.ping, flags: 0, id: 0, payload: word(7) });
});

test('a stream that either side gives up is reset, and the others go on', async (t) => {
  const streams: SpdyStream[] = [];
  const client = await peer(t, (stream) => streams.push(stream));
  for (const id of [1, 3, 5]) {
    await client.open(id, {});
    await client.next();
  }
  streams[0]?.destroy();
  assert.deepEqual((await client.next())?.payload, word(1, 5));
  client.control(kinds.reset, word(3, 5));
  client.data(5, Buffer.from('still here'));
  assert.ok(streams[1] && streams[2]);
  const [part] = await once(streams[2], 'data');
  assert.equal(String(part), 'still here');
  assert.equal(streams[1].destroyed, true);
});

test('a number that is taken or not the client’s is refused', async (t) => {
  const client = await peer(t, () => {});
  await client.open(1, {});
  assert.equal((await client.next())?.kind, kinds.synReply);
  for (const id of [1, 2]) {
    await client.open(id, {});
    const refused = await client.next();
    assert.deepEqual([refused?.kind, refused?.payload], [kinds.reset, word(id, 1)]);
  }
});

test('a sender is held back while nobody reads its stream', async (t) => {
  const opened = Promise.withResolvers<SpdyStream>();
  const client = await peer(t, opened.resolve);
  await client.open(1, {});
  const stream = await opened.promise;
  const piece = Buffer.alloc(256 * 1024, 'x');
  const total = 200;
  for (let at = 0; at < total; at++) client.data(1, piece, at === total - 1 ? fin : 0);
  // A ping after the data is not seen before the data is read.
  client.control(kinds.ping, word(9));
  assert.equal((await client.next())?.kind, kinds.synReply);
  let ponged = false;
  const pong = client.next().then((frame) => {
    ponged = true;
    return frame;
  });
  while (stream.readableLength < 1024 * 1024) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(ponged, false);
  assert.ok(stream.readableLength < 4 * 1024 * 1024);
  let read = 0;
  for await (const part of stream.iterator({ destroyOnReturn: false })) read += (part as Buffer).length;
  assert.equal(read, total * piece.length);
  assert.equal((await pong)?.kind, kinds.ping);
});

test('a client that leaves is let go once its streams are over', async (t) => {
  const opened = Promise.withResolvers<SpdyStream>();
  const client = await peer(t, opened.resolve);
  await client.open(1, {}, fin);
  const stream = await opened.promise;
  await client.next();
  client.control(kinds.goAway, word(0, 0));
  await client.open(3, {});
  assert.deepEqual((await client.next())?.payload, word(3, 3));
  stream.resume().end('bye');
  assert.equal((await client.next())?.payload.toString(), 'bye');
  assert.equal((await client.next())?.flags, fin);
  assert.equal(await client.next(), undefined);
  client.socket.end();
  await client.served;
});

for (const [what, bytes] of [
  ['a frame of another version', word(0x80020001, 0)],
  ['a control frame that is too large', word(0x80030001, 0xff_ffff)],
  ['headers that are not compressed', Buffer.concat([word(0x80030001, 20), Buffer.alloc(20, 1)])],
  ['a frame that is too short', word(0x80030003, 0)],
] as const) {
  test(`the connection ends at ${what}`, async (t) => {
    const client = await peer(t, () => {});
    client.socket.write(bytes);
    assert.equal(await client.next(), undefined);
    await client.served;
  });
}

test('headers that grow too large when decompressed end the connection', async (t) => {
  const client = await peer(t, () => assert.fail('the stream was taken'));
  // The client's own limit is the same, so its block is made apart.
  const block = deflateSync(Buffer.alloc(1_000_000), { dictionary, finishFlush: constants.Z_SYNC_FLUSH });
  client.control(kinds.synStream, Buffer.concat([word(1, 0), Buffer.alloc(2), block]));
  assert.equal(await client.next(), undefined);
  await client.served;
});

test('streams break off when the connection does', async (t) => {
  const opened = Promise.withResolvers<SpdyStream>();
  const client = await peer(t, opened.resolve);
  await client.open(1, {});
  const stream = await opened.promise;
  client.socket.destroy();
  await once(stream, 'close');
  await client.served;
});
