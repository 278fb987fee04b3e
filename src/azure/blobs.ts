// Blob storage: the SDK's client for an account, loaded when it is asked for.
import type { BlobServiceClient } from '@azure/storage-blob';
import type { Credential } from './credential.ts';
import { type AzureEnvironment, reachOf } from './environment.ts';

/** `account` is an account's name, or the whole address of its blobs. */
export async function blobService(
  environment: AzureEnvironment,
  credential: Credential,
  account: string,
): Promise<BlobServiceClient> {
  const url = account.startsWith('https://') ? account : `https://${account}.blob.${environment.storage.suffix}`;
  const { BlobServiceClient: Client } = await import('@azure/storage-blob');
  const options = { audience: `${environment.storage.audience}/.default`, ...reachOf(environment, url) };
  return new Client(url, credential, options);
}

/** Makes the account serve its container `$web` as a site; nothing is sent when it does so already. */
export async function serveWebContainer(service: BlobServiceClient, indexDocument = 'index.html'): Promise<void> {
  const { staticWebsite } = await service.getProperties();
  if (staticWebsite?.enabled === true) return;
  await service.setProperties({ staticWebsite: { enabled: true, indexDocument } });
}
