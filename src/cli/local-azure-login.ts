// Writes what az and the Azure SDKs need to use a local cloud that is running: a configuration directory for az, already signed in
// as the cloud's owner, and environment variables to source. The machine's own configuration of az is left alone.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Agent, request } from 'undici';
import { ownerIds } from '../local/azure/owner.ts';
import { makePrivateDirectory } from '../pki/private-directory.ts';
import { azFiles, type CloudMetadata, cloudConfig, type Subscription } from './local-azure-az.ts';
import { powerShellVariables, shellVariables } from './local-azure-environment.ts';

export interface LocalAzureLoginOptions {
  readonly dataDir: string;
  /** Where the files go; `login` in the data directory when left out. */
  readonly dir?: string;
}

interface Found {
  readonly origin: string;
  readonly proxy: string;
  readonly ca: string;
  readonly secret: string;
  readonly metadata: CloudMetadata;
  readonly subscriptions: readonly Subscription[];
}

/** Prints what to do next. */
export async function localAzureLogin(options: LocalAzureLoginOptions): Promise<void> {
  const dataDirectory = resolve(options.dataDir);
  const out = resolve(options.dir ?? join(dataDirectory, 'login'));
  const files = await writeLogin(dataDirectory, out);
  process.stdout.write(
    `az and the SDKs are set up in ${out}.\n\nIn sh, bash or zsh:\n  . '${files.shell}'\nIn PowerShell:\n  . '${files.powerShell}'\n\n` +
      'Then:\n  az account show\n  az group list\n',
  );
}

/** Writes the files for the cloud that keeps its state in a directory. Throws when it is not running. */
export async function writeLogin(
  dataDirectory: string,
  out: string,
): Promise<{ readonly shell: string; readonly powerShell: string }> {
  const found = await findCloud(dataDirectory);
  const { tenant } = found.metadata.authentication;
  const { clientId } = ownerIds(tenant);
  const azDirectory = join(out, 'az');
  await makePrivateDirectory(out);
  await mkdir(azDirectory, { recursive: true, mode: 0o700 });
  // What az remembers of a cloud that may have had another port.
  for (const name of ['cloudEndpoints.json', 'msal_http_cache.bin', 'msal_token_cache.json'])
    await rm(join(azDirectory, name), { force: true });
  const login = { tenant, clientId, secret: found.secret };
  for (const [name, text] of Object.entries(azFiles(found.metadata, login, found.subscriptions, randomUUID())))
    await replaceFile(join(azDirectory, name), text);
  await replaceFile(join(out, 'cloud.json'), `${JSON.stringify(cloudConfig(found.metadata), undefined, 2)}\n`);
  const ca = join(out, 'ca.pem');
  await replaceFile(ca, found.ca);
  const variables = {
    AZURE_CONFIG_DIR: azDirectory,
    REQUESTS_CA_BUNDLE: ca,
    SSL_CERT_FILE: ca,
    NODE_EXTRA_CA_CERTS: ca,
    HTTPS_PROXY: found.proxy,
    https_proxy: found.proxy,
    NO_PROXY: 'localhost,127.0.0.1,::1',
    no_proxy: 'localhost,127.0.0.1,::1',
    ARM_CLOUD_METADATA_URL: `${found.origin}/metadata/endpoints?api-version=2020-06-01`,
    AZURE_AUTHORITY_HOST: found.metadata.authentication.loginEndpoint,
    AZURE_TENANT_ID: tenant,
    AZURE_CLIENT_ID: clientId,
    AZURE_CLIENT_SECRET: found.secret,
    ...(found.subscriptions[0] ? { AZURE_SUBSCRIPTION_ID: found.subscriptions[0].subscriptionId } : {}),
  };
  const [shell, powerShell] = [join(out, 'env.sh'), join(out, 'env.ps1')];
  await replaceFile(shell, shellVariables(variables));
  await replaceFile(powerShell, powerShellVariables(variables));
  return { shell, powerShell };
}

/** The files tell where it is; what it holds is asked of itself, so it must be running. */
async function findCloud(dataDirectory: string): Promise<Found> {
  const [ports, ca, secret, token] = await Promise.all(
    ['ports.json', 'ca.pem', 'owner-secret', 'control-token'].map((name) => kept(dataDirectory, name)),
  );
  const { https, proxy } = JSON.parse(ports ?? '{}') as { readonly https?: number; readonly proxy?: number };
  const origin = `https://localhost:${https}`;
  const agent = new Agent({ connect: { ca: ca ?? '', timeout: 5000 } });
  const ask = async (path: string): Promise<unknown> => {
    const answer = await request(`${origin}${path}`, {
      dispatcher: agent,
      headers: { authorization: `Bearer ${token?.trim()}` },
    });
    if (answer.statusCode === 200) return answer.body.json();
    await answer.body.dump();
    throw new Error(`${origin} answered ${answer.statusCode}`);
  };
  try {
    const metadata = (await ask('/metadata/endpoints?api-version=2022-09-01')) as CloudMetadata;
    const { value } = (await ask('/_control/subscriptions')) as { readonly value: readonly Subscription[] };
    return {
      origin,
      proxy: `http://127.0.0.1:${proxy}`,
      ca: ca ?? '',
      secret: (secret ?? '').trim(),
      metadata,
      subscriptions: value,
    };
  } catch (cause) {
    throw new Error(
      `the cloud of ${dataDirectory} does not answer at ${origin}: start it first, with aro local azure --data-dir ${dataDirectory}`,
      { cause },
    );
  } finally {
    await agent.close();
  }
}

async function kept(directory: string, name: string): Promise<string> {
  try {
    return await readFile(join(directory, name), 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    throw new Error(`${directory} holds no cloud: start one first, with aro local azure --data-dir ${directory}`, {
      cause: error,
    });
  }
}

/** Whoever reads the file meanwhile finds the old or the new one whole. */
async function replaceFile(file: string, text: string): Promise<void> {
  const next = `${file}.new`;
  await writeFile(next, text, { mode: 0o600, flush: true });
  await rename(next, file);
}
