// The embedded Azure as a process of its own.
import { resolve } from 'node:path';
import { createLogger } from '../kit/log.ts';
import { runService } from '../kit/run-service.ts';
import type { Running } from '../kit/service.ts';
import { type AzureConfig, checkConfig, type SubscriptionConfig } from '../local/azure/config.ts';
import type { ProfileName } from '../local/azure/kernel/profiles.ts';
import { type RunningAzure, start } from '../local/azure/main.ts';
import { UsageError } from './errors.ts';

export interface LocalAzureOptions {
  readonly dataDir: string;
  readonly config?: string;
  readonly port?: number;
  readonly proxyPort?: number;
  readonly dnsPort?: number;
  readonly profile: ProfileName;
  readonly suffix?: string;
  readonly subscription?: readonly string[];
  readonly passThrough?: readonly string[];
}

/** Made when no others are asked for, beside those of {@link deploySubscriptions}. */
const firstSubscription = '00000000-0000-4000-8000-000000000001';
const graceSeconds = 5;

/** Runs the cloud until a signal; see {@link runService} for how it ends. */
export async function localAzure(options: LocalAzureOptions): Promise<never> {
  const dataDirectory = resolve(options.dataDir);
  // Standard output is for the person who started it.
  const logger = createLogger({ service: 'azure', level: 'warn', destination: process.stderr });
  const file =
    options.config === undefined ? {} : (await import('./local-azure-config.ts')).readCloudFile(options.config);
  const asked = options.subscription?.map((subscriptionId, at) => local(subscriptionId, `Local ${at + 1}`));
  const config: AzureConfig = {
    ...file,
    logger,
    dataDirectory,
    subscriptions: asked ??
      file.subscriptions ?? [local(firstSubscription, 'Local 1'), ...(await deploySubscriptions())],
    profile: options.profile,
    graceSeconds,
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.proxyPort === undefined ? {} : { proxyPort: options.proxyPort }),
    ...(options.dnsPort === undefined ? {} : { dnsPort: options.dnsPort }),
    ...(options.suffix === undefined ? {} : { suffix: options.suffix }),
    ...(options.passThrough === undefined ? {} : { proxyPassThrough: options.passThrough }),
  };
  demandUsable(config);
  let told = '';
  const startAndTell = async (given: AzureConfig): Promise<Running> => {
    const azure = await start(given);
    told = nextSteps(azure);
    return azure;
  };
  return runService(startAndTell, config, {
    name: 'azure',
    logger,
    graceSeconds,
    onReady: () => process.stdout.write(`${told}\nReady. Ctrl-C stops it; what the cloud holds is kept.\n`),
  });
}

/** Registered for everything, so that nobody has to begin with that. */
function local(subscriptionId: string, displayName: string): SubscriptionConfig {
  return { subscriptionId, displayName, register: 'all' };
}

/** Those that `aro deploy` uses with the environment `local`, so that it works on a new cloud. */
async function deploySubscriptions(): Promise<readonly SubscriptionConfig[]> {
  const { environmentSubscriptions } = await import('./deploy-plan.ts');
  return (await environmentSubscriptions('local')).map(({ name, id }) => local(id, `Local ${name}`));
}

/** Settings that no cloud can have were given on the command line. */
function demandUsable(config: AzureConfig): void {
  try {
    checkConfig(config);
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

function nextSteps({ cloud, dataDirectory, addresses, world }: RunningAzure): string {
  const directory = shellWord(dataDirectory);
  const dns = addresses.dns === undefined ? '' : `  DNS               ${addresses.dns}\n`;
  const subscriptions = world.subscriptions
    .list()
    .map(({ subscriptionId }) => `  subscription      ${subscriptionId}\n`)
    .join('');
  return (
    `${cloud.name}\n  Resource Manager  ${cloud.origin}\n  proxy             ${cloud.proxy}\n${dns}${subscriptions}` +
    `  trust             ${dataDirectory}/ca.pem\n\n` +
    `For az, SDKs and curl, in another shell:\n` +
    `  aro local azure login --data-dir ${directory}\n` +
    `  . ${shellWord(`${dataDirectory}/login/env.sh`)}\n` +
    `  az group create --name first --location eastus\n`
  );
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
