// PUT and PATCH: plan, then one batch; from the start again when somebody else was faster.
import { ArmError, notFound } from '../../../arm/errors.ts';
import { isRecord } from '../../../arm/record.ts';
import type { ResourceId } from '../../../arm/resource-id.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Document, Operation } from '../../../store/store.ts';
import { type KnownType, notAllowed } from './catalogue.ts';
import { checkConditions, hasConditions, lostRace, preconditionFailed } from './conditions.ts';
import { demandSubscription } from './family.ts';
import { askFaults } from './inner-faults.ts';
import type { Kernel } from './kernel.ts';
import { lockType } from './locks.ts';
import { errorOf } from './operation-view.ts';
import { concernsOperation } from './operations.ts';
import { anotherOperation, type Plan, type PlannedPut, planPut, type Wanted } from './plan.ts';
import { hasEffect, withState } from './provisioning.ts';
import type { JsonObject } from './record.ts';
import { treeOf } from './removal.ts';
import type { PutOptions, Written } from './resources.ts';
import {
  operationKey,
  partitionOf,
  readResource,
  type Stored,
  type StoredOperation,
  type StoredResource,
} from './state.ts';
import { demandUnused } from './users.ts';

/** Lost races before a caller is told to try again itself. */
const attempts = 30;

export async function putResource(
  kernel: Kernel,
  id: ResourceId,
  body: JsonObject,
  options: PutOptions,
): Promise<Written> {
  const known = kernel.catalogue.demand(id, options.apiVersion);
  if (known.definition.writable === false) throw notAllowed(known, 'PUT');
  return write(kernel, id, known, 'PUT', options, () => ({ id, known, body, ...asked(options) }));
}

export async function patchResource(
  kernel: Kernel,
  id: ResourceId,
  body: JsonObject,
  options: PutOptions,
): Promise<Written> {
  const known = kernel.catalogue.demand(id, options.apiVersion);
  const { patch, writable } = known.definition;
  if (patch === undefined || writable === false) throw notAllowed(known, 'PATCH');
  return write(kernel, id, known, 'PATCH', options, (current) => {
    if (current === undefined) throw notFound(id);
    const { resource } = current.body;
    // Tags are replaced whole: that is how one is taken away.
    const tags = body.tags === undefined ? {} : { tags: body.tags };
    const patched: JsonObject =
      patch === 'tags'
        ? { ...resource, ...tags }
        : { ...mergePatch(resource, body), location: resource.location, ...tags };
    return { id, known, body: patched, ...asked(options), tagsOnly: patch === 'tags' };
  });
}

function asked({ apiVersion, caller }: PutOptions): Pick<Wanted, 'apiVersion' | 'caller'> {
  return { apiVersion, caller };
}

type WantedOf = (current: Document<StoredResource> | undefined) => Wanted;

async function write(
  kernel: Kernel,
  id: ResourceId,
  known: KnownType,
  method: 'PUT' | 'PATCH',
  options: PutOptions,
  wantedOf: WantedOf,
): Promise<Written> {
  demandSubscription(kernel, id, known);
  const faults = options.faults ?? (await askFaults(kernel, method, id));
  if (known.key !== lockType) await kernel.locks.demand(partitionOf(id), id.key, id.text, 'write');
  const conditional = known.definition.etags !== false && hasConditions(options);
  let missingBefore: string | undefined;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const current = await readResource(kernel.state, id.key);
    if (conditional) checkConditions(options, current?.etag);
    const plan = await planPut(kernel, wantedOf(current), current);
    try {
      const commit = async () => {
        const outcome = await commitPlan(kernel, plan, { ...options, faults }, missingBefore);
        if ('missing' in outcome) missingBefore = outcome.missing;
        return outcome;
      };
      const outcome =
        known.definition.globallyNamed && current === undefined
          ? await kernel.names.hold(known, id.name, id.key, commit)
          : await commit();
      if ('written' in outcome) return await outcome.written();
    } catch (error) {
      if (!isStoreError(error, 'Changed', 'Exists', 'NotFound')) throw error;
      if (conditional) throw preconditionFailed('the resource has changed');
    }
  }
  throw lostRace();
}

/** `missing`: what the write names was not there; `prepare` must have its say about that once more. */
type Outcome = { readonly written: () => Promise<Written> } | { readonly missing: string };

async function commitPlan(
  kernel: Kernel,
  plan: Plan,
  options: PutOptions,
  missingBefore: string | undefined,
): Promise<Outcome> {
  const commit = async (): Promise<Outcome> => {
    const missing = await demandTargets(kernel, plan);
    if (missing !== '' && missing !== missingBefore) return { missing };
    const removed: Document<StoredResource>[] = [];
    for (const root of plan.deletes) {
      const tree = await treeOf(kernel, root);
      const busy = tree.find(({ body }) => body.operation !== undefined);
      if (busy) throw anotherOperation(busy.body);
      await demandUnused(kernel, tree, plan.puts[0].id.key);
      removed.push(...tree);
    }
    return commitNow(kernel, plan, removed, options);
  };
  return plan.deletes.length > 0 ? kernel.gate.exclusive(commit) : kernel.gate.shared(commit);
}

/** Throws when something that the plan begins to use is being deleted. Answers which of them are not there. */
async function demandTargets(kernel: Kernel, { puts, deletes }: Plan): Promise<string> {
  const planned = new Set(puts.map(({ id }) => id.key));
  const going = new Set(deletes.map(({ id }) => id));
  const missing: string[] = [];
  for (const { record, current } of puts) {
    for (const target of Object.keys(record.references)) {
      if (planned.has(target) || (current !== undefined && Object.hasOwn(current.body.references, target))) continue;
      const there = going.has(target) ? undefined : await readResource(kernel.state, target);
      if (there === undefined) missing.push(target);
      else if (there.body.deleting || (await isGroupGoing(kernel, there.body, record.group)))
        throw new ArmError(
          400,
          'ReferencedResourceNotProvisioned',
          `Cannot proceed with operation because resource ${there.body.resource.id} used by resource ${record.resource.id} is not in ` +
            'Succeeded state. Resource is in Deleting state.',
          { retryAfterSeconds: 10 },
        );
    }
  }
  return missing.join('\n');
}

/** Its own group has been looked at already. */
async function isGroupGoing({ state }: Kernel, { group }: StoredResource, own: string | undefined): Promise<boolean> {
  return group !== undefined && group !== own && (await readResource(state, group))?.body.deleting === true;
}

async function commitNow(
  kernel: Kernel,
  { puts }: Plan,
  removed: readonly Document<StoredResource>[],
  options: PutOptions,
): Promise<Outcome> {
  const [first] = puts;
  const partition = partitionOf(first.id);
  const verb = verbOf(first.current);
  const isAsynchronous = first.known.definition.asynchrony?.[verb] === 'operation' || concernsOperation(options.faults);
  const gone = removed.map(({ body }) => body).filter((body) => hasEffect(kernel, body));
  const needsOperation =
    isAsynchronous || gone.length > 0 || puts.some(({ known }) => known.definition.effect !== undefined);
  const { location } = first.record.resource;
  const operation = needsOperation
    ? kernel.operations.make({
        resourceId: first.record.resource.id,
        type: first.known.key,
        verb,
        apiVersion: options.apiVersion,
        ...(location === undefined ? {} : { location }),
        ...(options.faults === undefined ? {} : { faults: options.faults }),
        ...(puts.length === 1
          ? {}
          : { also: puts.slice(1).map(({ id, current }) => ({ key: id.key, verb: verbOf(current) })) }),
        ...(gone.length === 0 ? {} : { gone: gone.map(({ secrets: _, ...body }) => body) }),
      })
    : undefined;

  const documents = await kernel.state.batch(partition, [
    ...puts.map((put) => writeOf(put, operation)),
    ...removed.map((version): Operation<Stored> => ({ kind: 'delete', version })),
    ...checksOf(puts, removed),
    ...(operation === undefined
      ? []
      : [{ kind: 'create', id: operationKey(operation.operationId), body: operation } as const]),
  ]);
  if (puts.some(({ known }) => known.key === lockType) || removed.some(({ body }) => body.type === lockType))
    kernel.locks.changed(partition);
  const document = documents[0];
  const record = recordOf(first, operation);
  const written: Written = {
    record,
    created: first.current === undefined,
    ...(document === undefined ? {} : { etag: document.etag }),
  };
  if (operation === undefined) return { written: async () => written };
  if (isAsynchronous) {
    kernel.operations.arm(partition, operation);
    return { written: async () => ({ ...written, operation: operation.operationId }) };
  }
  // Not within the gate: the effect may write resources itself.
  return { written: () => finishNow(kernel, partition, operation, first, written) };
}

async function finishNow(
  kernel: Kernel,
  partition: string,
  operation: StoredOperation,
  { id }: PlannedPut,
  written: Written,
): Promise<Written> {
  await kernel.operations.run(partition, operation);
  const error = await errorOf(kernel, partition, operation.operationId);
  if (error) throw error;
  const document = await readResource(kernel.state, id.key);
  return document === undefined ? written : { ...written, record: document.body, etag: document.etag };
}

function writeOf(put: PlannedPut, operation: StoredOperation | undefined): Operation<Stored> {
  const body = recordOf(put, operation);
  return put.current === undefined
    ? { kind: 'create', id: put.id.key, body }
    : { kind: 'replace', version: put.current, body };
}

/** The record with its state. */
function recordOf({ record, known, current }: PlannedPut, operation: StoredOperation | undefined): StoredResource {
  const state = operation === undefined ? 'Succeeded' : current === undefined ? 'Creating' : 'Updating';
  const next = withState(record, known, state);
  return operation === undefined ? next : { ...next, operation: operation.operationId };
}

function verbOf(current: unknown): 'create' | 'update' {
  return current === undefined ? 'create' : 'update';
}

/** The batch fails when the group or the parent was changed or deleted since they were read. */
function checksOf(puts: readonly PlannedPut[], removed: readonly Document<StoredResource>[]): Operation<Stored>[] {
  const seen = new Set([...puts.map(({ id }) => id.key), ...removed.map(({ id }) => id)]);
  const checks: Operation<Stored>[] = [];
  for (const { family, id } of puts) {
    for (const version of [family.group, family.parent]) {
      if (version === undefined || version.partition !== partitionOf(id) || seen.has(version.id)) continue;
      seen.add(version.id);
      checks.push({ kind: 'check', version });
    }
  }
  return checks;
}

/** RFC 7396. Bodies are of bounded depth. */
function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: { [member: string]: JsonObject[string] } = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    const there = merged[name];
    if (value === null) delete merged[name];
    else if (isObject(value)) merged[name] = mergePatch(isObject(there) ? there : {}, value);
    else merged[name] = value;
  }
  return merged;
}

function isObject(value: unknown): value is JsonObject {
  return isRecord(value);
}
