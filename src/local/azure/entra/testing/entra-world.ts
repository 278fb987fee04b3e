// A directory with its endpoints on a real TLS listener, in a directory of its own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { Agent, type Dispatcher, request } from 'undici';
import { armServerOptions } from '../../../../arm/server-options.ts';
import { keyRing } from '../../../../kit/key-ring.ts';
import { listen } from '../../../../kit/listener.ts';
import { createLogger } from '../../../../kit/log.ts';
import { Secret } from '../../../../kit/secret.ts';
import { type TestCertificates, testCertificates } from '../../../../kit/testing/certificates.ts';
import { openSqliteStore } from '../../../../store/sqlite/open.ts';
import type { Target } from '../../kernel/network.ts';
import { createDirectory, type DirectoryOptions, type EntraDirectory } from '../directory.ts';
import type { Tenant } from '../directory-objects.ts';
import { createIssuerClient } from '../issuer-client.ts';
import { entraRoutes } from '../routes.ts';
import type { DirectorySeed } from '../seed.ts';

export const homeTenant: Tenant = {
  id: '11111111-1111-4111-8111-111111111111',
  displayName: 'Contoso',
  domain: 'contoso.onmicrosoft.test',
};

export const seededApp = {
  displayName: 'owner',
  appId: '22222222-2222-4222-8222-222222222222',
  objectId: '22222222-2222-4222-8222-000000000000',
  secret: new Secret('a-secret-of-configuration'),
  graphRoles: ['Directory.ReadWrite.All', 'Application.ReadWrite.All'],
} as const;

export const seededUser = {
  userPrincipalName: `ada@${homeTenant.domain}`,
  displayName: 'Ada Lovelace',
  objectId: '33333333-3333-4333-8333-333333333333',
  password: new Secret('correct horse battery staple'),
  admin: true,
} as const;

export const armScope = 'https://management.azure.com/.default';
export const armAudience = 'https://management.azure.com';

export interface EntraWorld {
  readonly directory: EntraDirectory;
  readonly origin: string;
  readonly certificates: TestCertificates;
  readonly clock: { skip(ms: number): void; skipOnMachine(ms: number): void; now(): number };
  /** For the credentials of @azure/identity. */
  readonly sdk: {
    readonly authorityHost: string;
    readonly disableInstanceDiscovery: true;
    readonly tlsOptions: { readonly ca: string };
    readonly retryOptions: { readonly maxRetries: 0 };
  };
  /** A request as a browser or program sends it; redirects are answers. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  form(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** Opens the same state again, as after a restart. */
  reopen(): Promise<EntraDirectory>;
}

export interface CallOptions {
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as a document; empty when it is none. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface EntraWorldOptions extends Pick<DirectoryOptions, 'federatedCredentialsOf'> {
  readonly seed?: Partial<DirectorySeed>;
  /** Adds routes beside Entra's. */
  readonly routes?: (app: FastifyInstance, directory: EntraDirectory) => void;
  /** Hosts of the cloud beside its own. */
  readonly target?: (host: string, port: number) => Target | undefined;
}

export async function entraWorld(t: TestContext, options: EntraWorldOptions = {}): Promise<EntraWorld> {
  const certificates = await testCertificates(t);
  const folder = await mkdtemp(join(tmpdir(), 'aro-entra-'));
  const ring = keyRing([{ id: 'k1', bytes: new Secret(Buffer.alloc(32, 3)) }]);
  const logger = createLogger({ service: 'entra', level: 'fatal' });
  let skipped = 0;
  let machineSkipped = 0;
  let origin = 'https://localhost:1';
  const clock = {
    now: () => Date.now() + skipped,
    skip(ms: number) {
      skipped += ms;
    },
    skipOnMachine(ms: number) {
      machineSkipped += ms;
    },
  };
  const cloud = {
    suffix: 'azure.test',
    get origin() {
      return origin;
    },
  };
  const issuers = createIssuerClient({
    ca: certificates.ca,
    target: async (host, port) =>
      origin === `https://${host}:${port}` ? { host: '127.0.0.1', port } : options.target?.(host, port),
  });
  const open = async () => {
    const store = await openSqliteStore({ file: join(folder, 'store.db'), keyRing: ring });
    t.after(() => store.close());
    return createDirectory({
      cloud,
      store,
      clock,
      machineNow: () => Date.now() + machineSkipped,
      logger,
      issuers,
      ...(options.federatedCredentialsOf ? { federatedCredentialsOf: options.federatedCredentialsOf } : {}),
      seed: { tenants: [homeTenant], users: [seededUser], applications: [seededApp], ...options.seed },
    });
  };
  t.after(() => rm(folder, { recursive: true, force: true }));
  const directory = await open();
  const app = Fastify({ ...armServerOptions(), loggerInstance: logger });
  entraRoutes(app as unknown as FastifyInstance, directory.entra);
  options.routes?.(app as unknown as FastifyInstance, directory);
  const listener = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    certificate: certificates.server.certificate,
    key: certificates.server.key,
    logger,
  });
  // Requests name other hosts of the cloud in their Host header.
  const agent = new Agent({ connect: { ca: certificates.ca, checkServerIdentity: () => undefined } });
  t.after(async () => {
    await agent.destroy();
    await issuers.close();
    await listener.stop(AbortSignal.abort());
    await app.close();
  });
  origin = `https://localhost:${listener.port}`;

  const call = async (path: string, given: CallOptions = {}): Promise<Answer> => {
    const answer = await request(`${origin}${path}`, {
      method: given.method ?? 'GET',
      dispatcher: agent,
      headers: given.headers ?? {},
      body: given.body ?? null,
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, json: documentOf(text) };
  };
  return {
    directory,
    origin,
    certificates,
    clock,
    sdk: {
      authorityHost: origin,
      disableInstanceDiscovery: true,
      tlsOptions: { ca: certificates.ca },
      retryOptions: { maxRetries: 0 },
    },
    call,
    form: (path, fields, headers = {}) =>
      call(path, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams(fields).toString(),
      }),
    reopen: open,
  };
}

function documentOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
