// What a file needs now and then: expired documents deleted, old history trimmed, the write-ahead log kept short. All in small
// steps with pauses, and none of it essential at any moment: a step that fails is tried again later.
import { stat } from 'node:fs/promises';
import type { Background } from './background.ts';
import type { Upkeep } from './container.ts';

/** After about so much writing, the log is copied into the database file; an idle store empties a log longer than this. */
const checkpointBytes = 8 << 20;
/** About what a transaction adds to the log besides its texts, which it holds twice: the pages it touches. */
const pagesPerCommitBytes = 24 << 10;

const pauseMs = 10;
const restMs = 1_000;

export interface UpkeepOptions {
  readonly file: string;
  readonly background: Background;
  readonly historyMs: number;
  readonly containers: () => readonly Upkeep[];
}

export interface Housekeeper {
  /** This process committed a transaction of about so many characters. */
  wrote(characters: number): void;
  /** Resolves when the step under way is done. */
  stop(): Promise<void>;
}

export function startUpkeep(options: UpkeepOptions): Housekeeper {
  const { background } = options;
  let stopped = false;
  let writtenBytes = 0;
  let wroteLately = false;
  let checkpointing: Promise<void> | undefined;
  let round: Promise<void> = Promise.resolve();
  let timer = setTimeout(begin, restMs).unref();

  async function logBytes(): Promise<number> {
    return stat(`${options.file}-wal`).then(
      ({ size }) => size,
      () => 0,
    );
  }

  /** One at a time; a failure is left to the next. */
  function keepLogShort(checkpoint: () => Promise<void>): Promise<void> {
    checkpointing ??= checkpoint()
      .catch(() => undefined)
      .finally(() => {
        checkpointing = undefined;
      });
    return checkpointing;
  }

  async function chores(): Promise<boolean> {
    let more = false;
    for (const container of options.containers()) {
      if (stopped) return false;
      more = (await container.sweepExpired()) || more;
      more = (await container.trimHistory(options.historyMs)) || more;
    }
    // Whoever wrote it: this process, another, or one that was killed.
    if (!wroteLately && (await logBytes()) > checkpointBytes) await keepLogShort(() => background.checkpoint('empty'));
    wroteLately = false;
    return more;
  }

  function begin(): void {
    round = chores()
      .catch(() => false)
      .then((more) => {
        if (!stopped) timer = setTimeout(begin, more ? pauseMs : restMs).unref();
      });
  }

  return {
    wrote(characters) {
      wroteLately = true;
      writtenBytes += pagesPerCommitBytes + 2 * characters;
      if (writtenBytes < checkpointBytes || checkpointing !== undefined || stopped) return;
      writtenBytes = 0;
      void keepLogShort(() => background.checkpoint('reuse'));
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
      await checkpointing;
    },
  };
}
