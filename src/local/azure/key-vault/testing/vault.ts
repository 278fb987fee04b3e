// A cloud with a vault in it, and clients of Azure's SDKs for the vault.
import type { IncomingHttpHeaders } from 'node:http';
import type { TestContext } from 'node:test';
import { ClientSecretCredential } from '@azure/identity';
import { CertificateClient } from '@azure/keyvault-certificates';
import { CryptographyClient, KeyClient } from '@azure/keyvault-keys';
import { SecretClient } from '@azure/keyvault-secrets';
import { ProxyAgent, request } from 'undici';
import * as registered from '../../providers.ts';
import { type StartOptions, startAzure, type TestAzure } from '../../testing/start-azure.ts';
import { vaultPlane } from '../plane.ts';
import { keyVaultProvider } from '../provider.ts';

export interface TestVault extends TestAzure {
  readonly vaultId: string;
  readonly url: string;
  readonly secrets: SecretClient;
  readonly keys: KeyClient;
  readonly certificates: CertificateClient;
  cryptography(keyId: string): CryptographyClient;
}

export const vaultVersion = '2024-11-01';

/** What the provider needs that the cloud does not have by itself. */
export function vaultParts(): Pick<StartOptions, 'providers' | 'dataPlanes'> {
  return {
    providers: registered.providers.includes(keyVaultProvider) ? [] : [keyVaultProvider],
    dataPlanes: registered.dataPlanes.some(({ plane }) => plane === vaultPlane.plane) ? [] : [vaultPlane],
  };
}

/** With a token of its own, such as after time was skipped. */
export function freshClients(cloud: TestAzure, name: string) {
  const { owner, ca } = cloud.azure;
  const credential = new ClientSecretCredential(owner.tenantId, owner.clientId, owner.secret.reveal(), {
    authorityHost: cloud.origin,
    disableInstanceDiscovery: true,
    tlsOptions: { ca },
  });
  return vaultClients({ ...cloud, credential }, name);
}

export function vaultClients(cloud: TestAzure, name: string) {
  const url = `https://${name}.vault.${cloud.azure.cloud.suffix}/`;
  const { credential, dataPlane } = cloud;
  const options = { ...dataPlane } as object;
  return {
    url,
    secrets: new SecretClient(url, credential, options),
    keys: new KeyClient(url, credential, options),
    certificates: new CertificateClient(url, credential, options),
    cryptography: (keyId: string) => new CryptographyClient(keyId, credential, options),
  };
}

/** A vault whose access policy lets the owner do everything. */
export async function startVault(
  t: TestContext,
  options: StartOptions = {},
  properties: object = {},
): Promise<TestVault> {
  const cloud = await startAzure(t, { ...vaultParts(), ...options });
  const vaultId = `${cloud.subscription}/resourceGroups/g/providers/Microsoft.KeyVault/vaults/MyVault`;
  await cloud.call(`${cloud.subscription}/resourceGroups/g`, { method: 'PUT', body: { location: 'eastus' } });
  const made = await cloud.call(`${vaultId}?api-version=${vaultVersion}`, {
    method: 'PUT',
    body: vaultBody(cloud, properties),
  });
  if (made.status !== 200 && made.status !== 201) throw new Error(`${made.status} ${made.text}`);
  return { ...cloud, vaultId, ...vaultClients(cloud, 'myvault') };
}

export function vaultBody({ azure }: TestAzure, properties: object = {}): object {
  return {
    location: 'eastus',
    properties: {
      tenantId: azure.owner.tenantId,
      sku: { family: 'A', name: 'premium' },
      accessPolicies: [
        {
          tenantId: azure.owner.tenantId,
          objectId: azure.owner.objectId,
          permissions: { keys: ['all'], secrets: ['all'], certificates: ['all'] },
        },
      ],
      ...properties,
    },
  };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** One request to a data plane as the owner, through the proxy: POST with a body, GET without. */
export async function vaultRequest(
  cloud: TestAzure,
  url: URL,
  body?: object,
  options: { readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'; readonly token?: string | null } = {},
): Promise<{
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly json: Record<string, unknown> | undefined;
}> {
  const agent = new ProxyAgent({ uri: cloud.azure.cloud.proxy, requestTls: { ca: cloud.azure.ca } });
  try {
    const token =
      options.token === undefined
        ? (await cloud.credential.getToken(`https://vault.${cloud.azure.cloud.suffix}/.default`)).token
        : options.token;
    const answer = await request(url, {
      method: options.method ?? (body === undefined ? 'GET' : 'POST'),
      dispatcher: agent,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      headers: answer.headers,
      json: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>),
    };
  } finally {
    await agent.close();
  }
}
