// Bytes of blobs and layers: short ones stand in the document that they belong to, longer ones in files. A file is complete and on disk
// before a document names it, belongs to one document, and is never changed; one that no document names is removed at the next start.
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { World } from '../kernel/world.ts';

export type Piece =
  | { readonly length: number; readonly bytes: string }
  | { readonly length: number; readonly file: string };

export interface Taken {
  readonly piece: Piece;
  readonly length: number;
  /** Base64. */
  readonly md5: string;
  /** Hex. */
  readonly sha256: string;
}

export interface Contents {
  /** Reads a stream to its end. Throws {@link TooLong} past the limit. */
  take(stream: AsyncIterable<Buffer>, limitBytes: number): Promise<Taken>;
  /** The bytes from one position to another, the end not included. */
  read(pieces: readonly Piece[], start?: number, end?: number): Readable;
  /** Another one with the same bytes. */
  copy(piece: Piece): Promise<Piece>;
  remove(pieces: readonly Piece[]): Promise<void>;
  /** Removes files that were there at the start and are not among these. */
  sweep(inUse: ReadonlySet<string>): Promise<number>;
  /** Whether there is anything to sweep. */
  readonly before: readonly string[];
}

export class TooLong extends Error {}

/** Up to this many bytes stand in the document. */
export const inlineMax = 64 * 1024;

const opened = new WeakMap<World, Map<string, Promise<Contents>>>();

/** One for each folder of the cloud's directory of contents. */
export function openContents(world: World, folder: string): Promise<Contents> {
  const folders = opened.get(world) ?? new Map<string, Promise<Contents>>();
  opened.set(world, folders);
  let contents = folders.get(folder);
  if (contents === undefined) {
    contents = create(world, folder);
    folders.set(folder, contents);
  }
  return contents;
}

async function create(world: World, folder: string): Promise<Contents> {
  const root = world.files ?? (await temporary(world));
  const path = join(root, folder);
  const before = await readdir(path).catch(() => []);
  const made: { promise?: Promise<unknown> } = {};
  const directory = (): Promise<unknown> => {
    made.promise ??= mkdir(path, { recursive: true, mode: 0o700 });
    return made.promise;
  };
  const newName = (): string => randomBytes(16).toString('hex');
  const remove = async (name: string): Promise<void> => rm(join(path, name), { force: true });

  return {
    before,
    async take(stream, limitBytes) {
      const [md5, sha256] = [createHash('md5'), createHash('sha256')];
      const chunks: Buffer[] = [];
      let length = 0;
      let file: { readonly name: string; readonly handle: Awaited<ReturnType<typeof open>> } | undefined;
      try {
        for await (const chunk of stream) {
          length += chunk.length;
          if (length > limitBytes) throw new TooLong();
          md5.update(chunk);
          sha256.update(chunk);
          if (file === undefined && length <= inlineMax) {
            chunks.push(chunk);
            continue;
          }
          if (file === undefined) {
            await directory();
            const name = newName();
            file = { name, handle: await open(join(path, name), 'wx', 0o600) };
            for (const earlier of chunks) await writeAll(file.handle, earlier);
          }
          await writeAll(file.handle, chunk);
        }
        if (file !== undefined) {
          await file.handle.sync();
          await file.handle.close();
        }
      } catch (error) {
        if (file !== undefined) {
          await file.handle.close().catch(() => undefined);
          await remove(file.name);
        }
        throw error;
      }
      const digests = { md5: md5.digest('base64'), sha256: sha256.digest('hex'), length };
      const piece: Piece =
        file === undefined ? { length, bytes: Buffer.concat(chunks).toString('base64') } : { length, file: file.name };
      return { piece, ...digests };
    },
    read(pieces, start = 0, end = Number.POSITIVE_INFINITY) {
      return Readable.from(bytesOf(path, pieces, start, end), { objectMode: false });
    },
    async copy(piece) {
      if ('bytes' in piece) return piece;
      await directory();
      const name = newName();
      await copyFile(join(path, piece.file), join(path, name));
      const handle = await open(join(path, name), 'r+');
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
      return { length: piece.length, file: name };
    },
    async remove(pieces) {
      for (const piece of pieces) if ('file' in piece) await remove(piece.file);
    },
    async sweep(inUse) {
      const unused = before.filter((name) => !inUse.has(name));
      for (const name of unused) await remove(name);
      return unused.length;
    },
  };
}

async function writeAll(handle: Awaited<ReturnType<typeof open>>, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
}

async function* bytesOf(
  path: string,
  pieces: readonly Piece[],
  start: number,
  end: number,
): AsyncGenerator<Buffer, void, undefined> {
  let at = 0;
  for (const piece of pieces) {
    const from = Math.max(start - at, 0);
    const to = Math.min(end - at, piece.length);
    at += piece.length;
    if (from >= to) continue;
    if ('bytes' in piece) yield Buffer.from(piece.bytes, 'base64').subarray(from, to);
    else yield* createReadStream(join(path, piece.file), { start: from, end: to - 1 });
  }
}

/** For a world without a directory: one that goes with it. */
async function temporary(world: World): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'azure-contents-'));
  world.stopping.addEventListener('abort', () => void rm(path, { recursive: true, force: true }), { once: true });
  return path;
}
