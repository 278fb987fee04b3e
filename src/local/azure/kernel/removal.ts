// DELETE: a resource goes with its children and extensions, unless something uses one of them, a lock is on them or they are busy.
import { ArmError } from '../../../arm/errors.ts';
import type { ResourceId } from '../../../arm/resource-id.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Document, Operation } from '../../../store/store.ts';
import { type KnownType, notAllowed } from './catalogue.ts';
import { checkConditions, hasConditions, lostRace, preconditionFailed } from './conditions.ts';
import { demandSubscription, groupKeyOf } from './family.ts';
import { askFaults } from './inner-faults.ts';
import type { Kernel } from './kernel.ts';
import { lockType } from './locks.ts';
import { errorOf } from './operation-view.ts';
import { concernsOperation } from './operations.ts';
import { anotherOperation } from './plan.ts';
import { hasEffect, withState } from './provisioning.ts';
import { groupType } from './resource-group.ts';
import type { PutOptions, Written } from './resources.ts';
import {
  asResource,
  operationKey,
  operationTtlSeconds,
  partitionOf,
  readOperation,
  readResource,
  type Stored,
  type StoredResource,
} from './state.ts';
import { demandUnused } from './users.ts';

const attempts = 30;
/** A batch of the store holds 100: as many documents of a tree, each perhaps with the operation on it, and some more. */
const batchMax = 45;

export async function deleteResource(
  kernel: Kernel,
  id: ResourceId,
  options: PutOptions,
): Promise<Written | undefined> {
  const known = kernel.catalogue.demand(id, options.apiVersion);
  if (known.definition.writable === false) throw notAllowed(known, 'DELETE');
  demandSubscription(kernel, id, known);
  const faults = options.faults ?? (await askFaults(kernel, 'DELETE', id));
  const partition = partitionOf(id);
  const conditional = known.definition.etags !== false && hasConditions(options);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const document = await readResource(kernel.state, id.key);
    if (document === undefined) return nothingThere(kernel, id);
    if (conditional) checkConditions(options, document.etag);
    const { body } = document;
    if (body.deleting && body.operation !== undefined)
      return { record: body, created: false, operation: body.operation, etag: document.etag };
    if (known.key !== lockType) await kernel.locks.demand(partition, id.key, id.text, 'delete');
    await known.definition.beforeDelete?.(kernel.world(), body);
    try {
      const written = await kernel.gate.exclusive(() => begin(kernel, known, document, { ...options, faults }));
      return await written();
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'NotFound')) throw error;
      if (conditional) throw preconditionFailed('the resource has changed');
    }
  }
  throw lostRace();
}

async function nothingThere(kernel: Kernel, id: ResourceId): Promise<undefined> {
  const groupKey = id.types.length === 0 ? id.key : groupKeyOf(id);
  if (groupKey === undefined) return undefined;
  if (groupKey !== id.key && (await readResource(kernel.state, groupKey)) !== undefined) return undefined;
  throw new ArmError(404, 'ResourceGroupNotFound', `Resource group '${id.resourceGroup}' could not be found.`);
}

/** Deletes at once where nothing else is to be done, else marks the resource and records the operation. Runs alone. */
async function begin(
  kernel: Kernel,
  known: KnownType,
  document: Document<StoredResource>,
  options: PutOptions,
): Promise<() => Promise<Written>> {
  const { partition, body } = document;
  const isGroup = known.key === groupType;
  const tree = isGroup ? [document] : await treeOf(kernel, document);
  if (!isGroup) {
    for (const one of tree) if (one.body.operation !== undefined) await demandStuck(kernel, one.body, partition);
    await demandUnused(kernel, tree, document.id);
  }
  const isAsynchronous = known.definition.asynchrony?.delete === 'operation' || concernsOperation(options.faults);
  const needsOperation = isAsynchronous || isGroup || tree.some((one) => hasEffect(kernel, one.body));
  if (!needsOperation && tree.length <= batchMax) {
    await removeTree(kernel, tree, []);
    return async () => ({ record: body, created: false });
  }
  const { location } = body.resource;
  const operation = kernel.operations.make({
    resourceId: body.resource.id,
    type: known.key,
    verb: 'delete',
    apiVersion: options.apiVersion,
    ...(location === undefined ? {} : { location }),
    ...(options.faults === undefined ? {} : { faults: options.faults }),
  });
  const record: StoredResource = {
    ...withState(body, known, 'Deleting'),
    operation: operation.operationId,
    deleting: true,
  };
  const cancelled = await cancelling(kernel, [document]);
  const [marked] = await kernel.state.batch(partition, [
    { kind: 'replace', version: document, body: record },
    { kind: 'create', id: operationKey(operation.operationId), body: operation },
    ...cancelled,
  ]);
  tellCancelled(kernel, cancelled);
  if (!isGroup) await markBelow(kernel, tree.slice(1));
  const written: Written = { record, created: false, ...(marked === undefined ? {} : { etag: marked.etag }) };
  if (isAsynchronous || isGroup) {
    kernel.operations.arm(partition, operation);
    return async () => ({ ...written, operation: operation.operationId });
  }
  return async () => {
    await kernel.operations.run(partition, operation);
    const error = await errorOf(kernel, partition, operation.operationId);
    if (error) throw error;
    return { record, created: false };
  };
}

/** Children are marked too: nothing may begin to use one while it is going. */
async function markBelow(kernel: Kernel, children: readonly Document<StoredResource>[]): Promise<void> {
  for (let at = 0; at < children.length; at += batchMax) {
    const chunk = children.slice(at, at + batchMax);
    const cancelled = await cancelling(kernel, chunk);
    await kernel.state.batch(chunk[0]?.partition ?? '', [
      ...chunk.map((child): Operation<Stored> => {
        const { operation: _, ...body } = child.body;
        return { kind: 'replace', version: child, body: { ...body, deleting: true } };
      }),
      ...cancelled,
    ]);
    tellCancelled(kernel, cancelled);
  }
}

/** A stuck operation does not keep a resource from being deleted; any other one does. */
async function demandStuck({ state, catalogue }: Kernel, record: StoredResource, partition: string): Promise<void> {
  const operation = await readOperation(state, partition, record.operation ?? '');
  if (operation?.body.status !== 'Running' || operation.body.fault?.kind === 'stuck') return;
  throw catalogue.find(record.type)?.definition.busy?.(record) ?? anotherOperation(record);
}

/** A resource and all that is below it, itself first. */
export async function treeOf(
  { state }: Pick<Kernel, 'state'>,
  root: Document<StoredResource>,
): Promise<readonly Document<StoredResource>[]> {
  const tree = [root];
  let continuation: string | undefined;
  do {
    const page = await state.query({
      partition: root.partition,
      filter: { op: 'prefix', field: 'id', value: `${root.id}/` },
      limit: 1000,
      ...(continuation === undefined ? {} : { continuation }),
    });
    for (const document of page.documents) {
      const resource = asResource(document);
      if (resource) tree.push(resource);
    }
    continuation = page.continuation;
  } while (continuation !== undefined);
  return tree;
}

/** What ends the operations that are under way on these, which a more recent one takes the place of. */
async function cancelling(
  kernel: Kernel,
  tree: readonly Document<StoredResource>[],
  except?: string,
): Promise<Extract<Operation<Stored>, { kind: 'replace' }>[]> {
  const seen = new Set<string>();
  const writes: Extract<Operation<Stored>, { kind: 'replace' }>[] = [];
  for (const { partition, body } of tree) {
    const { operation: operationId } = body;
    if (operationId === undefined || operationId === except || seen.has(operationId)) continue;
    seen.add(operationId);
    const document = await readOperation(kernel.state, partition, operationId);
    if (document?.body.status !== 'Running') continue;
    writes.push({
      kind: 'replace',
      version: document,
      ttlSeconds: operationTtlSeconds,
      body: {
        ...document.body,
        status: 'Canceled',
        endTime: new Date(kernel.clock.now()).toISOString(),
        error: { code: 'OperationPreempted', message: 'The operation has been preempted by a more recent operation.' },
        errorStatus: 409,
      },
    });
  }
  return writes;
}

function tellCancelled({ operations }: Kernel, writes: readonly Operation<Stored>[]): void {
  for (const write of writes)
    if (write.kind === 'replace' && write.body.kind === 'operation') operations.ended(write.body.operationId);
}

/**
 * Removes the documents of a tree, children first, in as many batches as it takes, and ends the operations on them; `last` is written
 * in the batch that removes the root, and ends the operation `except`. Stopped halfway, the root is still there, marked, and what is left goes when its operation is done again.
 */
export async function removeTree(
  kernel: Kernel,
  tree: readonly Document<StoredResource>[],
  last: readonly Operation<Stored>[],
  except?: string,
): Promise<void> {
  const root = tree[0];
  if (root === undefined) return;
  const { partition } = root;
  // An id comes after those of what it is below, so the other way round is children first.
  const order = [...tree].sort((a, b) => (a.id < b.id ? 1 : -1));
  for (let at = 0; at < order.length; at += batchMax) {
    const chunk = order.slice(at, at + batchMax);
    const isLast = at + batchMax >= order.length;
    const cancelled = await cancelling(kernel, chunk, except);
    await kernel.state.batch(partition, [
      ...chunk.map((version): Operation<Stored> => ({ kind: 'delete', version })),
      ...cancelled,
      ...(isLast ? last : []),
    ]);
    tellCancelled(kernel, cancelled);
  }
  if (tree.some(({ body }) => body.type === lockType)) kernel.locks.changed(partition);
  for (const { id, body } of tree) {
    if (kernel.catalogue.find(body.type)?.definition.globallyNamed)
      await kernel.names.release(body.type, body.resource.name, id);
  }
}
