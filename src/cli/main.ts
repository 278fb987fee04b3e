// The command line. Each command is a file of its own, loaded when it is asked for, so that starting stays fast.
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { exitCodeOf, explain } from './errors.ts';

interface LazyCommand {
  readonly name: string;
  readonly summary: string;
  /** Adds arguments, options, subcommands and the action. */
  load(): Promise<(command: Command) => void>;
}

const commands: readonly LazyCommand[] = [
  {
    name: 'pki',
    summary: 'certificates for local use and between services',
    load: async () => (await import('./pki.ts')).pki,
  },
  {
    name: 'local',
    summary: 'parts of the embedded world, each by itself',
    load: async () => (await import('./local.ts')).local,
  },
  {
    name: 'deploy',
    summary: "the region's infrastructure, applied to Azure from templates",
    load: async () => (await import('./deploy.ts')).deploy,
  },
  {
    name: 'maestro-server',
    summary: 'the Maestro server: brings bundles of Kubernetes objects to management clusters',
    load: async () => (await import('./maestro-server.ts')).maestroServer,
  },
  {
    name: 'maestro-agent',
    summary: 'applies bundles to a management cluster and reports how they are',
    load: async () => (await import('./maestro-agent.ts')).maestroAgent,
  },
];

/** Runs the command line and sets the exit code: 0, 1 when the command failed, 2 when it was not understood. */
export async function main(args: readonly string[]): Promise<void> {
  process.stdout.on('error', endOnClosedPipe);
  process.stderr.on('error', endOnClosedPipe);
  const program = build();
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(await withoutHelpCommand(program, args), { from: 'user' });
  } catch (error) {
    // Commander has printed its own by now, or it was not an error at all, such as --help.
    if (!(error instanceof CommanderError)) process.stderr.write(explain(error, program.opts().debug === true));
    process.exitCode = exitCodeOf(error);
  }
}

function build(): Command {
  const program = new Command('aro')
    .description('The control plane of Azure Red Hat OpenShift.')
    .version(version(), '-V, --version', 'print the version')
    .option('--debug', 'print the stack of an error')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .exitOverride()
    .configureOutput({
      // Only help comes this way, for a command that needs a subcommand: what was asked for is no error.
      writeErr: (text) => process.stdout.write(text),
      outputError: (text) => process.stderr.write(usageText(text)),
    });
  for (const { name, summary } of commands) program.command(name).description(summary).copyInheritedSettings(program);
  program.hook('preSubcommand', (_, chosen) => define(chosen));
  return program;
}

function usageText(text: string): string {
  const hint = /^error: unknown command '[^']*'\n?$/.test(text) ? '(aro --help lists the commands)\n' : '';
  return text.replace(/^error: /, 'aro: ') + hint;
}

const defined = new WeakSet<Command>();

async function define(command: Command): Promise<void> {
  if (defined.has(command)) return;
  defined.add(command);
  const add = await commands.find(({ name }) => name === command.name())?.load();
  add?.(command);
}

/**
 * `aro help pki issue` is `aro pki issue --help`: in that form the command is loaded before its help is printed. Help for
 * a command that does not exist is reduced to that command, which Commander then answers with the nearest match.
 */
async function withoutHelpCommand(program: Command, args: readonly string[]): Promise<string[]> {
  const asked = args[0] === 'help' ? [...args.slice(1), '--help'] : [...args];
  if (!asked.includes('--help') && !asked.includes('-h')) return asked;
  const path: string[] = [];
  let command = program;
  for (const name of asked.filter((arg) => !arg.startsWith('-'))) {
    if (command.commands.length === 0) break;
    path.push(name);
    const next = command.commands.find((one) => one.name() === name);
    if (!next) return name === 'help' ? asked : path;
    if (command === program) await define(next);
    command = next;
  }
  return asked;
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** `aro ... | head` has read enough; there is nobody left to tell. */
function endOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
  throw error;
}
