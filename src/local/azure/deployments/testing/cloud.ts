// A cloud for tests of deployments: the real store, clock and kernel, providers with every kind of resource, and rights as a list.
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ArmError } from '../../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../../arm/resource-id.ts';
import { keyRing } from '../../../../kit/key-ring.ts';
import { createLogger } from '../../../../kit/log.ts';
import { Secret } from '../../../../kit/secret.ts';
import { openSqliteStore } from '../../../../store/sqlite/open.ts';
import { createResources } from '../../kernel/engine.ts';
import { createFaults } from '../../kernel/fault-table.ts';
import { type Profile, profiles } from '../../kernel/profiles.ts';
import type { CallerIdentity, Provider, ProviderRoute } from '../../kernel/provider.ts';
import type { ArmResource, Json, JsonObject } from '../../kernel/record.ts';
import type { Subscription, Subscriptions } from '../../kernel/subscriptions.ts';
import { createSystemClock, type SystemClock } from '../../kernel/system-clock.ts';
import type { World } from '../../kernel/world.ts';
import type { DeploymentsOptions } from '../accept.ts';
import { deploymentsProvider } from '../deployments.ts';

export const subscriptionId = '00000000-0000-0000-0000-000000000001';
export const otherSubscriptionId = '00000000-0000-0000-0000-000000000002';
export const tenantId = '00000000-0000-0000-0000-00000000aaaa';
export const group = `/subscriptions/${subscriptionId}/resourceGroups/group1`;
export const apiVersion = '2024-01-01';
export const deploymentVersion = '2024-03-01';

export const caller: CallerIdentity = {
  tenantId,
  objectId: '00000000-0000-0000-0000-00000000bbbb',
  kind: 'User',
  name: 'alice@azure.test',
  groups: [],
};

/** `networks` and `cards` are there at once, `machines` take time, `vaults` have keys; names starting with `bad` fail. */
const thingsOf = (onCard: (name: string) => void): Provider => ({
  namespace: 'Microsoft.Test',
  types: [
    {
      type: 'networks',
      apiVersions: [apiVersion],
      scope: 'resourceGroup',
      location: 'required',
      prepare: ({ body, id }) => ({
        resource: { ...body, properties: { ...(body.properties as JsonObject), guid: `guid-of-${id.name}` } },
      }),
    },
    { type: 'networks/subnets', apiVersions: [apiVersion], scope: 'resourceGroup', location: 'none' },
    {
      type: 'cards',
      apiVersions: [apiVersion],
      scope: 'resourceGroup',
      location: 'required',
      prepare: ({ body, id }) => {
        if (id.name.startsWith('bad')) throw new ArmError(400, 'BadCard', `The card '${id.name}' is bad.`);
        onCard(id.name);
        return { resource: body };
      },
    },
    {
      type: 'machines',
      apiVersions: [apiVersion],
      scope: 'resourceGroup',
      location: 'required',
      asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
      async effect(_, { id }) {
        if (id.name.startsWith('bad')) throw new ArmError(409, 'MachineBroken', `The machine '${id.name}' is broken.`);
        return { address: `10.0.0.${id.name.length}` };
      },
    },
    {
      type: 'vaults',
      apiVersions: [apiVersion],
      scope: 'resourceGroup',
      location: 'required',
      actions: { listkeys: { run: async ({ id }) => ({ keys: [{ value: `key of ${id.name}` }] }) } },
    },
    { type: 'notes', apiVersions: [apiVersion], scope: 'extension', location: 'none' },
  ],
});

export interface TestCloud {
  readonly world: World;
  readonly clock: SystemClock;
  /** Actions that are refused, folded. */
  readonly refused: Set<string>;
  deploy(path: string, template: Json, more?: JsonObject): Promise<ArmResource>;
  /** PUT alone: the operation is under way. */
  begin(path: string, template: Json, more?: JsonObject): Promise<string>;
  get(id: string): Promise<ArmResource | undefined>;
  /** Resolves when it is there. */
  appears(id: string): Promise<void>;
  route(method: 'GET' | 'POST', on: string, path: string, body?: JsonObject): Promise<Json>;
  stop(): Promise<void>;
}

export interface TestCloudOptions extends DeploymentsOptions {
  readonly profile?: Profile;
  readonly file?: string;
  /** Told of every card that is about to be written. */
  readonly onCard?: (name: string) => void;
}

export function idOf(text: string): ResourceId {
  const parsed = parseResourceId(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.message}`);
  return parsed.id;
}

export async function openCloud(given: TestCloudOptions = {}): Promise<TestCloud> {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const store = await openSqliteStore({
    keyRing: keyRing([{ id: 'test', bytes: new Secret(Buffer.alloc(32, 7)) }]),
    ...(given.file === undefined ? {} : { file: given.file }),
  });
  const clock = createSystemClock({ logger });
  const provider = deploymentsProvider(given);
  const providers = [thingsOf(given.onCard ?? (() => undefined)), provider];
  const refused = new Set<string>();
  const stopping = new AbortController();
  const missing = (what: string) => () => Promise.reject(new Error(`the test cloud has no ${what}`));
  const subscriptions = testSubscriptions();
  const world: World = {
    cloud: {
      name: 'test',
      suffix: 'azure.test',
      origin: 'https://localhost:1',
      proxy: 'http://127.0.0.1:1',
      locations: [
        { name: 'eastus', displayName: 'East US', zones: true },
        { name: 'westus', displayName: 'West US', zones: false },
      ],
    },
    logger,
    clock,
    store,
    get resources() {
      return resources;
    },
    subscriptions,
    providers,
    directory: {
      tenantId,
      authenticate: missing('directory'),
      ensureManagedIdentity: missing('directory'),
      removeManagedIdentity: missing('directory'),
      principal: missing('directory'),
      issue: missing('directory'),
    },
    access: {
      check: async (_, action) => ({ allowed: !refused.has(foldCase(action)) }),
      async demand(_, action) {
        if (refused.has(foldCase(action))) throw new ArmError(403, 'AuthorizationFailed', `No right to ${action}.`);
      },
      permissions: missing('permissions'),
    },
    faults: createFaults(),
    network: {
      allocatePublicAddress: missing('network'),
      resolve: missing('network'),
      attach: () => () => undefined,
      target: missing('network'),
    },
    stopping: stopping.signal,
  };
  const resources = await createResources({
    store,
    providers,
    subscriptions,
    cloud: world.cloud,
    clock,
    profile: () => given.profile ?? profiles.instant,
    faults: world.faults,
    logger,
    world: () => world,
  });
  await resources.start();

  const begin = async (path: string, template: Json, more: JsonObject = {}): Promise<string> => {
    const { location, ...properties } = more;
    const body = {
      ...(location === undefined ? {} : { location }),
      properties: { mode: 'Incremental', template, ...properties },
    };
    const written = await resources.put(idOf(path), body, { apiVersion: deploymentVersion, caller });
    if (written.operation === undefined) throw new Error('a deployment is asynchronous');
    return written.operation;
  };
  let stopped: Promise<void> | undefined;
  return {
    world,
    clock,
    refused,
    begin,
    async deploy(path, template, more) {
      await resources.finished(await begin(path, template, more));
      return await resources.show(idOf(path));
    },
    async get(id) {
      return (await resources.read(id)) === undefined ? undefined : await resources.show(idOf(id));
    },
    async appears(id) {
      while ((await resources.read(id)) === undefined) await nextTurn();
    },
    async route(method, on, path, body) {
      const { run, parameters } = matched(provider.routes ?? [], method, path);
      const result = await run({
        world,
        ...(on === '' ? {} : { on: idOf(on) }),
        parameters,
        apiVersion: deploymentVersion,
        query: {},
        body,
        caller,
      });
      return result ?? null;
    },
    stop: () => {
      stopped ??= (async () => {
        stopping.abort();
        await resources.stop();
        clock.stop();
        await store.close();
      })();
      return stopped;
    },
  };
}

function matched(routes: readonly ProviderRoute[], method: string, path: string) {
  const words = path.split('/');
  for (const route of routes) {
    const pattern = route.path.split('/');
    const fits =
      pattern.length === words.length && pattern.every((part, at) => part.startsWith('{') || part === words[at]);
    if (!fits || route.method !== method) continue;
    const parameters = pattern.flatMap((part, at) =>
      part.startsWith('{') ? [[part.slice(1, -1), words[at] ?? '']] : [],
    );
    return { run: route.run, parameters: Object.fromEntries(parameters) as { [name: string]: string } };
  }
  throw new Error(`no route ${method} ${path}`);
}

/** The same for one test, with a group in it. */
export async function startCloud(t: TestContext, given: TestCloudOptions = {}): Promise<TestCloud> {
  const cloud = await openCloud(given);
  t.after(() => cloud.stop());
  await cloud.world.resources.put(
    idOf(group),
    { location: 'eastus', tags: { team: 'red' } },
    { apiVersion: '2021-04-01', caller },
  );
  return cloud;
}

function testSubscriptions(): Subscriptions {
  const known = new Map<string, Subscription>(
    [subscriptionId, otherSubscriptionId].map((id) => [
      id,
      {
        subscriptionId: id,
        displayName: 'test',
        state: 'Enabled',
        tenantId,
        tags: {},
        registrations: {},
        features: {},
      },
    ]),
  );
  return {
    find: (id) => known.get(foldCase(id)),
    list: () => [...known.values()],
    ensure: () => Promise.reject(new Error('not in this cloud')),
    change: () => Promise.reject(new Error('not in this cloud')),
    isRegistered: () => true,
  };
}
