import type { Command } from 'commander';
import type { DeployOptions } from './deploy-action.ts';
import { required } from './required.ts';

/** `aro deploy`: the infrastructure of deploy/azure, applied to whichever Azure the environment variables name. */
export function deploy(command: Command): void {
  required(command, '--scope <scope>', 'what to apply: global, regional, management or classic');
  required(command, '--location <location>', 'where, for example westus3');
  command
    .option('--environment <name>', 'of deploy/azure/environments, or a file like those', 'local')
    .option('--stamp <stamp>', 'which management cluster of the region', '1')
    .option(
      '--subscription <id...>',
      "instead of the environment's: <id> for this scope, <scope>=<id> for one it builds on",
    )
    .option('--what-if', 'tell what would change, and change nothing')
    .action(async (options: DeployOptions) =>
      // Loaded when it runs: reading help needs no client of Azure.
      (await import('./deploy-action.ts')).runDeploy(options, (line) => process.stdout.write(`${line}\n`)),
    );
}
