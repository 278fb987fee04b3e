// Which Azure: where its services are, whom tokens for them are made out to, and how a cloud that is not Microsoft's is reached.
import { readFile } from 'node:fs/promises';
import type { Agent } from 'node:https';
import { request, Agent as UndiciAgent } from 'undici';
import { tunnelAgent } from './tunnel-agent.ts';

export interface AzureEnvironment {
  readonly name: string;
  /** Where tokens come from, without a slash at the end; so are all addresses here. */
  readonly authorityHost: string;
  readonly resourceManager: Service;
  readonly graph: Service;
  /** The decision point of access checks stands at `<location>.<suffix>`. */
  readonly authorization: { readonly suffix: string; readonly audience: string };
  readonly keyVault: { readonly suffix: string; readonly audience: string };
  readonly storage: { readonly suffix: string; readonly audience: string };
  readonly containerRegistrySuffix: string;
  readonly frontDoorSuffix: string;
  /** PEM of the authorities to trust, for clouds whose certificates the runtime does not know. */
  readonly ca?: string;
  /** For the names that only this proxy can resolve; the addresses above that are on this machine are reached without it. */
  readonly proxy?: string;
  /** Whether Microsoft's directory of authorities knows this one; others are asked without looking there first. */
  readonly knownAuthority: boolean;
}

/** A service and whom tokens for it are made out to. */
export interface Service {
  readonly endpoint: string;
  readonly audience: string;
}

export const publicCloud: AzureEnvironment = {
  name: 'AzureCloud',
  authorityHost: 'https://login.microsoftonline.com',
  resourceManager: { endpoint: 'https://management.azure.com', audience: 'https://management.azure.com' },
  graph: { endpoint: 'https://graph.microsoft.com', audience: 'https://graph.microsoft.com' },
  authorization: { suffix: 'authorization.azure.net', audience: 'https://authorization.azure.net' },
  keyVault: { suffix: 'vault.azure.net', audience: 'https://vault.azure.net' },
  storage: { suffix: 'core.windows.net', audience: 'https://storage.azure.com' },
  containerRegistrySuffix: 'azurecr.io',
  frontDoorSuffix: 'azurefd.net',
  knownAuthority: true,
};

export const usGovernment: AzureEnvironment = {
  name: 'AzureUSGovernment',
  authorityHost: 'https://login.microsoftonline.us',
  resourceManager: {
    endpoint: 'https://management.usgovcloudapi.net',
    audience: 'https://management.usgovcloudapi.net',
  },
  graph: { endpoint: 'https://graph.microsoft.us', audience: 'https://graph.microsoft.us' },
  authorization: { suffix: 'authorization.azure.us', audience: 'https://authorization.azure.us' },
  keyVault: { suffix: 'vault.usgovcloudapi.net', audience: 'https://vault.usgovcloudapi.net' },
  storage: { suffix: 'core.usgovcloudapi.net', audience: 'https://storage.azure.com' },
  containerRegistrySuffix: 'azurecr.us',
  frontDoorSuffix: 'azurefd.us',
  knownAuthority: true,
};

/** By the names under which people and tools know them. */
const known: ReadonlyMap<string, AzureEnvironment> = new Map([
  ['azurecloud', publicCloud],
  ['azurepubliccloud', publicCloud],
  ['azureusgovernment', usGovernment],
  ['azureusgovernmentcloud', usGovernment],
]);

export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The environment that variables name:
 *
 * - `AZURE_ENVIRONMENT`: `AzureCloud` (when nothing is set) or `AzureUSGovernment`;
 * - `AZURE_METADATA_URL`, or `ARM_CLOUD_METADATA_URL` as the Azure CLI calls it: any cloud that tells its own endpoints;
 * - `AZURE_CA_FILE`: PEM of authorities to trust; `AZURE_PROXY_URL`: the proxy for its names.
 *
 * Throws for a name that is not known.
 */
export async function environmentFrom(variables: Variables): Promise<AzureEnvironment> {
  const caFile = variables.AZURE_CA_FILE;
  const reach = {
    ...(caFile ? { ca: await readFile(caFile, 'utf8') } : {}),
    ...(variables.AZURE_PROXY_URL ? { proxy: variables.AZURE_PROXY_URL } : {}),
  };
  const metadata = variables.AZURE_METADATA_URL || variables.ARM_CLOUD_METADATA_URL;
  if (metadata) return environmentFromMetadata(metadata, reach);
  const name = variables.AZURE_ENVIRONMENT || publicCloud.name;
  const environment = known.get(name.toLowerCase());
  if (environment) return { ...environment, ...reach };
  throw new TypeError(
    `AZURE_ENVIRONMENT is ${JSON.stringify(name)}; it can be AzureCloud or AzureUSGovernment. Other clouds are named by AZURE_METADATA_URL.`,
  );
}

export interface Reach {
  readonly ca?: string;
  readonly proxy?: string;
}

const metadataVersion = '2022-09-01';
const metadataTimeoutMs = 30_000;

/** Asks a cloud for its endpoints. `url` is its Resource Manager, or the whole address of the document. */
export async function environmentFromMetadata(url: string, reach: Reach = {}): Promise<AzureEnvironment> {
  const address = metadataAddress(url);
  const agent = new UndiciAgent(reach.ca === undefined ? {} : { connect: { ca: reach.ca } });
  try {
    const answer = await request(address, {
      dispatcher: agent,
      headersTimeout: metadataTimeoutMs,
      bodyTimeout: metadataTimeoutMs,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`it answered with status ${answer.statusCode}`);
    return { ...environmentOf(JSON.parse(text)), ...reach };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The cloud's endpoints cannot be read at ${address.origin}${address.pathname}: ${why}`, {
      cause: error,
    });
  } finally {
    await agent.close();
  }
}

function metadataAddress(url: string): URL {
  const address = new URL(url);
  if (address.protocol !== 'https:')
    throw new TypeError(`${url} cannot be a cloud's address: it must begin with https://`);
  if (!address.pathname.endsWith('/metadata/endpoints')) {
    address.pathname = `${address.pathname.replace(/\/$/, '')}/metadata/endpoints`;
  }
  address.search = `?api-version=${metadataVersion}`;
  return address;
}

interface Metadata {
  readonly name: string;
  readonly resourceManager: string;
  readonly microsoftGraphResourceId: string;
  readonly authentication: { readonly loginEndpoint: string; readonly audiences: readonly string[] };
  readonly suffixes: {
    readonly keyVaultDns: string;
    readonly storage: string;
    readonly acrLoginServer: string;
    readonly azureFrontDoorEndpointSuffix: string;
  };
}

function environmentOf(document: unknown): AzureEnvironment {
  const { name, resourceManager, microsoftGraphResourceId, authentication, suffixes } = checked(document);
  const familiar = known.get(name.toLowerCase());
  if (familiar) return familiar;
  const endpoint = bare(resourceManager);
  const root = suffixes.keyVaultDns.replace(/^[^.]+\./, '');
  return {
    name,
    authorityHost: bare(authentication.loginEndpoint),
    resourceManager: { endpoint, audience: bare(authentication.audiences[0] ?? endpoint) },
    graph: { endpoint: bare(microsoftGraphResourceId), audience: bare(microsoftGraphResourceId) },
    authorization: { suffix: `authorization.${root}`, audience: 'https://authorization.azure.net' },
    keyVault: { suffix: suffixes.keyVaultDns, audience: `https://${suffixes.keyVaultDns}` },
    storage: { suffix: suffixes.storage, audience: 'https://storage.azure.com' },
    containerRegistrySuffix: suffixes.acrLoginServer,
    frontDoorSuffix: suffixes.azureFrontDoorEndpointSuffix,
    knownAuthority: false,
  };
}

function checked(document: unknown): Metadata {
  const { name, resourceManager, microsoftGraphResourceId, authentication, suffixes } = (document ??
    {}) as Partial<Metadata>;
  const texts = [name, resourceManager, microsoftGraphResourceId, authentication?.loginEndpoint, suffixes?.keyVaultDns];
  if (!texts.every((text) => typeof text === 'string' && text !== '') || !Array.isArray(authentication?.audiences)) {
    throw new Error(`it is no description of a cloud (api-version ${metadataVersion})`);
  }
  return document as Metadata;
}

function bare(address: string): string {
  return address.replace(/\/+$/, '');
}

/** How a client of an SDK reaches an address of this environment. */
export function reachOf(environment: Pick<AzureEnvironment, 'ca' | 'proxy'>, address: string): SdkReach {
  const { ca, proxy } = environment;
  if (proxy !== undefined && !isThisMachine(new URL(address).hostname)) return { agent: agentOf(proxy, ca) };
  return ca === undefined ? {} : { tlsOptions: { ca } };
}

/** Options of every client of the SDKs. */
export interface SdkReach {
  readonly tlsOptions?: { readonly ca: string };
  readonly agent?: Agent;
}

const agents = new Map<string, Agent>();

/** Connections are shared by all clients that go the same way. */
function agentOf(proxy: string, ca: string | undefined): Agent {
  const key = `${proxy}\n${ca ?? ''}`;
  const agent = agents.get(key) ?? tunnelAgent(proxy, ca);
  agents.set(key, agent);
  return agent;
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
