// A cloud for tests of the kernel: the real store, clock, faults and engine, with providers made for the purpose.
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { ArmError } from '../../../../arm/errors.ts';
import { foldCase, parseResourceId, type ResourceId } from '../../../../arm/resource-id.ts';
import { type KeyRing, keyRing } from '../../../../kit/key-ring.ts';
import { createLogger } from '../../../../kit/log.ts';
import { Secret } from '../../../../kit/secret.ts';
import { openSqliteStore } from '../../../../store/sqlite/open.ts';
import type { Container, ContainerSpec, Operation, Store } from '../../../../store/store.ts';
import type { Cloud } from '../../cloud.ts';
import { createResources, type RunningResources } from '../engine.ts';
import { createFaults } from '../fault-table.ts';
import type { Faults } from '../faults.ts';
import { type Profile, profiles } from '../profiles.ts';
import type { CallerIdentity, Provider } from '../provider.ts';
import type { PutOptions } from '../resources.ts';
import type { Subscription, Subscriptions } from '../subscriptions.ts';
import { createSystemClock, type SystemClock } from '../system-clock.ts';
import type { World } from '../world.ts';

export const subscriptionId = '00000000-0000-0000-0000-000000000001';
export const otherSubscriptionId = '00000000-0000-0000-0000-000000000002';
export const tenantId = '00000000-0000-0000-0000-00000000aaaa';
export const group = `/subscriptions/${subscriptionId}/resourceGroups/group1`;
export const version = '2024-01-01';

export const caller: CallerIdentity = {
  tenantId,
  objectId: '00000000-0000-0000-0000-00000000bbbb',
  kind: 'User',
  name: 'alice@azure.test',
  groups: [],
};

export const options: PutOptions = { apiVersion: version, caller };
export const groupOptions: PutOptions = { apiVersion: '2021-04-01', caller };

const cloud: Cloud = {
  name: 'test',
  suffix: 'azure.test',
  origin: 'https://localhost:1',
  proxy: 'http://127.0.0.1:1',
  locations: [
    { name: 'eastus', displayName: 'East US', zones: true },
    { name: 'westus', displayName: 'West US', zones: false },
  ],
};

export function idOf(text: string): ResourceId {
  const parsed = parseResourceId(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.message}`);
  return parsed.id;
}

/** Below the group. */
export function inGroup(path: string): ResourceId {
  return idOf(`${group}/providers/${path}`);
}

export interface TestCloud {
  readonly resources: RunningResources;
  readonly clock: SystemClock;
  readonly faults: Faults;
  readonly subscriptions: Subscriptions & { set(id: string, change: Partial<Subscription>): void };
  readonly store: Store;
  stop(): Promise<void>;
}

/** Called at once after a write of the store has been committed, before anything else can happen, with what it was. */
export type Committed = (operations: readonly Operation<object>[]) => void;

export interface TestCloudOptions {
  readonly providers?: readonly Provider[];
  readonly profile?: Profile;
  /** Opened again with the same ring when a test starts a cloud a second time. */
  readonly file?: string;
  readonly ring?: KeyRing;
  readonly skippedMs?: number;
  readonly committed?: Committed;
}

export function testRing(bytes: Buffer = randomBytes(32)): KeyRing {
  return keyRing([{ id: 'test', bytes: new Secret(bytes) }]);
}

/** Starts a cloud of its own; the caller stops it. */
export async function openCloud(given: TestCloudOptions = {}): Promise<TestCloud> {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const opened = await openSqliteStore({
    keyRing: given.ring ?? testRing(),
    ...(given.file === undefined ? {} : { file: given.file }),
  });
  const store = given.committed === undefined ? opened : telling(opened, given.committed);
  const clock = createSystemClock({
    logger,
    ...(given.skippedMs === undefined ? {} : { skippedMs: given.skippedMs }),
  });
  const faults = createFaults();
  const subscriptions = testSubscriptions();
  const providers = given.providers ?? testProviders;
  const stopping = new AbortController();
  const missing = (what: string) => () => Promise.reject(new Error(`the test cloud has no ${what}`));
  const world = (): World => ({
    cloud,
    logger,
    clock,
    store,
    resources,
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
    access: { check: missing('access'), demand: missing('access'), permissions: missing('access') },
    faults,
    network: {
      allocatePublicAddress: missing('network'),
      resolve: missing('network'),
      attach: () => () => undefined,
      target: missing('network'),
    },
    stopping: stopping.signal,
  });
  const resources = await createResources({
    store,
    providers,
    subscriptions,
    cloud,
    clock,
    profile: () => given.profile ?? profiles.instant,
    faults,
    logger,
    world,
  });
  await resources.start();
  let stopped: Promise<void> | undefined;
  return {
    resources,
    clock,
    faults,
    subscriptions,
    store,
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

/** A store that tells of every write. */
function telling(store: Store, committed: Committed): Store {
  return {
    ...store,
    async container<T extends object>(spec: ContainerSpec<T>): Promise<Container<T>> {
      const container = await store.container(spec);
      const told = async <R>(write: Promise<R>, written: (result: R) => readonly Operation<object>[]): Promise<R> => {
        const result = await write;
        committed(written(result));
        return result;
      };
      return {
        ...container,
        batch: (partition, operations, more) => told(container.batch(partition, operations, more), () => operations),
        create: (key, body, more) =>
          told(container.create(key, body, more), () => [{ kind: 'create', id: key.id, body }]),
        replace: (version, body, more) =>
          told(container.replace(version, body, more), () => [{ kind: 'replace', version, body }]),
        delete: (version, more) => told(container.delete(version, more), () => [{ kind: 'delete', version }]),
        update: (key, change, more) =>
          told(container.update(key, change, more), (version) => [{ kind: 'replace', version, body: version.body }]),
      };
    },
  };
}

/** The same for one test, with a group made in it. */
export async function startCloud(t: TestContext, given: TestCloudOptions = {}): Promise<TestCloud> {
  const started = await openCloud(given);
  t.after(() => started.stop());
  await started.resources.put(idOf(group), { location: 'eastus' }, groupOptions);
  return started;
}

function testSubscriptions(): TestCloud['subscriptions'] {
  const known = new Map<string, Subscription>();
  for (const id of [subscriptionId, otherSubscriptionId])
    known.set(id, {
      subscriptionId: id,
      displayName: 'test',
      state: 'Enabled',
      tenantId,
      tags: {},
      registrations: { 'microsoft.test': 'Registered', 'microsoft.authorization': 'Registered' },
      features: {},
    });
  return {
    find: (id) => known.get(foldCase(id)),
    list: () => [...known.values()],
    ensure: () => Promise.reject(new Error('not in this cloud')),
    change: () => Promise.reject(new Error('not in this cloud')),
    isRegistered: (id, namespace) => known.get(foldCase(id))?.registrations[foldCase(namespace)] === 'Registered',
    set(id, change) {
      const there = known.get(id);
      if (there) known.set(id, { ...there, ...change });
    },
  };
}

const asynchronous = { create: 'operation', update: 'operation', delete: 'operation' } as const;

/** `networks` are synchronous and have children, `machines` take time, `vaults` have names of their own. */
export const testProviders: readonly Provider[] = [
  {
    namespace: 'Microsoft.Test',
    types: [
      {
        type: 'networks',
        apiVersions: [version, '2020-01-01'],
        scope: 'resourceGroup',
        location: 'required',
        patch: 'merge',
        etagMember: true,
        prepare: ({ body, id, current }) => {
          const { subnets, ...properties } = (body.properties ?? {}) as { subnets?: { name: string }[] };
          const kept = new Set((subnets ?? []).map(({ name }) => name));
          const before = (current?.resource.properties?.subnetNames ?? []) as string[];
          return {
            resource: { ...body, properties: { ...properties, subnetNames: [...kept] } },
            also: [
              ...[...kept].map((name) => ({ kind: 'put' as const, id: `${id.text}/subnets/${name}`, body: {} })),
              ...before
                .filter((name) => !kept.has(name))
                .map((name) => ({ kind: 'delete' as const, id: `${id.text}/subnets/${name}` })),
            ],
          };
        },
      },
      {
        type: 'networks/subnets',
        apiVersions: [version],
        scope: 'resourceGroup',
        location: 'none',
        inUse: (id) => new ArmError(400, 'InUseSubnetCannotBeDeleted', `Subnet ${id.name} is in use.`),
      },
      {
        type: 'cards',
        apiVersions: [version],
        scope: 'resourceGroup',
        location: 'required',
        name: { form: /^[a-z0-9-]{1,20}$/, rule: 'It has 1 to 20 lower-case letters, digits and hyphens.' },
        patch: 'tags',
      },
      {
        type: 'machines',
        apiVersions: [version],
        scope: 'resourceGroup',
        location: 'required',
        asynchrony: asynchronous,
        patch: 'merge',
        actions: {
          restart: { asynchronous: true, run: async ({ record }) => ({ restarted: record.resource.name }) },
          describe: { run: async ({ body }) => ({ given: body ?? null }) },
        },
      },
      {
        type: 'vaults',
        apiVersions: [version],
        scope: 'resourceGroup',
        location: 'required',
        globallyNamed: true,
        nameTaken: (name) => new ArmError(409, 'VaultAlreadyExists', `The vault name '${name}' is already in use.`),
        prepare: ({ body }) => ({ resource: body, secrets: { key: new Secret('hush') } }),
      },
    ],
  },
  {
    namespace: 'Microsoft.Authorization',
    types: [
      {
        type: 'locks',
        apiVersions: [version],
        scope: 'extension',
        location: 'none',
        provisioningState: false,
      },
    ],
  },
];
