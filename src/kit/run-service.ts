import { setTimeout as sleep } from 'node:timers/promises';
import { flushLogger, type Logger } from './log.ts';
import { graceSeconds as defaultGraceSeconds, type Running, type Start } from './service.ts';

export interface RunOptions {
  readonly name: string;
  readonly logger: Logger;
  /** The grace period that the service was composed with; 31 seconds unless given. */
  readonly graceSeconds?: number;
  /** Called once the service is ready, for a line to the person who started it. */
  readonly onReady?: (running: Running) => void;
}

/** A service ends its own stop when the grace period is over; this much later the process ends without it. */
const marginMs = 2000;

const signalExit = { SIGINT: 130, SIGTERM: 143 } as const;
type StopSignal = keyof typeof signalExit;

/**
 * Runs a service as this process, until it ends the process:
 *
 * | what happens                                        | exit code                  |
 * | --------------------------------------------------- | -------------------------- |
 * | SIGTERM or SIGINT, and the service stops in time    | 0                          |
 * | a second signal, at any time: ends at once          | 130 (SIGINT), 143 (SIGTERM) |
 * | the grace period passes: logged with what still runs | 1                          |
 * | the service cannot start, or never becomes ready    | 1                          |
 * | an error nobody caught: logged, then an orderly stop | 1                          |
 */
export async function runService<Config>(start: Start<Config>, config: Config, options: RunOptions): Promise<never> {
  const { name, logger } = options;
  const graceMs = (options.graceSeconds ?? defaultGraceSeconds) * 1000;
  // Holds the process while the service has nothing open, so that it ends by a decision and not by running dry.
  const hold = setInterval(() => {}, 2 ** 30);
  const end = Promise.withResolvers<number>();
  let ending = false;
  let failed = false;

  const ask = (code: number): void => {
    if (ending) return;
    ending = true;
    end.resolve(code);
  };
  const onSignal = (signal: StopSignal): void => {
    if (ending) {
      logger.warn({ signal }, `${name}: ${signal} while stopping, ending at once`);
      process.exit(signalExit[signal]);
    }
    logger.info({ signal }, `${name}: ${signal}, stopping; a second signal ends at once`);
    ask(0);
  };
  const onUncaught = (err: unknown, kind: string): void => {
    failed = true;
    logger.fatal(
      { err },
      `${name}: ${kind === 'unhandledRejection' ? 'a rejected promise' : 'an error'} that nobody handled, stopping: ${messageOf(err)}`,
    );
    ask(1);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('uncaughtException', onUncaught);
  process.on('unhandledRejection', (reason) => onUncaught(reason, 'unhandledRejection'));

  const starting = Promise.resolve().then(() => start(config));
  starting.then(
    (running) =>
      running.ready.then(
        () => !ending && options.onReady?.(running),
        (err: unknown) => {
          if (ending) return;
          logger.fatal({ err }, `${name} does not become ready: ${messageOf(err)}`);
          ask(1);
        },
      ),
    (err: unknown) => {
      if (ending) return;
      logger.fatal({ err }, messageOf(err));
      ask(1);
    },
  );

  let code = await end.promise;
  const stopped = starting.then(
    (running) => running.stop(),
    () => {},
  );
  const inTime = await Promise.race([stopped.then(() => true), sleep(graceMs + marginMs, false)]);
  const stillRunning = inTime
    ? await starting.then(
        (running) => running.stillRunning?.() ?? [],
        () => [],
      )
    : undefined;
  if (stillRunning === undefined || stillRunning.length > 0) {
    code = 1;
    const what = stillRunning ??
      (await Promise.race([starting.then((running) => running.stillRunning?.()), sleep(0)])) ?? [name];
    logger.error(
      { stillRunning: what },
      `${name} did not stop within ${graceMs / 1000} s, ending it; still running: ${what.join(', ')}`,
    );
  }
  if (failed) code = 1;
  await flushLogger(logger);
  clearInterval(hold);
  process.exit(code);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
