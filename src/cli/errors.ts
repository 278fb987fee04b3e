import { CommanderError } from 'commander';

/** The command was understood in its parts but not as a whole; ends with 2, as an unknown option does. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

export function exitCodeOf(error: unknown): number {
  // Commander asks for 0 after --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 || error.code === 'commander.help' ? 0 : 2;
  return error instanceof UsageError ? 2 : 1;
}

/** Errors whose message lists several problems, one per line. */
const listing: ReadonlySet<string> = new Set(['ConfigError']);

/** Errors of the language itself mean a mistake in this program, not in how it was used. */
const mistakes: ReadonlySet<string> = new Set([
  'TypeError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'AssertionError',
]);

/** What is printed for an error: one line that says what is wrong; with `debug` the stack and the causes. */
export function explain(error: unknown, debug: boolean): string {
  if (!(error instanceof Error)) return `aro: ${oneLine(String(error))}\n`;
  const text = listing.has(error.name) ? error.message : oneLine(error.message);
  const hint = !debug && mistakes.has(error.name) ? ' (unexpected; --debug shows where)' : '';
  return `aro: ${text}${hint}\n${debug ? stacks(error) : ''}`;
}

function stacks(error: Error): string {
  const own = `${error.stack ?? error.message}\n`;
  return error.cause instanceof Error ? `${own}caused by: ${stacks(error.cause)}` : own;
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ');
}
