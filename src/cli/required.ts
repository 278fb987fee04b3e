import type { Command } from 'commander';

/**
 * Adds an option that must be given, and not empty. Commander's own required options are checked before unknown ones, so that a misspelt
 * `--dri` would be answered with "--dir is missing" and not with the nearest match.
 */
export function required(command: Command, flags: string, description: string): Command {
  command.option(flags, `${description} (required)`);
  const key = command.options.at(-1)?.attributeName() ?? '';
  return command.hook('preAction', (checked) => {
    const value: unknown = checked.getOptionValue(key);
    if (value === undefined) checked.error(`error: option '${flags}' is required`);
    // What a variable that is not set leaves behind: --dir "$DIR".
    if (value === '') checked.error(`error: option '${flags}' is empty`);
  });
}
