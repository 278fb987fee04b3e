// A cloud with registries in it, and a small client of the distribution protocol.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { TestContext } from 'node:test';
import { ProxyAgent, request } from 'undici';
import { type StartOptions, startAzure, type TestAzure } from '../../testing/start-azure.ts';

export const registryVersion = '2023-07-01';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly json: Record<string, unknown>;
}

export interface TestRegistry extends TestAzure {
  registryId(name: string): string;
  create(name: string, properties?: object): Promise<void>;
  /** One request to a registry, `/v2/…`. */
  ask(
    registry: string,
    path: string,
    options?: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: Buffer | string },
  ): Promise<Answer>;
}

export async function startRegistry(t: TestContext, options: StartOptions = {}): Promise<TestRegistry> {
  const cloud = await startAzure(t, options);
  await cloud.call(`${cloud.subscription}/resourceGroups/g`, { method: 'PUT', body: { location: 'eastus' } });
  const agent = new ProxyAgent({ uri: cloud.azure.cloud.proxy, requestTls: { ca: cloud.azure.ca } });
  t.after(() => agent.close());
  const registryId = (name: string): string =>
    `${cloud.subscription}/resourceGroups/g/providers/Microsoft.ContainerRegistry/registries/${name}`;
  return {
    ...cloud,
    registryId,
    async create(name, properties = {}) {
      const path = `${registryId(name)}?api-version=${registryVersion}`;
      const made = await cloud.call(path, {
        method: 'PUT',
        body: { location: 'eastus', sku: { name: 'Premium' }, properties },
      });
      if (made.status > 202) throw new Error(`${made.status} ${made.text}`);
    },
    async ask(registry, path, { method = 'GET', headers = {}, body } = {}) {
      const answer = await request(`https://${registry}.azurecr.${cloud.azure.cloud.suffix}${path}`, {
        method: method as 'GET',
        headers,
        dispatcher: agent,
        ...(body === undefined ? {} : { body }),
      });
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      let json: Record<string, unknown> = {};
      try {
        json = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>;
      } catch {
        // Not every answer is a document.
      }
      return { status: answer.statusCode, headers: answer.headers, bytes, json };
    },
  };
}

export function digest(bytes: Buffer | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
