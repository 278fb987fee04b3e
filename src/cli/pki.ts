import type { Command } from 'commander';
import type { AuthorityOptions, IssueOptions } from './pki-actions.ts';
import { required } from './required.ts';

/** Loaded when a command runs: reading help needs no cryptography. */
const actions = () => import('./pki-actions.ts');

/** `aro pki`: an authority in a directory, and certificates signed by it. */
export function pki(command: Command): void {
  const ca = command.command('ca').description('make a certificate authority');
  required(ca, '--dir <directory>', 'where it is kept: ca.crt and ca.key');
  ca.option('--name <name>', 'what it is called', 'aro-local-ca').action(async (options: AuthorityOptions) =>
    (await actions()).makeAuthority(options),
  );

  const issuing = command.command('issue').description('issue a certificate, or issue it anew');
  required(issuing, '--dir <directory>', 'the directory of the authority; the certificate goes there as well');
  required(issuing, '--name <name>', 'common name, and the name of the files');
  issuing
    .option('--server', 'for a server; so it is when --dns or --ip is given')
    .option('--client', 'for a client; so it is when neither is given')
    .option('--dns <name...>', 'DNS names it serves')
    .option('--ip <address...>', 'IP addresses it serves')
    .action(async (options: IssueOptions) => (await actions()).issue(options));
}
