// Resource Manager as the front door of resource providers that stand elsewhere: who they are, what goes to them, what they are told.
//
//   dispatch.ts        which requests are theirs
//   forward.ts         a client's request, there and back
//   tracked.ts         their resources, as lists, groups and templates see them
//   provider-calls.ts  what Resource Manager asks of them by itself
//   lifecycle.ts       what they are told about subscriptions
import type { ErrorBody } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import { foldCase, type ResourceId } from '../../../arm/resource-id.ts';
import { type KeyRing, SealError } from '../../../kit/key-ring.ts';
import type { Logger } from '../../../kit/log.ts';
import type { Secret } from '../../../kit/secret.ts';
import type { Store } from '../../../store/store.ts';
import { type Answer, type ArmCall, type Method, ok } from '../arm/call.ts';
import type { Dispatched } from '../arm/dispatch.ts';
import type { Preflight } from '../deployments/preflight.ts';
import type { CallerIdentity, Provider, ResourceType } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import type { Subscriptions } from '../kernel/subscriptions.ts';
import type { World } from '../kernel/world.ts';
import { platformCaller, reflecting } from './caller.ts';
import { dispatchRemote, unserved } from './dispatch.ts';
import type { Endpoint } from './endpoint.ts';
import { openEndpoints, type Served } from './endpoints.ts';
import { createFollower, type Seen } from './follow.ts';
import { forward, notificationContext } from './forward.ts';
import { createLifecycle } from './lifecycle.ts';
import { askProviders } from './preflight.ts';
import { createCalls, errorOf, idOfKey, isTerminal } from './provider-calls.ts';
import type { Remote, RemoteAnswer, RemoteRequest } from './remote.ts';
import { envelopeOf, markedGone, remoteType } from './tracked.ts';

export interface FrontDoorOptions {
  readonly world: () => World;
  readonly store: Store;
  readonly subscriptions: Subscriptions;
  readonly logger: Logger;
  readonly keys: KeyRing;
  readonly remote: Remote;
  /** Those of the configuration; they take the place of kept ones of the same name. */
  readonly endpoints: readonly Endpoint[];
  /** Resource Manager's own application, and its service principal when the directory has one. */
  readonly appId: string;
  readonly principal: () => string | undefined;
  /** Makes a namespace part of the cloud. */
  readonly addProvider: (provider: Provider) => void;
}

export interface FrontDoor {
  /** Grows when endpoints come, change or go. */
  readonly version: number;
  /** Undefined for requests that are not for a registered provider. */
  dispatch(
    method: Method,
    segments: readonly string[],
    query: { readonly [name: string]: string },
  ): Dispatched | undefined;
  endpoints(): readonly Endpoint[];
  register(endpoint: Endpoint): Promise<void>;
  unregister(name: string): Promise<boolean>;
  /** To be called when a subscription was made or changed. */
  subscriptionsChanged(): void;
  readonly preflight: Preflight;
  /** The end of an operation, told at the address that the provider was given. False for an address that is none. */
  notified(token: string): Promise<boolean>;
  /** Takes up what was under way. Call it when the world is whole. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Tokens of Resource Manager are used again for so long. */
const tokenMs = 600_000;

export async function createFrontDoor(options: FrontDoorOptions): Promise<FrontDoor> {
  const { world, store, logger, keys, remote, appId } = options;
  const endpoints = await openEndpoints(store, options.endpoints);
  const tokens = new Map<string, { readonly token: Secret<string>; readonly until: number }>();
  const platform = (): CallerIdentity =>
    platformCaller(world().directory.tenantId, appId, options.principal() ?? '00000000-0000-0000-0000-000000000000');

  const bearer = async (audience: string): Promise<string> => {
    const known = tokens.get(audience);
    const now = world().clock.now();
    if (known && known.until > now) return known.token.reveal();
    const { objectId } = platform();
    const token = await world().directory.issue({ audience, appId, objectId });
    tokens.set(audience, { token, until: now + tokenMs });
    return token.reveal();
  };
  const send = async (endpoint: Endpoint, request: RemoteRequest): Promise<RemoteAnswer> => {
    const { audience } = endpoint;
    const authorization = audience === undefined ? undefined : `Bearer ${await bearer(audience)}`;
    return remote.send(endpoint, {
      ...request,
      headers: { ...request.headers, ...(authorization === undefined ? {} : { authorization }) },
    });
  };
  const servedBy = (id: ResourceId): Served => {
    const found = endpoints.find(id.provider ?? '', id.types.join('/'));
    if (found) return found;
    throw unserved(id.provider ?? '');
  };
  const lifecycle = await createLifecycle({
    store,
    subscriptions: options.subscriptions,
    endpoints: () => endpoints.list(),
    now: () => world().clock.now(),
    logger,
    async send(endpoint, subscriptionId, body) {
      const target = `/subscriptions/${subscriptionId}?api-version=2.0`;
      const answer = await send(endpoint, {
        method: 'PUT',
        target,
        headers: { referer: `${world().cloud.origin}${target}`, 'x-ms-home-tenant-id': world().directory.tenantId },
        body,
        signal: world().stopping,
      });
      if (answer.status >= 400) throw errorOf(answer, endpoint);
    },
  });

  /** A provider that was not told answers by what it knows; it is told as soon as it takes it. */
  const ensureTold = async (endpoint: Endpoint, subscriptionId: string): Promise<void> => {
    try {
      await lifecycle.ensure(endpoint, subscriptionId);
    } catch (err) {
      logger.debug({ err, endpoint: endpoint.name, subscriptionId }, 'a provider was not told of a subscription yet');
    }
  };

  const versionOf = (id: ResourceId): string => servedBy(id).type.apiVersions[0] ?? '';
  /** False when something else is under way on the record, or its group is going: it is to be looked at again. */
  const reflect = async (id: ResourceId, body: JsonObject, caller: CallerIdentity): Promise<boolean> => {
    const { resources } = world();
    const there = (await resources.read(id.key))?.body;
    const envelope = envelopeOf(body);
    if (there && JSON.stringify(envelopeOf(there.resource)) === JSON.stringify(envelope)) return true;
    try {
      await resources.put(id, envelope, { apiVersion: versionOf(id), caller: reflecting(caller), faults: [] });
      return true;
    } catch (err) {
      logger.debug({ err, resource: id.key }, 'the record of a resource was not brought up to date');
      return false;
    }
  };
  const forget = async (id: ResourceId, caller: CallerIdentity): Promise<boolean> => {
    const { resources } = world();
    try {
      await resources.change(id.key, markedGone);
      await resources.delete(id, { apiVersion: versionOf(id), caller: reflecting(caller), faults: [] });
      return true;
    } catch (err) {
      logger.debug({ err, resource: id.key }, 'the record of a resource that is gone was not removed yet');
      return false;
    }
  };
  const look = async (key: string): Promise<Seen> => {
    const id = idOfKey(key);
    const record = id && (await world().resources.read(key))?.body;
    if (id === undefined || record === undefined) return 'settled';
    if (record.operation !== undefined) return 'moving';
    const spelt = idOfKey(record.resource.id) ?? id;
    const resource = await calls.get(spelt);
    if (resource === undefined) {
      return (await forget(spelt, platform())) ? 'settled' : 'unknown';
    }
    if (!(await reflect(spelt, resource, platform()))) return 'unknown';
    return isTerminal(resource) ? 'settled' : 'moving';
  };
  const follower = createFollower(look, logger);
  const follow = (id: ResourceId): void => follower.follow(id.key);
  const calls = createCalls({ world, servedBy, send, ensureTold, platform, follow });

  /** Types are added when they come and never taken away: records of them may be there. */
  const known = new Map<string, { readonly provider: Provider; readonly types: ResourceType[] }>();
  const makeKnown = (endpoint: Endpoint): void => {
    const key = foldCase(endpoint.namespace);
    let namespace = known.get(key);
    if (namespace === undefined) {
      const types: ResourceType[] = [];
      namespace = { types, provider: { namespace: endpoint.namespace, types } };
      known.set(key, namespace);
    }
    for (const given of endpoint.types) {
      if (namespace.types.some((one) => foldCase(one.type) === foldCase(given.type))) continue;
      let last = given;
      const current = () => {
        last = endpoints.find(endpoint.namespace, given.type)?.type ?? last;
        return last;
      };
      namespace.types.push(remoteType(current, calls));
    }
    // Told once its types are there.
    if (!added.has(key)) {
      added.add(key);
      options.addProvider(namespace.provider);
    }
  };
  const added = new Set<string>();
  for (const endpoint of endpoints.list()) makeKnown(endpoint);

  const operations = async (call: ArmCall, namespace: string): Promise<Answer> => {
    const operationsByName = new Map<string, unknown>();
    const target = `/providers/${namespace}/operations?api-version=${encodeURIComponent(call.apiVersion)}`;
    for (const endpoint of endpoints.of(namespace)) {
      const headers = { referer: `${call.origin}${target}`, 'x-ms-correlation-request-id': call.sent.correlationId };
      const answer = await send(endpoint, { method: 'GET', target, headers, signal: world().stopping });
      if (answer.status >= 400) throw errorOf(answer, endpoint);
      const value = isRecord(answer.body) && Array.isArray(answer.body.value) ? answer.body.value : [];
      for (const operation of value) {
        const name = isRecord(operation) ? String(operation.name) : '';
        if (!operationsByName.has(foldCase(name))) operationsByName.set(foldCase(name), operation);
      }
    }
    return ok({ value: [...operationsByName.values()] });
  };
  const handlers = {
    isKnown: (namespace: string) => known.has(foldCase(namespace)),
    forward: (call: ArmCall, target: Parameters<typeof forward>[1]) =>
      forward(call, target, { send, ensureTold, reflect, forget, follow }),
    operations,
  };

  return {
    get version() {
      return endpoints.version;
    },
    dispatch: (method, segments, query) => dispatchRemote(endpoints, handlers, method, segments, query),
    endpoints: () => endpoints.list(),
    async register(endpoint) {
      await endpoints.put(endpoint);
      makeKnown(endpoint);
      lifecycle.changed();
    },
    unregister: (name) => endpoints.remove(name),
    subscriptionsChanged: () => lifecycle.changed(),
    preflight: (request): Promise<readonly ErrorBody[]> => askProviders(request, endpoints, send, ensureTold),
    async notified(token) {
      let key: string;
      try {
        key = keys.open(token, notificationContext);
      } catch (error) {
        if (error instanceof SealError) return false;
        throw error;
      }
      await follower.look(key);
      return true;
    },
    async start() {
      lifecycle.changed();
      for (const { namespace, types } of endpoints.list()) {
        for (const { type, tracked } of types) {
          if (!tracked) continue;
          for (const { resource } of await world().resources.list({ type: `${namespace}/${type}` }))
            if (!isTerminal(resource)) follower.follow(foldCase(resource.id));
        }
      }
    },
    async stop() {
      await Promise.all([lifecycle.stop(), follower.stop()]);
      await remote.close();
    },
  };
}

const doors = new WeakMap<object, FrontDoor>();

/** Makes the front door known as that of a cloud, by its resources. */
export function openFrontDoor({ resources }: Pick<World, 'resources'>, door: FrontDoor): void {
  doors.set(resources, door);
}

/** For deployments: asks the providers of the cloud that is deployed to. */
export const preflightByProviders: Preflight = async (request) =>
  (await doors.get(request.world.resources)?.preflight(request)) ?? [];
