import { trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { standardOutput } from './line-writer.ts';
import { printable } from './printable.ts';

export type Logger = pino.Logger;
export type Level = pino.LevelWithSilent;

export const levels: readonly Level[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

export interface LoggerOptions {
  /** The name of the service; stands on every line. */
  readonly service: string;
  readonly version?: string;
  /** `info` unless given. */
  readonly level?: Level;
  /** Standard output unless given. */
  readonly destination?: pino.DestinationStream;
}

/**
 * A logger that writes one line of JSON per event, with `level`, `time` (ISO 8601), `service` and, inside a trace,
 * `traceId` and `spanId`. Ids of a request are bound by `logger.child({ requestId, correlationId, clientRequestId })`.
 *
 * Whatever is passed to it, a call neither throws nor writes more than one bounded line: values go through
 * {@link printable}, which also replaces secrets by name (sensitive-names.ts) and by type (secret.ts).
 */
export function createLogger(options: LoggerOptions): Logger {
  const destination = options.destination ?? standardOutput();
  const logger = pino(
    {
      level: options.level ?? 'info',
      base: {
        service: options.service,
        ...(options.version === undefined ? {} : { version: options.version }),
        pid: process.pid,
      },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => error },
      mixin: activeTrace,
      hooks: {
        logMethod(args, method) {
          try {
            method.apply(this, safeArguments(args) as typeof args);
          } catch (error) {
            report(this, method, error);
          }
        },
      },
    },
    destination,
  );

  // pino writes bindings without asking the hook, so they are made safe on their way in. Children inherit both methods.
  const { child, setBindings } = logger;
  logger.child = function (this: Logger, bindings, childOptions) {
    return child.call(this, safeBindings(bindings), childOptions) as ReturnType<typeof child>;
  } as typeof logger.child;
  logger.setBindings = function (this: Logger, bindings) {
    setBindings.call(this, safeBindings(bindings));
  };
  return logger;
}

/** Waits until what was logged has been handed to the operating system, or `withinMs` has passed. */
export function flushLogger(logger: Logger, withinMs = 1000): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, withinMs);
    logger.flush(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function activeTrace(): { traceId?: string; spanId?: string } {
  const span = trace.getActiveSpan()?.spanContext();
  return span ? { traceId: span.traceId, spanId: span.spanId } : {};
}

/** Keys that every line has of its own: a second one in the same line would let an event's data pass for them. */
const own: ReadonlySet<string> = new Set(['level', 'time', 'service', 'version', 'pid', 'msg']);

function safeArguments(args: readonly unknown[]): unknown[] {
  const [first, ...rest] = args;
  const safe = rest.map(printable);
  if (typeof first !== 'object' || first === null) return [printable(first), ...safe];
  if (!(first instanceof Error)) return [safeFields(first), ...safe];
  return [{ err: printable(first) }, ...(safe.length > 0 ? safe : [printable(first.message)])];
}

function safeFields(value: object): unknown {
  const safe = printable(value);
  if (typeof safe !== 'object' || safe === null || Array.isArray(safe)) return { value: safe };
  for (const key of Object.keys(safe)) {
    if (own.has(key)) return Object.fromEntries(Object.entries(safe).map(([k, v]) => [own.has(k) ? `${k}_` : k, v]));
  }
  return safe;
}

function safeBindings(bindings: pino.Bindings): pino.Bindings {
  const { hasOwnProperty: _, ...safe } = safeFields(bindings) as pino.Bindings;
  return safe;
}

/** The last net: an event that could not be written is replaced by one that says so; a destination that is gone is let go. */
function report(logger: Logger, method: pino.LogFn, error: unknown): void {
  try {
    method.call(logger, { err: printable(error) }, 'an event could not be logged');
  } catch {
    // The destination itself refuses; there is nowhere left to say it.
  }
}
