import type { Command } from 'commander';

/** `aro maestro-server`: runs the Maestro server. Its settings are the service's own, so they are not Commander's options. */
export function maestroServer(command: Command): void {
  command
    .argument('[settings...]', 'flags of the service; --config names a YAML file')
    .option('--help-settings', 'print every setting')
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (settings: readonly string[], options: { readonly helpSettings?: true }) => {
      const run = await import('./maestro-server-run.ts');
      if (options.helpSettings) process.stdout.write(`${run.settingsHelp()}\n`);
      else await run.runMaestroServer(settings);
    });
}
