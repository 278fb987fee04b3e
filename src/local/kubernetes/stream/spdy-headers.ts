// Header blocks of SPDY/3: name and value pairs, compressed with one zlib stream per direction and a fixed dictionary.
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib';

/** Each stands in the dictionary after its length. */
const words =
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow ' +
  'authorization cache-control connection content-base content-encoding content-language content-length ' +
  'content-location content-md5 content-range content-type date etag expect expires from host if-match ' +
  'if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma ' +
  'proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade ' +
  'user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie ' +
  'keep-alive origin';
const text =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505' +
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized' +
  '403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable' +
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT' +
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,' +
  'text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.';

const counted = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  const whole = Buffer.alloc(4 + bytes.length);
  whole.writeUInt32BE(bytes.length);
  bytes.copy(whole, 4);
  return whole;
};

/** What both sides know before the first block. */
export const dictionary = Buffer.concat([
  ...words.split(' ').map((word) => counted(word.replace('_', ' '))),
  Buffer.from(text),
]);

/** More than this in one block, once decompressed, is an attack. */
const blockLimit = 64 * 1024;

export type SpdyHeaders = ReadonlyMap<string, string>;

export interface HeaderBlocks {
  /** In the order of the frames, each after the one before has been read. Rejects when it is malformed. */
  read(block: Buffer): Promise<SpdyHeaders>;
  /** In the order of the frames, likewise. */
  write(headers: SpdyHeaders): Promise<Buffer>;
  close(): void;
}

export function createHeaderBlocks(): HeaderBlocks {
  const options = { dictionary, flush: constants.Z_SYNC_FLUSH };
  const inflate = createInflate(options);
  const deflate = createDeflate(options);
  const unpack = passing(inflate);
  const pack = passing(deflate);
  return {
    read: async (block) => parse(await unpack(block)),
    write: (headers) => pack(serialize(headers)),
    close() {
      inflate.close();
      deflate.close();
    },
  };
}

/** Sends bytes through a zlib stream and gives what comes out for them. */
function passing(stream: Inflate | Deflate): (bytes: Buffer) => Promise<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  let fail: (error: Error) => void = () => {};
  stream.on('data', (part: Buffer) => {
    length += part.length;
    if (length <= blockLimit) parts.push(part);
    else stream.destroy();
  });
  stream.on('error', (error) => fail(error));
  return (bytes) =>
    new Promise((resolve, reject) => {
      parts = [];
      length = 0;
      fail = reject;
      stream.write(bytes, (error) => {
        // A stream that was destroyed on the way calls back as if all were well.
        if (error || stream.destroyed) reject(error ?? new RangeError('a block of headers is too large'));
        else resolve(Buffer.concat(parts));
      });
    });
}

function serialize(headers: SpdyHeaders): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(headers.size);
  return Buffer.concat([count, ...[...headers].flatMap(([name, value]) => [counted(name), counted(value)])]);
}

/** Throws RangeError when it ends too soon. */
function parse(block: Buffer): SpdyHeaders {
  let at = 4;
  const next = (): string => {
    const end = at + 4 + block.readUInt32BE(at);
    if (end > block.length) throw new RangeError('a block of headers ends too soon');
    const value = block.toString('utf8', at + 4, end);
    at = end;
    return value;
  };
  const headers = new Map<string, string>();
  for (let left = block.readUInt32BE(0); left > 0; left--) {
    const name = next();
    headers.set(name, next());
  }
  return headers;
}
