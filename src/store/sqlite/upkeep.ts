// What a file needs now and then: expired documents deleted, old history trimmed, the write-ahead log kept short. All in small
// steps with pauses, and none of it essential at any moment: a step that fails is tried again later.
import { stat } from 'node:fs/promises';
import type { Background } from './background.ts';
import type { Upkeep } from './container.ts';

/** A log longer than this is copied into the database file. */
const checkpointBytes = 4 << 20;
/** A log longer than this is emptied as well, which keeps writers out for a moment. It comes to that under constant writing. */
const truncateBytes = 32 << 20;
/** After so many transactions of this process the length of the log is looked at. */
const commitsPerLook = 32;

const pauseMs = 10;
const restMs = 1_000;

export interface UpkeepOptions {
  readonly file: string;
  readonly background: Background;
  readonly historyMs: number;
  readonly containers: () => readonly Upkeep[];
}

export interface Housekeeper {
  /** This process committed a transaction. */
  wrote(wasLarge: boolean): void;
  /** Resolves when the step under way is done. */
  stop(): Promise<void>;
}

export function startUpkeep(options: UpkeepOptions): Housekeeper {
  const { background } = options;
  let stopped = false;
  let commits = 0;
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

  async function checkpoint(idle: boolean): Promise<void> {
    const size = await logBytes();
    if (stopped || size < checkpointBytes) return;
    await background.checkpoint(idle || size >= truncateBytes);
  }

  /** One at a time; a failure is left to the next. */
  function keepLogShort(idle: boolean): Promise<void> {
    checkpointing ??= checkpoint(idle)
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
    if (!wroteLately) await keepLogShort(true);
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
    wrote(wasLarge) {
      wroteLately = true;
      commits++;
      if ((wasLarge || commits % commitsPerLook === 0) && !stopped) void keepLogShort(false);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
      await checkpointing;
    },
  };
}
