// One Subscribe stream, to a source or an agent: heartbeats, and a bounded line of events before a subscriber that reads slowly.
import { randomUUID } from 'node:crypto';
import { Metadata, type ServerWritableStream, status } from '@grpc/grpc-js';
import type { CloudEvent } from '../protocol/cloud-event.ts';
import { subscriptionIdHeader } from '../protocol/grpc-service.ts';
import { writeMessage } from '../protocol/write-message.ts';

export interface EventStream {
  /** False, and the stream is cut off with a reason, when the line is full: the subscriber comes back and asks for a resync. */
  push(event: CloudEvent): boolean;
  /**
   * The same for what can wait: settles when the event is in line, false when the stream has ended. Leaves half of the line to
   * `push`. A subscriber that takes nothing for `slowMs` is cut off.
   */
  offer(event: CloudEvent): Promise<boolean>;
  /** Ends it from this side, with a status that tells the subscriber to come back. */
  end(reason: string): void;
  /** Aborted when it has ended, whoever ended it. */
  readonly ended: AbortSignal;
}

export interface EventStreamOptions {
  /** 0 for none. */
  readonly heartbeatSeconds: number;
  readonly maxEvents?: number;
  readonly maxBytes?: number;
  readonly slowMs?: number;
}

const defaultMaxEvents = 2000;
const defaultMaxBytes = 64 * 1024 * 1024;
const defaultSlowMs = 30_000;
/** What an event takes besides its data. */
const overheadBytes = 512;

type Call = Pick<
  ServerWritableStream<unknown, CloudEvent>,
  'sendMetadata' | 'write' | 'on' | 'once' | 'emit' | 'cancelled'
>;

/** Sends the header that clients wait for at once. */
export function openEventStream(call: Call, options: EventStreamOptions): EventStream {
  const { heartbeatSeconds, maxEvents = defaultMaxEvents, maxBytes = defaultMaxBytes } = options;
  const slowMs = options.slowMs ?? defaultSlowMs;
  const ended = new AbortController();
  const line: CloudEvent[] = [];
  let bytes = 0;
  let blocked = false;
  let waiting: (() => void)[] = [];

  const headers = new Metadata();
  headers.set(subscriptionIdHeader, randomUUID());
  call.sendMetadata(headers);

  const heartbeat =
    heartbeatSeconds === 0
      ? undefined
      : setInterval(() => {
          // Behind a line of events it would say nothing that those do not say.
          if (!blocked) call.write(writeMessage({ kind: 'heartbeat', id: randomUUID() }));
        }, heartbeatSeconds * 1000).unref();

  function finish(): void {
    if (ended.signal.aborted) return;
    clearInterval(heartbeat);
    line.length = 0;
    bytes = 0;
    ended.abort();
    wake();
  }

  function wake(): void {
    const woken = waiting;
    waiting = [];
    for (const resume of woken) resume();
  }

  function flush(): void {
    while (!blocked && !ended.signal.aborted) {
      const next = line.shift();
      if (next === undefined) break;
      bytes -= sizeOf(next);
      blocked = !call.write(next);
    }
    if (bytes <= maxBytes / 2 && line.length <= maxEvents / 2) wake();
  }

  function end(code: number, reason: string): void {
    if (ended.signal.aborted) return;
    finish();
    call.emit('error', { code, details: reason });
  }

  call.on('drain', () => {
    blocked = false;
    flush();
  });
  call.on('cancelled', finish);
  call.on('close', finish);
  call.on('error', finish);
  if (call.cancelled) finish();

  function put(event: CloudEvent): void {
    line.push(event);
    bytes += sizeOf(event);
    flush();
  }

  /** Settles when there is room, or the stream has ended, or nothing moved for too long. */
  function room(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => end(status.RESOURCE_EXHAUSTED, 'the subscriber does not read; subscribe again'),
        slowMs,
      );
      waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  return {
    push(event) {
      if (ended.signal.aborted) return false;
      if (line.length >= maxEvents || bytes + sizeOf(event) > maxBytes) {
        end(status.RESOURCE_EXHAUSTED, 'the subscriber reads too slowly; subscribe again and ask for a resync');
        return false;
      }
      put(event);
      return true;
    },
    async offer(event) {
      while (!ended.signal.aborted && (line.length > maxEvents / 2 || bytes > maxBytes / 2)) await room();
      if (ended.signal.aborted) return false;
      put(event);
      return true;
    },
    end: (reason) => end(status.UNAVAILABLE, reason),
    ended: ended.signal,
  };
}

function sizeOf({ data, extensions }: CloudEvent): number {
  const { metadata } = extensions;
  return overheadBytes + (data?.byteLength ?? 0) + (typeof metadata === 'string' ? metadata.length : 0);
}
