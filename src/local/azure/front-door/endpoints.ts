// The endpoints that are registered: kept in the store, held in memory.
import { ArmError } from '../../../arm/errors.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Store } from '../../../store/store.ts';
import type { Endpoint, EndpointType } from './endpoint.ts';

export interface Served {
  readonly endpoint: Endpoint;
  readonly type: EndpointType;
}

export interface Endpoints {
  /** Grows with every change. */
  readonly version: number;
  list(): readonly Endpoint[];
  /** Those of a namespace, any case. */
  of(namespace: string): readonly Endpoint[];
  /** Who serves a type, any case. */
  find(namespace: string, type: string): Served | undefined;
  /** Written before it resolves. Throws 409 for a type that another endpoint has. */
  put(endpoint: Endpoint): Promise<void>;
  remove(name: string): Promise<boolean>;
}

const partition = 'endpoints';

export async function openEndpoints(store: Store, configured: readonly Endpoint[]): Promise<Endpoints> {
  const container = await store.container<Endpoint>({ name: 'front_door_endpoints' });
  const held = new Map<string, Endpoint>();
  let version = 0;
  const page = await container.query({ partition, limit: 1000 });
  for (const { body } of page.documents) held.set(body.name, body);
  for (const endpoint of configured) held.set(endpoint.name, endpoint);

  const find = (namespace: string, type: string): Served | undefined => {
    const [wantedNamespace, wantedType] = [foldCase(namespace), foldCase(type)];
    for (const endpoint of held.values()) {
      if (foldCase(endpoint.namespace) !== wantedNamespace) continue;
      const found = endpoint.types.find((one) => foldCase(one.type) === wantedType);
      if (found) return { endpoint, type: found };
    }
    return undefined;
  };
  return {
    get version() {
      return version;
    },
    list: () => [...held.values()],
    of: (namespace) => [...held.values()].filter((one) => foldCase(one.namespace) === foldCase(namespace)),
    find,
    async put(endpoint) {
      for (const { type } of endpoint.types) {
        const there = find(endpoint.namespace, type);
        if (there && there.endpoint.name !== endpoint.name)
          throw new ArmError(
            409,
            'ResourceTypeTaken',
            `The type '${endpoint.namespace}/${type}' is served by the endpoint '${there.endpoint.name}'.`,
          );
      }
      const key = { partition, id: endpoint.name };
      try {
        await container.update(key, () => endpoint);
      } catch (error) {
        if (!isStoreError(error, 'NotFound')) throw error;
        await container.create(key, endpoint);
      }
      held.set(endpoint.name, endpoint);
      version++;
    },
    async remove(name) {
      const there = await container.read({ partition, id: name });
      if (there) await container.delete(there);
      const wasHeld = held.delete(name);
      if (wasHeld) version++;
      return wasHeld;
    },
  };
}
