// A cloud with Microsoft.Network and a group, and Azure's own client for it.
import type { TestContext } from 'node:test';
import { NetworkManagementClient } from '@azure/arm-network';
import { type StartOptions, startAzure, type TestAzure } from '../../testing/start-azure.ts';

export interface NetworkWorld extends TestAzure {
  readonly client: NetworkManagementClient;
  /** `/subscriptions/…/resourceGroups/net/providers/Microsoft.Network`. */
  readonly at: string;
}

export const location = 'eastus';
export const group = 'net';

export async function startNetwork(t: TestContext, options: StartOptions = {}): Promise<NetworkWorld> {
  const cloud = await startAzure(t, options);
  const client = new NetworkManagementClient(cloud.credential, cloud.subscriptionId, cloud.sdk);
  const made = await cloud.call(`${cloud.subscription}/resourceGroups/${group}`, { method: 'PUT', body: { location } });
  if (made.status > 201) throw new Error(made.text);
  return { ...cloud, client, at: `${cloud.subscription}/resourceGroups/${group}/providers/Microsoft.Network` };
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
