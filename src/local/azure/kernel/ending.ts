// The end of an operation: the work behind it, then one batch that records how it went on the operation and on the resource.
import { ArmError, type ErrorBody, errorBody } from '../../../arm/errors.ts';
import { parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { Secret } from '../../../kit/secret.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Document, Operation } from '../../../store/store.ts';
import { effect, undo } from './effects.ts';
import { removeGroup } from './group-removal.ts';
import type { Kernel } from './kernel.ts';
import { withState } from './provisioning.ts';
import type { Json, JsonObject } from './record.ts';
import { cancelling, removeTree, tellCancelled, treeOf } from './removal.ts';
import { groupType } from './resource-group.ts';
import {
  operationTtlSeconds,
  readOperation,
  readResource,
  type Stored,
  type StoredOperation,
  type StoredResource,
} from './state.ts';

/** How the work went. */
interface Outcome {
  readonly error?: ArmError;
  /** By folded id: what to merge into properties. */
  readonly properties?: ReadonlyMap<string, JsonObject>;
  /** Of an action. */
  readonly result?: Json;
}

const attempts = 50;

/** Throws when the end could not be recorded: the work is done again then. */
export async function endOperation(kernel: Kernel, partition: string, operationId: string): Promise<void> {
  const document = await readOperation(kernel.state, partition, operationId);
  if (document?.body.status !== 'Running') return kernel.operations.ended(operationId);
  const outcome = await work(kernel, document.body);
  // Work that was broken off because the process ends is done again after the next start.
  if (outcome.error !== undefined && kernel.operations.isStopping) return;
  for (let attempt = 1; ; attempt++) {
    try {
      await record(kernel, partition, operationId, outcome);
      break;
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'NotFound') || attempt === attempts) throw error;
    }
  }
  kernel.operations.ended(operationId);
}

async function work(kernel: Kernel, operation: StoredOperation): Promise<Outcome> {
  const { fault, verb } = operation;
  if (fault?.kind === 'fail') return { error: new ArmError(409, fault.code, fault.message) };
  try {
    const parsed = parseResourceId(operation.resourceId);
    if (!parsed.ok) return {};
    if (verb === 'delete') return await removing(kernel, parsed.id);
    if (verb === 'create' || verb === 'update') return await making(kernel, operation, verb, parsed.id);
    return await acting(kernel, operation, parsed.id);
  } catch (error) {
    return { error: asArmError(kernel, operation, error) };
  }
}

function asArmError(
  { logger, operations }: Kernel,
  { operationId, resourceId }: StoredOperation,
  thrown: unknown,
): ArmError {
  if (thrown instanceof ArmError) return thrown;
  if (!operations.isStopping) logger.error({ err: thrown, operationId, resourceId }, 'the work of an operation failed');
  return new ArmError(500, 'InternalServerError', 'The operation failed because of an internal error. Try again.');
}

async function making(
  kernel: Kernel,
  { also = [], gone = [] }: StoredOperation,
  verb: 'create' | 'update',
  id: ResourceId,
): Promise<Outcome> {
  const properties = new Map<string, JsonObject>();
  for (const record of gone) await effect(kernel, 'delete', record);
  for (const key of [id.key, ...also]) {
    const made = await kernel.inLine(key, async () => {
      const document = await readResource(kernel.state, key);
      return document && effect(kernel, key === id.key ? verb : 'create', document.body);
    });
    if (made !== undefined) properties.set(key, made);
  }
  return { properties };
}

async function removing(kernel: Kernel, id: ResourceId): Promise<Outcome> {
  const document = await readResource(kernel.state, id.key);
  if (document === undefined) return {};
  if (document.body.type === groupType) {
    const error = await removeGroup(kernel, document);
    return error === undefined ? {} : { error };
  }
  await undo(kernel, await treeOf(kernel, document));
  return {};
}

async function acting(kernel: Kernel, operation: StoredOperation, id: ResourceId): Promise<Outcome> {
  const { verb, caller, apiVersion, query = {}, secrets } = operation;
  const document = await readResource(kernel.state, id.key);
  const action = document && kernel.catalogue.find(document.body.type)?.definition.actions?.[verb];
  if (!document || !action || !caller)
    return { error: new ArmError(404, 'ResourceNotFound', `The resource '${id.text}' was not found.`) };
  const body = secrets?.request === undefined ? undefined : (JSON.parse(secrets.request.reveal()) as JsonObject);
  const result = await kernel.inLine(id.key, () =>
    action.run({ world: kernel.world(), id, record: document.body, apiVersion, body, query, caller }),
  );
  return result === undefined ? {} : { result };
}

/** One batch: the operation's end and the resources' state. Nothing when it has ended otherwise meanwhile. */
async function record(kernel: Kernel, partition: string, operationId: string, outcome: Outcome): Promise<void> {
  const document = await readOperation(kernel.state, partition, operationId);
  if (document?.body.status !== 'Running') return;
  const parsed = parseResourceId(document.body.resourceId);
  const key = parsed.ok ? parsed.id.key : '';
  const end = endOf(kernel, document, outcome);
  if (document.body.verb === 'delete' && outcome.error === undefined) {
    await kernel.gate.exclusive(async () => {
      const root = await readResource(kernel.state, key);
      if (root === undefined) return kernel.state.batch(partition, [end]);
      const tree = await treeOf(kernel, root);
      const cancelled = await cancelling(kernel, tree, operationId);
      await removeTree(kernel, tree, [end, ...cancelled]);
      tellCancelled(kernel, cancelled);
    });
    return;
  }
  const writes: Operation<Stored>[] = [end];
  const keys = document.body.verb === 'delete' ? await keysBelow(kernel, key) : [key, ...(document.body.also ?? [])];
  for (const one of keys) {
    const resource = await readResource(kernel.state, one);
    if (resource === undefined) continue;
    const ended = endedRecord(kernel, document.body, resource.body, outcome, one);
    if (ended !== resource.body) writes.push({ kind: 'replace', version: resource, body: ended });
  }
  await kernel.state.batch(partition, writes);
}

/** A resource whose delete failed, and the children that were marked with it. */
async function keysBelow(kernel: Kernel, key: string): Promise<readonly string[]> {
  const root = await readResource(kernel.state, key);
  if (root === undefined || root.body.type === groupType) return [key];
  const tree = await treeOf(kernel, root);
  return tree.filter(({ id, body }) => id === key || body.deleting).map(({ id }) => id);
}

function endOf(
  { clock }: Kernel,
  document: Document<StoredOperation>,
  { error, result }: Outcome,
): Extract<Operation<Stored>, { kind: 'replace' }> {
  const { secrets: _, gone: __, ...operation } = document.body;
  return {
    kind: 'replace',
    version: document,
    ttlSeconds: operationTtlSeconds,
    body: {
      ...operation,
      status: error === undefined ? 'Succeeded' : 'Failed',
      endTime: new Date(clock.now()).toISOString(),
      ...(error === undefined ? {} : { error: plainError(error), errorStatus: error.status }),
      ...(result === undefined ? {} : { secrets: { result: new Secret(JSON.stringify(result)) } }),
    },
  };
}

function plainError(error: ArmError): ErrorBody {
  return errorBody(error);
}

/** The record without the operation; the same one when the operation is not the one on it. */
function endedRecord(
  kernel: Kernel,
  { operationId, verb }: StoredOperation,
  body: StoredResource,
  { error, properties }: Outcome,
  key: string,
): StoredResource {
  const known = kernel.catalogue.find(body.type);
  const isOwn = body.operation === operationId;
  if (!isOwn && !(verb === 'delete' && body.deleting && body.operation === undefined)) return body;
  const { operation: _, deleting: __, ...rest } = body;
  if (!isOwn) return rest;
  const isAction = verb !== 'create' && verb !== 'update' && verb !== 'delete';
  if (isAction) return rest;
  // A group whose delete failed is as it was before.
  const state = error === undefined || body.type === groupType ? 'Succeeded' : 'Failed';
  const more = properties?.get(key);
  const merged =
    more === undefined
      ? rest
      : { ...rest, resource: { ...rest.resource, properties: { ...rest.resource.properties, ...more } } };
  return withState(merged, known, state);
}
