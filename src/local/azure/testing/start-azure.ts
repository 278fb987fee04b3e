// A whole cloud for a test: on free ports, with a subscription and a credential that owns it, gone when the test ends.
import { mkdtemp, rm } from 'node:fs/promises';
import type { Agent as HttpsAgent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { ClientSecretCredential } from '@azure/identity';
import { Agent, request } from 'undici';
import { tunnelAgent } from '../../../azure/tunnel-agent.ts';
import { createLogger } from '../../../kit/log.ts';
import type { AzureConfig } from '../config.ts';
import { type RunningAzure, start } from '../main.ts';

export const subscriptionId = '00000000-1111-4222-8333-444444444444';

export interface AzureAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly text: string;
  /** The body as a document; undefined when it is none. */
  readonly json: Record<string, unknown> | undefined;
}

export interface CallOptions {
  readonly method?: 'GET' | 'HEAD' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';
  readonly headers?: { readonly [name: string]: string };
  /** An object is sent as JSON. */
  readonly body?: object | string;
  /** Sent as the bearer token; the owner's when left out, none when null. */
  readonly token?: string | null;
}

export interface TestAzure {
  readonly azure: RunningAzure;
  readonly origin: string;
  readonly subscriptionId: string;
  /** `/subscriptions/<id>`. */
  readonly subscription: string;
  /** Of the owner. */
  readonly credential: ClientSecretCredential;
  /** For the clients of the Azure SDKs for Resource Manager. */
  readonly sdk: {
    readonly endpoint: string;
    readonly credentials: { readonly scopes: string[] };
    readonly credentialScopes: string;
    readonly tlsOptions: { readonly ca: string };
    readonly retryOptions: { readonly maxRetries: 0 };
  };
  /** For SDK clients of data planes, which are reached through the cloud's proxy. */
  readonly dataPlane: {
    readonly tlsOptions: { readonly ca: string };
    readonly proxyOptions: { readonly host: string; readonly port: number };
    /** Goes through the proxy and trusts the cloud's authority: the SDKs drop the latter when told only of a proxy. */
    readonly agent: HttpsAgent;
    readonly retryOptions: { readonly maxRetries: 0 };
  };
  /** A token of the owner for Resource Manager. */
  token(): Promise<string>;
  /** One request to the cloud's origin; a path without `api-version` gets the newest of resource groups. */
  call(path: string, options?: CallOptions): Promise<AzureAnswer>;
  /** One request to the control endpoints, below `/_control`. */
  control(path: string, options?: CallOptions): Promise<AzureAnswer>;
  /** Ends the cloud and starts it again on the same data directory (needs `keep`). */
  restart(): Promise<TestAzure>;
}

export interface StartOptions extends Partial<Omit<AzureConfig, 'logger'>> {
  /** Keeps the state in a directory of the test's own, for restarts. */
  readonly keep?: boolean;
}

const defaultVersion = '2021-04-01';

/** Profile `instant` and registered namespaces unless the options say otherwise. */
export async function startAzure(t: TestContext, options: StartOptions = {}): Promise<TestAzure> {
  const { keep = false, ...config } = options;
  let { dataDirectory } = config;
  if (keep && dataDirectory === undefined) {
    const made = await mkdtemp(join(tmpdir(), 'azure-test-'));
    t.after(() => rm(made, { recursive: true, force: true, maxRetries: 5 }));
    dataDirectory = made;
  }
  const azure = await start({
    logger: createLogger({ service: 'azure', level: 'fatal' }),
    port: keep ? undefined : 0,
    profile: 'instant',
    graceSeconds: 5,
    subscriptions: [{ subscriptionId, displayName: 'Test' }],
    ...config,
    ...(dataDirectory === undefined ? {} : { dataDirectory }),
  } as AzureConfig);
  await azure.ready;
  return attach(t, azure, { ...config, ...(dataDirectory === undefined ? {} : { dataDirectory }) });
}

async function attach(t: TestContext, azure: RunningAzure, config: StartOptions): Promise<TestAzure> {
  const { ca, cloud, owner } = azure;
  const { origin } = cloud;
  const agent = new Agent({ connect: { ca }, keepAliveTimeout: 1000 });
  t.after(async () => {
    await agent.close();
    await azure.stop();
  });
  for (const { namespace, alwaysRegistered } of azure.world.providers) {
    if (alwaysRegistered) continue;
    await azure.world.subscriptions.change(subscriptionId, (subscription) => ({
      ...subscription,
      registrations: { ...subscription.registrations, [namespace.toLowerCase()]: 'Registered' },
    }));
  }
  const { ClientSecretCredential: Credential } = await import('@azure/identity');
  const credential = new Credential(owner.tenantId, owner.clientId, owner.secret.reveal(), {
    authorityHost: origin,
    disableInstanceDiscovery: true,
    tlsOptions: { ca },
  });
  const scope = `${origin}/.default`;
  const token = async (): Promise<string> => (await credential.getToken(scope)).token;
  const proxy = new URL(cloud.proxy);
  const tunnels = tunnelAgent(cloud.proxy, ca);
  t.after(() => tunnels.destroy());

  const send = async (path: string, { method = 'GET', headers, body }: CallOptions, bearer: string | null) => {
    const answer = await request(`${origin}${path}`, {
      method,
      dispatcher: agent,
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, json: documentOf(text) };
  };

  return {
    azure,
    origin,
    subscriptionId,
    subscription: `/subscriptions/${subscriptionId}`,
    credential,
    sdk: {
      endpoint: origin,
      credentials: { scopes: [scope] },
      credentialScopes: scope,
      tlsOptions: { ca },
      retryOptions: { maxRetries: 0 },
    },
    dataPlane: {
      tlsOptions: { ca },
      proxyOptions: { host: `${proxy.protocol}//${proxy.hostname}`, port: Number(proxy.port) },
      agent: tunnels,
      retryOptions: { maxRetries: 0 },
    },
    token,
    async call(path, options = {}) {
      const versioned = /[?&]api-version=/.test(path)
        ? path
        : `${path}${path.includes('?') ? '&' : '?'}api-version=${defaultVersion}`;
      return send(versioned, options, options.token === undefined ? await token() : options.token);
    },
    control: (path, options = {}) =>
      send(`/_control${path}`, options, options.token === undefined ? azure.controlToken.reveal() : options.token),
    async restart() {
      await azure.stop();
      return startAzure(t, { ...config, keep: true });
    },
  };
}

function documentOf(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
