// The stream of a watch: JSON documents, one per line, in whatever pieces the network delivers them.
import { errorFromStatus, KubeConnectionError } from './kube-error.ts';
import type { KubeObject, UntypedObject } from './object.ts';

export interface WatchEvent<T extends KubeObject = UntypedObject> {
  /** `BOOKMARK` carries only `metadata.resourceVersion` and perhaps annotations. */
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

/** Marks the bookmark that ends the initial events of a streaming list. */
export const initialEventsEnd = 'k8s.io/initial-events-end';

/** More than any object can be; what does not end by then is no event. */
const longestEventBytes = 64 * 1024 * 1024;
const newline = 0x0a;

/**
 * Decodes a watch's body. Ends when the body ends between two events. Throws KubeError for an `ERROR` event, and
 * {@link KubeConnectionError} when the body ends within an event or holds something else; whatever came before has been
 * delivered by then.
 */
export async function* decodeWatch<T extends KubeObject = UntypedObject>(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<WatchEvent<T>, void, void> {
  for await (const line of lines(body)) {
    if (line.length > 0) yield eventOf<T>(line);
  }
}

/** A piece is looked at once and joined once, so that an event in many pieces costs no more than its length. */
async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, start)) {
      const last = piece.subarray(start, end);
      start = end + 1;
      if (parts.length === 0) {
        yield last.toString('utf8');
      } else {
        parts.push(last);
        yield Buffer.concat(parts).toString('utf8');
        parts = [];
        bytes = 0;
      }
    }
    if (start === piece.length) continue;
    parts.push(piece.subarray(start));
    bytes += piece.length - start;
    if (bytes > longestEventBytes) {
      throw new KubeConnectionError(`a watch event is longer than ${longestEventBytes} bytes`, undefined);
    }
  }
  // kube-apiserver ends each event with a newline; the rest of others counts when it is whole.
  const rest = Buffer.concat(parts).toString('utf8').trim();
  if (rest !== '') yield rest;
}

function eventOf<T extends KubeObject>(line: string): WatchEvent<T> {
  let event: { readonly type?: unknown; readonly object?: unknown };
  try {
    event = JSON.parse(line) ?? {};
  } catch (cause) {
    throw new KubeConnectionError('the watch broke off within an event, or is not a watch', cause);
  }
  const { type, object } = event;
  if (typeof object !== 'object' || object === null) {
    throw new KubeConnectionError('a watch event has no object', undefined);
  }
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return { type, object: object as T };
    case 'ERROR':
      throw errorFromStatus(object as Readonly<Record<string, unknown>>);
    default:
      throw new KubeConnectionError(`a watch event has the unknown type ${JSON.stringify(type)}`, undefined);
  }
}
