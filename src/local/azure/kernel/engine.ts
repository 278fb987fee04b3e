// The resources of the cloud over the store: the contract of resources.ts, made of the files beside this one.
//
//   put.ts        PUT and PATCH: plan.ts says what to write, one batch writes it
//   removal.ts    DELETE, with children; group-removal.ts for whole groups
//   operations.ts what is under way, on the clock; ending.ts does the work at the end
//   action.ts     POST
import { ArmError, type ErrorBody, notFound } from '../../../arm/errors.ts';
import { foldCase, idKey } from '../../../arm/resource-id.ts';
import type { Logger } from '../../../kit/log.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Filter } from '../../../store/filter.ts';
import type { Query, Store } from '../../../store/store.ts';
import type { Cloud } from '../cloud.ts';
import { actOn } from './action.ts';
import { createCatalogue } from './catalogue.ts';
import type { Clock } from './clock.ts';
import { wireEtag } from './conditions.ts';
import { endOperation } from './ending.ts';
import type { Faults } from './faults.ts';
import { createGate } from './gate.ts';
import { createLines, type Kernel } from './kernel.ts';
import { createLocks } from './locks.ts';
import { createNames } from './names.ts';
import { viewOf } from './operation-view.ts';
import { createOperations } from './operations.ts';
import type { Profile } from './profiles.ts';
import type { Provider } from './provider.ts';
import { patchResource, putResource } from './put.ts';
import type { ArmResource, ResourceRecord } from './record.ts';
import { deleteResource } from './removal.ts';
import { groupType } from './resource-group.ts';
import type { ListQuery, RecordPage, Resources, Written } from './resources.ts';
import {
  asResource,
  isUsing,
  openState,
  partitionOfKey,
  readOperation,
  readResource,
  type StoredResource,
  tenantPartition,
  usesOf,
} from './state.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { World } from './world.ts';

export interface ResourcesOptions {
  /** Opened with a key ring: secrets are sealed. */
  readonly store: Store;
  readonly providers: readonly Provider[];
  readonly subscriptions: Subscriptions;
  readonly cloud: Pick<Cloud, 'locations'>;
  readonly clock: Clock;
  /** Asked at the beginning of every operation. */
  readonly profile: () => Profile;
  readonly faults: Faults;
  readonly logger: Logger;
  /** Given to what is special about types; it holds these resources, so it is there only after them. */
  readonly world: () => World;
}

export interface RunningResources extends Resources {
  /** Takes up what was under way when the process ended. Call it when the world is whole. */
  start(): Promise<void>;
  /** Takes up no more work and waits for what is being done; what is under way goes on after the next start. */
  stop(): Promise<void>;
}

export async function createResources(options: ResourcesOptions): Promise<RunningResources> {
  const { store, providers, subscriptions, cloud, clock, profile, faults, logger, world } = options;
  const state = await openState(store);
  const end = (partition: string, operationId: string) => endOperation(kernel, partition, operationId);
  const kernel: Kernel = {
    state,
    catalogue: createCatalogue(providers),
    subscriptions,
    cloud,
    clock,
    profile,
    faults,
    logger,
    gate: createGate(),
    locks: createLocks(state),
    names: createNames(state),
    operations: createOperations({ state, clock, profile, logger, end }),
    world,
    inLine: createLines(),
  };
  const { catalogue, operations } = kernel;
  /** The etag of records that were read, for those that show it as a member. */
  const etags = new WeakMap<ResourceRecord, string>();

  const read = async (id: string) => {
    const document = await readResource(state, idKey(id));
    if (document) etags.set(document.body, document.etag);
    return document;
  };
  const page = async (query: ListQuery, limit: number, continuation?: string): Promise<RecordPage> => {
    const found = await state.query({
      ...filterOf(query),
      limit,
      ...(continuation === undefined ? {} : { continuation }),
    });
    const records: ResourceRecord[] = [];
    for (const document of found.documents) {
      const resource = asResource(document);
      if (resource === undefined) continue;
      etags.set(resource.body, document.etag);
      records.push(resource.body);
    }
    return found.continuation === undefined ? { records } : { records, continuation: found.continuation };
  };
  const view = (record: ResourceRecord, apiVersion?: string): ArmResource | Promise<ArmResource> => {
    const definition = catalogue.find(record.type)?.definition;
    const shown = definition?.show?.(world(), record, apiVersion ?? definition.apiVersions[0] ?? '') ?? record.resource;
    const etag = definition?.etagMember ? etags.get(record) : undefined;
    return shown instanceof Promise
      ? shown.then((resource) => whole(resource, record, etag))
      : whole(shown, record, etag);
  };
  const noted = (written: Written): Written => {
    if (written.etag !== undefined) etags.set(written.record, written.etag);
    return written;
  };
  /** Running ones are known; of the others only the partition has to be found, and there is one for each subscription. */
  const findOperation = async (operationId: string) => {
    const known = operations.partitionOf(operationId);
    const partitions =
      known === undefined
        ? [...subscriptions.list().map(({ subscriptionId }) => foldCase(subscriptionId)), tenantPartition]
        : [known];
    for (const partition of partitions) {
      const document = await readOperation(state, partition, operationId);
      if (document) return document;
    }
    return undefined;
  };

  return {
    read,
    view,
    async show(id, apiVersion) {
      if (apiVersion !== undefined) catalogue.demand(id, apiVersion);
      const document = await read(id.key);
      if (document === undefined) throw notFound(id);
      return view(document.body, apiVersion);
    },
    async list(query) {
      const records: ResourceRecord[] = [];
      let continuation: string | undefined;
      do {
        const next = await page(query, 1000, continuation);
        records.push(...next.records);
        continuation = next.continuation;
      } while (continuation !== undefined);
      return records;
    },
    page: (query, { limit, continuation }) => page(query, limit, continuation),
    put: async (id, body, putOptions) => noted(await putResource(kernel, id, body, putOptions)),
    patch: async (id, body, putOptions) => noted(await patchResource(kernel, id, body, putOptions)),
    delete: (id, putOptions) => deleteResource(kernel, id, putOptions),
    act: (id, action, request) => actOn(kernel, id, action, request),
    async named(type, name) {
      const owner = await kernel.names.owner(foldCase(type), name);
      return owner === undefined ? undefined : read(owner);
    },
    async operation(subscriptionId, operation) {
      const partition = subscriptionId === undefined ? tenantPartition : foldCase(subscriptionId);
      const document = await readOperation(state, partition, foldCase(operation));
      return document && viewOf(document.body);
    },
    async change(id, change) {
      const key = idKey(id);
      try {
        const document = await state.update({ partition: partitionOfKey(key), id: key }, (body) => {
          if (body.kind !== 'resource') return undefined;
          const changed = change(body);
          return changed === undefined || changed === body ? undefined : keptBy(body, changed);
        });
        return asResource(document)?.body;
      } catch (error) {
        if (isStoreError(error, 'NotFound')) return undefined;
        throw error;
      }
    },
    async finished(operationId, signal) {
      try {
        if (!operations.isUnderWay(operationId)) {
          const there = await findOperation(operationId);
          if (there?.body.status === 'Running') operations.arm(there.partition, there.body);
        }
        await operations.ending(operationId, signal);
        const document = await findOperation(operationId);
        if (document === undefined)
          throw new ArmError(404, 'OperationNotFound', `The operation '${operationId.slice(0, 64)}' was not found.`);
        const { status, error, resourceId } = document.body;
        if (status === 'Running') throw stoppingError();
        const record = (await read(resourceId))?.body;
        return endOf(record, error);
      } catch (error) {
        // The store may be closed before those who wait have been told.
        if (isStoreError(error, 'Closed')) throw stoppingError();
        throw error;
      }
    },
    start: () => operations.start(),
    stop: () => operations.stop(),
  };
}

const stoppingError = (): ArmError => new ArmError(503, 'ServiceUnavailable', 'The cloud is stopping.');

/** What the kernel itself keeps of a record stays. */
function keptBy({ operation, deleting }: StoredResource, changed: ResourceRecord): StoredResource {
  const { operation: _, uses: __, ...rest } = changed as ResourceRecord & Pick<StoredResource, 'uses'>;
  return {
    ...rest,
    kind: 'resource',
    ...usesOf(changed.references),
    ...(operation === undefined ? {} : { operation }),
    ...(deleting === undefined ? {} : { deleting }),
  };
}

function endOf(record: ResourceRecord | undefined, error: ErrorBody | undefined) {
  return { ...(record === undefined ? {} : { record }), ...(error === undefined ? {} : { error }) };
}

/** What is shown of every resource beside what its type shows. */
function whole(resource: ArmResource, record: ResourceRecord, etag: string | undefined): ArmResource {
  const { systemData } = record;
  if (etag === undefined && (systemData === undefined || record.type === groupType)) return resource;
  return {
    ...resource,
    ...(etag === undefined ? {} : { etag: wireEtag(etag) }),
    ...(systemData === undefined || record.type === groupType || resource.systemData !== undefined
      ? {}
      : { systemData: { ...systemData } }),
  };
}

/** Documents of resources are those whose id starts with a slash. */
function filterOf({
  subscriptionId,
  group,
  type,
  parent,
  referencing,
}: ListQuery): Pick<Query, 'partition' | 'filter'> {
  const filters: Filter[] = [];
  const prefix = group === undefined ? '/' : `${idKey(group)}/`;
  if (type !== undefined) filters.push({ op: 'eq', field: ['type'], value: foldCase(type) });
  if (parent !== undefined) filters.push({ op: 'eq', field: ['parent'], value: idKey(parent) });
  if (referencing !== undefined) filters.push(isUsing(idKey(referencing)));
  if (filters.length === 0 || group !== undefined) filters.push({ op: 'prefix', field: 'id', value: prefix });
  const place = group ?? parent;
  const partition =
    subscriptionId !== undefined
      ? foldCase(subscriptionId)
      : place === undefined
        ? undefined
        : partitionOfKey(idKey(place));
  return {
    ...(partition === undefined ? {} : { partition }),
    filter: filters.length === 1 && filters[0] !== undefined ? filters[0] : { op: 'and', filters },
  };
}
