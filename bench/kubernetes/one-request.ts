// One `get ns` over a connection of its own, with as little of a client as HTTP/2 allows: Node's own costs as much as a cluster's
// whole first answer, and it is the server that is measured.
import { connect } from 'node:tls';
import { type Access, namespaces } from './client.ts';

const frameType = { data: 0, headers: 1, settings: 4 } as const;
const flag = { endStream: 1, endHeaders: 4 } as const;
const frameHead = 9;
const streamId = 1;
/** Entries of HPACK's static table. */
const indexed = { methodGet: 0x82, schemeHttps: 0x87, status200: 0x88 } as const;

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(frameHead);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header that is not in the table and shall not come into it. */
function literal(name: string, value: string): Buffer {
  const text = (of: string): Buffer => Buffer.concat([Buffer.from([of.length]), Buffer.from(of)]);
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

const opening = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(frameType.settings, 0, 0, Buffer.alloc(0)),
  frame(
    frameType.headers,
    flag.endHeaders | flag.endStream,
    streamId,
    Buffer.concat([
      Buffer.from([indexed.methodGet, indexed.schemeHttps]),
      literal(':path', namespaces),
      literal(':authority', 'kubernetes'),
    ]),
  ),
]);

/** Connects with the certificate, gets the namespaces, and disconnects. Throws when the answer is not 200. */
export function getNamespaces({ url, serverName, ca, certificate }: Access): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname,
      port: Number(port),
      servername: serverName,
      ca,
      ...certificate,
      ALPNProtocols: ['h2'],
    });
    let unread: Buffer = Buffer.alloc(0);
    let status = 0;
    const read = (type: number, flags: number, payload: Buffer): void => {
      if (type === frameType.headers) status = payload[0] ?? 0;
      if ((flags & flag.endStream) === 0) return;
      socket.destroy();
      if (status === indexed.status200) resolve();
      else reject(new Error(`get ns of ${serverName}: the first octet of the answer's headers is ${status}`));
    };
    socket.on('secureConnect', () => socket.write(opening));
    socket.on('data', (part: Buffer) => {
      unread = Buffer.concat([unread, part]);
      while (unread.length >= frameHead) {
        const end = frameHead + unread.readUIntBE(0, 3);
        if (unread.length < end) return;
        const [type, flags, stream] = [unread.readUInt8(3), unread.readUInt8(4), unread.readUInt32BE(5)];
        const payload = unread.subarray(frameHead, end);
        unread = unread.subarray(end);
        if (stream === streamId) read(type, flags, payload);
      }
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`get ns of ${serverName}: the connection was closed`)));
  });
}
