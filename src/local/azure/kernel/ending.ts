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
import { removeTree, treeOf } from './removal.ts';
import { groupType } from './resource-group.ts';
import {
  actionOf,
  operationTtlSeconds,
  readOperation,
  readResource,
  type Stored,
  type StoredOperation,
  type StoredResource,
} from './state.ts';
import { demandUnused } from './users.ts';

/** How the work went. */
interface Outcome {
  readonly error?: ArmError;
  /** By folded id: what to merge into properties. */
  readonly properties?: ReadonlyMap<string, JsonObject>;
  /** Of an action. */
  readonly result?: Json;
}

const attempts = 50;
/** Within the 100 of a batch. */
const restoredAtOnce = 90;

/** Throws when the end could not be recorded: the work is done again then. */
export async function endOperation(kernel: Kernel, partition: string, operationId: string): Promise<void> {
  const document = await readOperation(kernel.state, partition, operationId);
  if (document?.body.status !== 'Running') return kernel.operations.ended(operationId);
  const outcome = await work(kernel, document.body);
  // Work that was broken off because the process ends is done again after the next start.
  if (outcome.error !== undefined && isStopping(kernel)) return;
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

function isStopping({ operations, world }: Kernel): boolean {
  return operations.isStopping || world().stopping.aborted;
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
  for (const { key, verb: kind } of [{ key: id.key, verb }, ...also]) {
    const made = await kernel.inLine(key, async () => {
      const document = await readResource(kernel.state, key);
      return document && effect(kernel, kind, document.body);
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
  const action = document && kernel.catalogue.find(document.body.type)?.definition.actions?.[actionOf(verb)];
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
  if (document.body.verb === 'delete') return recordDelete(kernel, document, key, outcome);
  const writes: Operation<Stored>[] = [endOf(kernel, document, outcome)];
  for (const one of [key, ...(document.body.also ?? []).map((also) => also.key)]) {
    const resource = await readResource(kernel.state, one);
    if (resource?.body.operation !== operationId) continue;
    const body = endedRecord(kernel, document.body, resource.body, outcome, one);
    writes.push({ kind: 'replace', version: resource, body });
  }
  await kernel.state.batch(partition, writes);
}

function recordDelete(
  kernel: Kernel,
  document: Document<StoredOperation>,
  key: string,
  outcome: Outcome,
): Promise<void> {
  return kernel.gate.exclusive(async () => {
    const root = await readResource(kernel.state, key);
    const end = endOf(kernel, document, outcome);
    if (root === undefined) return void (await kernel.state.batch(document.partition, [end]));
    const tree = await treeOf(kernel, root);
    const error = outcome.error ?? (await usersOfTree(kernel, tree));
    if (error === undefined) await removeTree(kernel, tree, [end], document.body.operationId);
    else await restore(kernel, document, root, error);
  });
}

/** A process that was killed may have left children that were not marked yet, which something began to use. */
async function usersOfTree(kernel: Kernel, tree: readonly Document<StoredResource>[]): Promise<ArmError | undefined> {
  try {
    await demandUnused(kernel, tree, tree[0]?.id ?? '');
    return undefined;
  } catch (error) {
    if (error instanceof ArmError) return error;
    throw error;
  }
}

/** After a delete that failed: what is left of the tree may be used again. The root comes last, so that this is repeated if it is stopped. */
async function restore(
  kernel: Kernel,
  document: Document<StoredOperation>,
  root: Document<StoredResource>,
  error: ArmError,
): Promise<void> {
  const below = root.body.type === groupType ? [] : (await treeOf(kernel, root)).slice(1);
  const marked = below.filter(({ body }) => body.deleting);
  for (let at = 0; at < marked.length; at += restoredAtOnce) {
    await kernel.state.batch(
      document.partition,
      marked.slice(at, at + restoredAtOnce).map((version) => {
        const { deleting: _, ...body } = version.body;
        return { kind: 'replace', version, body };
      }),
    );
  }
  await kernel.state.batch(document.partition, [
    endOf(kernel, document, { error }),
    { kind: 'replace', version: root, body: endedRecord(kernel, document.body, root.body, { error }, root.id) },
  ]);
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

/** The record without the operation, in the state that it ended in. */
function endedRecord(
  kernel: Kernel,
  { verb }: StoredOperation,
  body: StoredResource,
  { error, properties }: Outcome,
  key: string,
): StoredResource {
  const { operation: _, deleting: __, ...rest } = body;
  if (verb !== 'create' && verb !== 'update' && verb !== 'delete') return rest;
  const more = properties?.get(key);
  const merged =
    more === undefined
      ? rest
      : { ...rest, resource: { ...rest.resource, properties: { ...rest.resource.properties, ...more } } };
  // A group whose delete failed is as it was before.
  const state = error === undefined || body.type === groupType ? 'Succeeded' : 'Failed';
  return withState(merged, kernel.catalogue.find(body.type), state);
}
