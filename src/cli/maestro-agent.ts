import type { Command } from 'commander';

/** `aro maestro-agent`: runs the Maestro agent. Its settings are the service's own, so they are not Commander's options. */
export function maestroAgent(command: Command): void {
  command
    .argument('[settings...]', 'flags of the service; --config names a YAML file')
    .option('--help-settings', 'print every setting')
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (settings: readonly string[], options: { readonly helpSettings?: true }) => {
      const run = await import('./maestro-agent-run.ts');
      if (options.helpSettings) process.stdout.write(`${run.settingsHelp()}\n`);
      else await run.runMaestroAgent(settings);
    });
}
