// A cloud with a storage account in it, and Azure's SDK for blobs pointed at it.
import type { TestContext } from 'node:test';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { type StartOptions, startAzure, type TestAzure } from '../../testing/start-azure.ts';

export const accountVersion = '2024-01-01';

export interface TestAccount extends TestAzure {
  readonly accountId: string;
  readonly url: string;
  readonly key: StorageSharedKeyCredential;
  /** By the account's key. */
  readonly service: BlobServiceClient;
}

/** Options of the SDK's clients for this cloud. */
export function clientOptions({ dataPlane }: TestAzure) {
  return { ...dataPlane, retryOptions: { maxTries: 1 } } as object;
}

export async function startAccount(
  t: TestContext,
  options: StartOptions = {},
  properties: object = {},
): Promise<TestAccount> {
  const cloud = await startAzure(t, options);
  const accountId = `${cloud.subscription}/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/myaccount`;
  await cloud.call(`${cloud.subscription}/resourceGroups/g`, { method: 'PUT', body: { location: 'eastus' } });
  const path = `${accountId}?api-version=${accountVersion}`;
  const made = await cloud.call(path, {
    method: 'PUT',
    body: { location: 'eastus', sku: { name: 'Standard_LRS' }, kind: 'StorageV2', properties },
  });
  if (made.status > 202) throw new Error(`${made.status} ${made.text}`);
  for (let attempt = 0; attempt < 100; attempt++) {
    const { json } = await cloud.call(path);
    if ((json?.properties as Record<string, unknown> | undefined)?.provisioningState === 'Succeeded') break;
  }
  return attachAccount(cloud, accountId);
}

export async function attachAccount(cloud: TestAzure, accountId: string): Promise<TestAccount> {
  const keys = await cloud.call(`${accountId}/listKeys?api-version=${accountVersion}`, { method: 'POST' });
  const [first] = (keys.json?.keys ?? []) as readonly { readonly value: string }[];
  const key = new StorageSharedKeyCredential('myaccount', first?.value ?? '');
  const url = `https://myaccount.blob.storage.${cloud.azure.cloud.suffix}`;
  return { ...cloud, accountId, url, key, service: new BlobServiceClient(url, key, clientOptions(cloud)) };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

export async function textOf(stream: NodeJS.ReadableStream | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  if (stream) for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
