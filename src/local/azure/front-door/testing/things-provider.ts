// A small resource provider for tests of the front door: things in memory, behind mutual TLS, whose operations end when a test says so.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { ArmError, forbidden } from '../../../../arm/errors.ts';
import { linkTo, nextLink } from '../../../../arm/links.ts';
import { armScope } from '../../../../arm/plugin.ts';
import { preflight } from '../../../../arm/preflight.ts';
import { foldCase } from '../../../../arm/resource-id.ts';
import { armServerOptions } from '../../../../arm/server-options.ts';
import type { GateRow, Subscription } from '../../../../arm/subscription-gate.ts';
import { listen } from '../../../../kit/listener.ts';
import { createLogger } from '../../../../kit/log.ts';
import { createAuthority, issueServerCertificate } from '../../../../pki/authority.ts';
import { writeCertificate } from '../../../../pki/files.ts';
import type { Endpoint } from '../endpoint.ts';

export const namespace = 'Test.Things';
export const version = '2024-01-01';
const origin = 'https://things.invalid';

interface Thing {
  readonly id: string;
  readonly body: Record<string, unknown>;
  state: string;
}

interface Operation {
  status: string;
  readonly thing: string;
  readonly end: () => void;
}

export interface ThingsProvider {
  readonly endpoint: Endpoint;
  /** Every request that came in: method and path, with the headers it had. */
  readonly seen: { readonly what: string; readonly headers: FastifyRequest['headers']; readonly body: unknown }[];
  readonly subscriptions: Map<string, Subscription>;
  /** While it is set, operations do not end. */
  held: boolean;
  /** Answers everything with this, when it is set. */
  broken: { readonly status: number; readonly text: string } | undefined;
  /** Ends all operations that are under way. */
  release(): void;
  stop(): Promise<void>;
}

const all = (verdict: GateRow['read']): GateRow => ({
  read: verdict,
  write: verdict,
  delete: verdict,
  action: verdict,
});

/** `cloudCa` is what Resource Manager's certificate comes from. The provider has an authority of its own. */
export async function startThings(t: TestContext, cloudCa: string, armName: string): Promise<ThingsProvider> {
  const directory = await mkdtemp(join(tmpdir(), 'things-'));
  const authority = await createAuthority({ name: 'Things' });
  const files = { certificate: join(directory, 'tls.crt'), key: join(directory, 'tls.key') };
  await writeCertificate(files, await issueServerCertificate(authority, { dnsNames: ['things.example'] }));
  const clientCa = join(directory, 'clients.pem');
  await writeFile(clientCa, cloudCa);
  const things = new Map<string, Thing>();
  const operations = new Map<string, Operation>();
  const logger = createLogger({ service: 'things', level: 'silent' });
  const app = Fastify({ ...armServerOptions(), loggerInstance: logger }) as unknown as FastifyInstance;

  const provider: Omit<ThingsProvider, 'endpoint' | 'stop'> = {
    seen: [],
    subscriptions: new Map(),
    held: false,
    broken: undefined,
    release() {
      for (const operation of operations.values()) {
        if (operation.status !== 'Accepted') continue;
        operation.end();
        operation.status = 'Succeeded';
      }
    },
  };
  const begin = (thing: string, end: () => void): string => {
    const id = randomUUID();
    operations.set(id, { status: 'Accepted', thing, end });
    if (!provider.held) provider.release();
    return id;
  };
  const keyOf = (request: FastifyRequest): string => foldCase(request.url.split('?')[0] ?? '');
  const shown = ({ id, body, state }: Thing) => ({
    ...body,
    id,
    name: id.split('/').at(-1),
    type: `${namespace}/things`,
    properties: { ...(body.properties as object | undefined), provisioningState: state },
  });
  const announced = (request: FastifyRequest, operation: string): string => {
    const { subscriptionId } = request.params as { readonly subscriptionId: string };
    const path = `/subscriptions/${subscriptionId}/providers/${namespace}/locations/eastus/operationsstatus/${operation}`;
    return linkTo(request, { origin }, path);
  };

  app.addHook('preHandler', async (request, reply) => {
    provider.seen.push({ what: `${request.method} ${request.url}`, headers: request.headers, body: request.body });
    if (provider.broken) return reply.code(provider.broken.status).type('text/html').send(provider.broken.text);
    return undefined;
  });
  app.register(
    armScope(
      {
        authenticate(request) {
          const { caller } = request;
          if (caller.kind !== 'certificate' || !caller.names.dns.includes(armName)) throw forbidden();
          return { name: caller.identity, isArm: true };
        },
        pathParameters: {},
        apiVersion: {
          supported: [version],
          missing: () => new ArmError(400, 'InvalidParameter', 'No api-version.'),
          unknown: () => new ArmError(400, 'InvalidParameter', 'Unknown api-version.'),
        },
        subscriptionGate: {
          lookup: (id) => provider.subscriptions.get(id),
          states: { Registered: all('allow'), Warned: { ...all(409), read: 'allow', delete: 'allow' } },
          missing: all(400),
          other: all(409),
        },
        body: { limitBytes: 1024 * 1024, maxDepth: 50 },
        output: { indent: 0, finalNewline: false },
      },
      (scope) => {
        const bare = { config: { arm: { apiVersions: false, subscriptionGate: false } } } as const;
        const group = `/subscriptions/:subscriptionId/resourceGroups/:group/providers/${namespace}`;
        scope.put('/subscriptions/:subscriptionId', bare, async (request) => {
          const { subscriptionId } = request.params as { readonly subscriptionId: string };
          const { state } = request.body as { readonly state: string };
          provider.subscriptions.set(subscriptionId.toLowerCase(), { state });
          return request.body;
        });
        scope.get(`/providers/${namespace}/operations`, bare, async () => ({
          value: [{ name: `${namespace}/things/read`, display: {}, origin: 'user,system' }],
        }));
        scope.put(`${group}/things/:name`, async (request, reply) => {
          const key = keyOf(request);
          const there = things.get(key);
          const body = request.body as Record<string, unknown>;
          if (body.kind === 'wrong') throw new ArmError(400, 'WrongThing', 'This kind of thing is wrong.');
          const thing: Thing = { id: there?.id ?? request.url.split('?')[0] ?? '', body, state: 'Accepted' };
          things.set(key, thing);
          const operation = begin(key, () => {
            thing.state = 'Succeeded';
          });
          reply.header('azure-asyncoperation', announced(request, operation));
          return reply.code(there ? 200 : 201).send(shown(thing));
        });
        scope.get(`${group}/things/:name`, async (request) => {
          const thing = things.get(keyOf(request));
          if (!thing) throw new ArmError(404, 'ResourceNotFound', 'No such thing.');
          return shown(thing);
        });
        scope.delete(`${group}/things/:name`, async (request, reply) => {
          const thing = things.get(keyOf(request));
          if (!thing) return reply.code(204).send();
          thing.state = 'Deleting';
          const operation = begin(keyOf(request), () => void things.delete(keyOf(request)));
          reply.header('azure-asyncoperation', announced(request, operation));
          return reply.code(202).send();
        });
        scope.post(`${group}/things/:name/listSecrets`, async () => ({ secret: 'hush' }));
        scope.get(`/subscriptions/:subscriptionId/providers/${namespace}/things`, async (request) => {
          const value = [...things.values()].map(shown);
          const isFirst = !request.url.includes('skipToken');
          return isFirst && value.length > 1
            ? { value: value.slice(0, 1), nextLink: nextLink(request, { origin }, 'second') }
            : { value: isFirst ? value : value.slice(1) };
        });
        scope.get(
          `/subscriptions/:subscriptionId/providers/${namespace}/locations/:location/operationsstatus/:operation`,
          async (request, reply) => {
            const { operation } = request.params as { readonly operation: string };
            reply.header('retry-after', '0');
            const found = operations.get(operation);
            if (!found) throw new ArmError(404, 'NotFound', 'No such operation.');
            return { name: operation, status: found.status };
          },
        );
        scope.post(`${group}/deployments/:name/preflight`, bare, (request) =>
          preflight(request.body, {
            types: {
              'test.things/things': {
                apiVersions: [version],
                validate: ({ members }) => (members.kind === 'wrong' ? [{ code: 'WrongThing', message: 'wrong' }] : []),
              },
            },
          }),
        );
      },
    ),
  );
  const listener = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    ...files,
    clients: { authorities: clientCa, unauthenticated: 403 },
    logger,
  });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      await listener.stop(AbortSignal.abort());
      await app.close();
      await rm(directory, { recursive: true, force: true });
    })();
    return stopped;
  };
  t.after(stop);
  return Object.assign(provider, {
    stop,
    endpoint: {
      name: 'things',
      namespace,
      url: `https://127.0.0.1:${listener.port}`,
      ca: authority.certificatePem,
      serverName: 'things.example',
      audience: 'https://things.example',
      types: [
        { type: 'things', apiVersions: [version], tracked: true, actions: ['listSecrets'] },
        { type: 'locations/operationsstatus', apiVersions: [version] },
      ],
    },
  });
}
