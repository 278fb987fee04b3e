import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LocalAzureOptions } from './local-azure.ts';
import type { LocalKubernetesOptions } from './local-kubernetes.ts';
import { required } from './required.ts';

/** `aro local`: parts of the embedded world, each by itself. */
export function local(command: Command): void {
  const kubernetes = command
    .command('kubernetes')
    .description('API servers for many clusters on one port, until Ctrl-C; what they hold is kept');
  required(kubernetes, '--data-dir <directory>', 'where objects, keys and the kubeconfigs are kept');
  kubernetes
    .option('--clusters <count>', 'how many clusters: cluster-1, cluster-2 …', wholeNumber(1, 100_000))
    .option('--cluster <name...>', 'clusters by name; one called cluster-1 when neither is given')
    .option('--nodes <count>', 'simulated nodes in each cluster, on which pods run', wholeNumber(0, 100), 1)
    .option('--port <port>', 'the port; the one used before with this data, or a free one', wholeNumber(0, 65_535))
    .option('--host-suffix <suffix>', 'clusters answer to <name>.<suffix>', 'kubernetes.localhost')
    .option('--audit-log <file>', 'adds a line of JSON for every request to this file; - is standard output')
    .option('--oidc-issuer-url <url>', 'takes tokens of this OpenID Connect issuer (https)')
    .option('--oidc-client-id <id>', 'whom such tokens must be for')
    .option('--oidc-username-claim <claim>', 'the claim with the name of the user; sub when left out')
    .option('--oidc-groups-claim <claim>', 'the claim with the groups of the user; none when left out')
    .option('--oidc-ca-file <file>', 'certificates (PEM) to trust the issuer by, besides the public ones')
    .action(async (options: LocalKubernetesOptions) =>
      // Loaded when it runs: reading help needs no server.
      (await import('./local-kubernetes.ts')).localKubernetes(options),
    );
  azure(command);
}

function azure(command: Command): void {
  const cloud = command
    .command('azure')
    .description(
      'a cloud of its own: Resource Manager, Entra ID and what stands behind them; until Ctrl-C, all is kept',
    );
  required(cloud, '--data-dir <directory>', 'where state, keys and certificates are kept');
  cloud
    .option('--port <port>', 'the port; the one used before with this data, or a free one', wholeNumber(0, 65_535))
    .option('--proxy-port <port>', 'of the proxy that knows all names of the cloud; likewise', wholeNumber(0, 65_535))
    .option('--dns-port <port>', 'of the DNS server that answers for them; likewise', wholeNumber(0, 65_535))
    .addOption(
      new Option('--profile <name>', 'how long things take').choices(['instant', 'demo', 'azure']).default('demo'),
    )
    .option('--config <file>', 'YAML or JSON: faults, users and applications, subscriptions, locations, throttling …')
    .option('--suffix <suffix>', 'what all host names end with; azure.test unless given')
    .option(
      '--subscription <id...>',
      "subscriptions that shall be there; when none is given, one and those of 'aro deploy'",
    )
    .option('--pass-through <host...>', 'hosts beyond the cloud that its proxy leads to; .example.com for all below it')
    .action(async (options: LocalAzureOptions) => (await import('./local-azure.ts')).localAzure(options));
  cloud
    .command('login')
    .description('writes a configuration for az and the SDKs, signed in to the running cloud of --data-dir')
    .option('--dir <directory>', 'where to; <data-dir>/login unless given')
    .action(async ({ dir }: { readonly dir?: string }) => {
      const { dataDir } = cloud.opts<LocalAzureOptions>();
      const { localAzureLogin } = await import('./local-azure-login.ts');
      await localAzureLogin({ dataDir, ...(dir === undefined ? {} : { dir }) });
    });
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
