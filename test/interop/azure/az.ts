// The Azure CLI as a program: a configuration directory of its own, everything it asks for through one proxy.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CloudMetadata, cloudConfig } from '../../../src/cli/local-azure-az.ts';
import type { RunningAzure } from '../../../src/local/azure/main.ts';

export interface Az {
  /** Runs a command; `{name}` in an argument stands for a value of the run. */
  run(args: readonly string[]): Promise<Ran>;
  readonly version: string;
  remove(): Promise<void>;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface AzOptions {
  readonly program: string;
  readonly azure: RunningAzure;
  readonly proxy: { readonly url: string; readonly ca: string };
  readonly metadata: CloudMetadata;
  readonly template: object;
  readonly subscription: string;
}

const limitMs = 120_000;

/** Registers the cloud and signs in as its owner, by az itself. */
export async function signedIn(options: AzOptions): Promise<Az> {
  const { program, azure, proxy } = options;
  const directory = await mkdtemp(join(tmpdir(), 'az-'));
  const files = {
    ca: join(directory, 'ca.pem'),
    cloudConfig: join(directory, 'cloud.json'),
    template: join(directory, 'template.json'),
  };
  await writeFile(files.ca, proxy.ca);
  await writeFile(files.cloudConfig, JSON.stringify(cloudConfig(options.metadata)));
  await writeFile(files.template, JSON.stringify(options.template));
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: directory,
    USERPROFILE: directory,
    AZURE_CONFIG_DIR: join(directory, 'az'),
    AZURE_CORE_COLLECT_TELEMETRY: 'false',
    AZURE_CORE_INSTANCE_DISCOVERY: 'false',
    AZURE_CORE_ENCRYPT_TOKEN_CACHE: 'false',
    AZURE_CORE_NO_COLOR: 'true',
    AZURE_CORE_LOGIN_EXPERIENCE_V2: 'off',
    AZURE_EXTENSION_USE_DYNAMIC_INSTALL: 'no',
    REQUESTS_CA_BUNDLE: files.ca,
    HTTPS_PROXY: proxy.url,
  };
  const values: { readonly [name: string]: string } = {
    template: files.template,
    subscription: options.subscription,
    owner: azure.owner.objectId,
  };
  const run = (args: readonly string[]): Promise<Ran> =>
    new Promise((resolve) => {
      const given = args.map((arg) => arg.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole));
      execFile(program, [...given], { env, timeout: limitMs, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ code, stdout, stderr });
      });
    });
  const must = async (args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(args);
    if (code !== 0) throw new Error(`az ${args.slice(0, 3).join(' ')} failed: ${stderr || stdout}`);
    return stdout;
  };
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  try {
    const { owner, cloud } = azure;
    const version = JSON.parse(await must(['version', '--output', 'json']))['azure-cli'] as string;
    await must(['cloud', 'register', '--name', cloud.name, '--cloud-config', `@${files.cloudConfig}`]);
    await must(['cloud', 'set', '--name', cloud.name]);
    await must([
      'login',
      '--service-principal',
      '--username',
      owner.clientId,
      '--password',
      owner.secret.reveal(),
      '--tenant',
      owner.tenantId,
    ]);
    return { run, version, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
