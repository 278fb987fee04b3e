import { write, writeSync } from 'node:fs';

/** Where a logger's lines go. */
export interface LineWriter {
  /** Takes a line and returns at once; never throws. */
  write(line: string): void;
  /** Calls back when everything taken so far has been written or given up. */
  flush(done: () => void): void;
  /** Writes what is waiting before it returns, for when the process ends. Gives up on what is not taken within a second. */
  flushSync(): void;
}

/** Lines that wait for a reader that has stopped reading; past this they are dropped, not queued. */
const waitingCharacters = 16 * 1024 * 1024;
const retryMs = 20;
const lastRetries = 50;

/**
 * Writes lines to a file descriptor without ever stopping the process for it: a reader that does not read costs at most
 * 16 MiB, then lines; a full disk costs the lines that did not fit; a closed pipe costs all that follow.
 */
export function lineWriter(descriptor: number): LineWriter {
  let queue: string[] = [];
  let waiting = 0;
  let writing = false;
  let closed = false;
  let waiters: (() => void)[] = [];

  const next = (): void => {
    if (queue.length > 0) {
      writing = true;
      const chunk = Buffer.from(queue.join(''));
      queue = [];
      waiting = 0;
      send(chunk);
      return;
    }
    writing = false;
    const done = waiters;
    waiters = [];
    for (const waiter of done) waiter();
  };

  const send = (chunk: Buffer): void => {
    write(descriptor, chunk, 0, chunk.length, null, (error, written) => {
      if (error && isBusy(error)) setTimeout(send, retryMs, chunk);
      else if (!error && written < chunk.length) send(chunk.subarray(written));
      else {
        closed ||= error?.code === 'EPIPE';
        next();
      }
    });
  };

  return {
    write(line) {
      if (closed || waiting + line.length > waitingCharacters) return;
      queue.push(line);
      waiting += line.length;
      if (!writing) next();
    },
    flush(done) {
      if (writing) waiters.push(done);
      else done();
    },
    flushSync() {
      if (closed) return;
      let chunk = Buffer.from(queue.join(''));
      queue = [];
      for (let retries = 0; chunk.length > 0 && retries < lastRetries; ) {
        try {
          chunk = chunk.subarray(writeSync(descriptor, chunk));
        } catch (error) {
          if (!(error instanceof Error) || !isBusy(error)) return;
          retries++;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
        }
      }
    },
  };
}

function isBusy(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EAGAIN' || error.code === 'EBUSY' || error.code === 'EINTR';
}

let output: LineWriter | undefined;

/** The one writer of standard output, which all loggers of the process share. It empties itself when the process ends. */
export function standardOutput(): LineWriter {
  if (!output) {
    const writer = lineWriter(1);
    process.on('exit', () => writer.flushSync());
    output = writer;
  }
  return output;
}
