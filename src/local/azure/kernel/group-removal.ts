// Deleting a resource group: everything inside goes, users before what they use, until nothing is left or nothing more can go.
import { randomUUID } from 'node:crypto';
import { ArmError, type ErrorBody, errorBody } from '../../../arm/errors.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { Document } from '../../../store/store.ts';
import { undo } from './effects.ts';
import type { Kernel } from './kernel.ts';
import type { ResourceRecord } from './record.ts';
import { isWithin } from './references.ts';
import { removeTree, treeOf } from './removal.ts';
import { asResource, readOperation, type StoredResource } from './state.ts';
import { inUse, usersOf } from './users.ts';

/** Why a resource could not be deleted in a round. */
interface Blocked {
  readonly record: ResourceRecord;
  /** Folded ids of the resources in the group that use it. */
  readonly users: readonly string[];
  /** Set when it is for another reason than users in the group. */
  readonly error?: ErrorBody;
}

/** What a resource that is gone used, or why it is not gone. */
type Outcome = { readonly used: readonly string[] } | { readonly problem: Blocked };

/** Resources that an error names. */
const shownMax = 20;

/**
 * Empties the group; answers with the error when that cannot be. The group's own document is removed by the caller. May be stopped at
 * any time and called again.
 */
export async function removeGroup(kernel: Kernel, group: Document<StoredResource>): Promise<ArmError | undefined> {
  /** Resources that go although others in the group use them: they use each other. */
  let forced: ReadonlySet<string> = new Set();
  for (;;) {
    const { removed, blocked } = await round(kernel, group, forced);
    if (blocked.size === 0) return undefined;
    if (kernel.operations.isStopping || kernel.world().stopping.aborted)
      return new ArmError(503, 'ServiceUnavailable', 'The cloud is stopping.');
    if (removed > 0) continue;
    const free = freeOf(blocked);
    if (free.size === 0 || [...free].every((key) => forced.has(key))) return failure(group.body, blocked);
    forced = free;
  }
}

/** Tries every resource of the group once. */
async function round(
  kernel: Kernel,
  group: Document<StoredResource>,
  forced: ReadonlySet<string>,
): Promise<{ readonly removed: number; readonly blocked: ReadonlyMap<string, Blocked> }> {
  const blocked = new Map<string, Blocked>();
  /** What is being worked on comes last, that which would never end first: others may be waiting for it. */
  const busy: { readonly key: string; readonly isStuck: boolean }[] = [];
  let removed = 0;
  const attempt = async (first: string): Promise<void> => {
    const keys = [first];
    for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
      const outcome = await tryRemove(kernel, key, group, forced.has(key));
      if ('problem' in outcome) {
        blocked.set(key, outcome.problem);
        continue;
      }
      removed++;
      blocked.delete(key);
      // What it used may have waited for it alone: tried now, a chain of any length takes one round.
      for (const target of outcome.used) {
        const root = rootIn(blocked, target);
        if (root !== undefined && blocked.get(root)?.error === undefined && !keys.includes(root)) keys.push(root);
      }
    }
  };
  let continuation: string | undefined;
  do {
    const page = await kernel.state.query({
      partition: group.partition,
      filter: { op: 'prefix', field: 'id', value: `${group.id}/` },
      limit: 200,
      ...(continuation === undefined ? {} : { continuation }),
    });
    let root: string | undefined;
    for (const document of page.documents) {
      const resource = asResource(document);
      // What is below another one goes with it.
      if (resource === undefined || (root !== undefined && isWithin(resource.id, root))) continue;
      if (isBelowAnother(resource, group.id)) continue;
      root = resource.id;
      const { operation } = resource.body;
      if (operation === undefined) await attempt(resource.id);
      else busy.push({ key: resource.id, isStuck: await isStuck(kernel, group.partition, operation) });
    }
    continuation = page.continuation;
  } while (continuation !== undefined && !kernel.operations.isStopping);
  for (const { key } of busy.sort((a, b) => Number(b.isStuck) - Number(a.isStuck))) await attempt(key);
  return { removed, blocked };
}

async function isStuck({ state }: Kernel, partition: string, operationId: string): Promise<boolean> {
  return (await readOperation(state, partition, operationId))?.body.fault?.kind === 'stuck';
}

function isBelowAnother({ body }: Document<StoredResource>, group: string): boolean {
  return body.parent !== undefined && body.parent !== group && isWithin(body.parent, group);
}

async function tryRemove(
  kernel: Kernel,
  key: string,
  group: Document<StoredResource>,
  isForced: boolean,
): Promise<Outcome> {
  const root = asResource(await kernel.state.read({ partition: group.partition, id: key }));
  if (root === undefined) return { used: [] };
  const { body: record } = root;
  try {
    const problem = await prepareRemoval(kernel, root, group.id, isForced);
    if (problem) return { problem };
    return await kernel.gate.exclusive(async () => {
      const now = asResource(await kernel.state.read(root));
      if (now === undefined) return { used: [] };
      const left = await treeOf(kernel, now);
      const late = await usersIn(kernel, left, group.id, isForced);
      if (late) return { problem: late };
      await removeTree(kernel, left, []);
      return { used: left.flatMap(({ body }) => Object.keys(body.references)) };
    });
  } catch (error) {
    if (isStoreError(error, 'Changed', 'NotFound')) return { problem: { record, users: [] } };
    if (error instanceof ArmError) return { problem: { record, users: [], error: errorBody(error) } };
    kernel.logger.error({ err: error, resource: key }, 'a resource of a group could not be deleted');
    const message = 'The resource could not be deleted because of an internal error.';
    return { problem: { record, users: [], error: { code: 'InternalServerError', message } } };
  }
}

/** What is to be done before the documents go, outside of the gate: for most resources nothing. */
async function prepareRemoval(
  kernel: Kernel,
  root: Document<StoredResource>,
  group: string,
  isForced: boolean,
): Promise<Blocked | undefined> {
  const definition = kernel.catalogue.find(root.body.type)?.definition;
  const tree = await treeOf(kernel, root);
  if (tree.length === 1 && definition?.effect === undefined && definition?.beforeDelete === undefined) return undefined;
  const problem = await usersIn(kernel, tree, group, isForced);
  if (problem) return problem;
  for (const { body } of tree) await kernel.catalogue.find(body.type)?.definition.beforeDelete?.(kernel.world(), body);
  await undo(kernel, tree);
  return undefined;
}

async function usersIn(
  kernel: Kernel,
  tree: readonly Document<StoredResource>[],
  group: string,
  isForced: boolean,
): Promise<Blocked | undefined> {
  const root = tree[0];
  if (root === undefined) return undefined;
  const inside: string[] = [];
  for (const document of tree) {
    const users = await usersOf(kernel, document.id, root.id);
    const outside = users.filter(({ id }) => !isWithin(id, group));
    if (outside.length > 0) {
      const error = inUse(
        kernel,
        document.body,
        outside.map(({ body }) => body),
      );
      return { record: root.body, users: [], error: errorBody(error) };
    }
    inside.push(...users.map(({ id }) => id));
  }
  return inside.length === 0 || isForced ? undefined : { record: root.body, users: inside };
}

/** Those that only wait for each other: nothing that must stay uses them, directly or through others. */
function freeOf(blocked: ReadonlyMap<string, Blocked>): ReadonlySet<string> {
  const usedBy = new Map<string, string[]>();
  for (const [key, { users }] of blocked) {
    for (const user of users) {
      const root = rootIn(blocked, user);
      if (root === undefined) continue;
      const used = usedBy.get(root);
      if (used) used.push(key);
      else usedBy.set(root, [key]);
    }
  }
  const free = new Set(blocked.keys());
  const staying = [...blocked].filter(([, { error }]) => error !== undefined).map(([key]) => key);
  for (let key = staying.pop(); key !== undefined; key = staying.pop()) {
    if (free.delete(key)) staying.push(...(usedBy.get(key) ?? []));
  }
  return free;
}

/** The one of these that a resource is, or is below. */
function rootIn(blocked: ReadonlyMap<string, Blocked>, key: string): string | undefined {
  for (let above = key; above !== ''; above = above.slice(0, above.lastIndexOf('/')))
    if (blocked.has(above)) return above;
  return undefined;
}

function failure(group: StoredResource, blocked: ReadonlyMap<string, Blocked>): ArmError {
  const shown = [...blocked.values()].slice(0, shownMax);
  const names = shown.map(({ record }) => `${record.resource.type}/${record.resource.name}`);
  return new ArmError(
    409,
    'ResourceGroupDeletionBlocked',
    `Deletion of resource group '${group.resource.name}' failed as resources with identifiers '${names.join(',')}' could not be deleted. ` +
      'The provisioning state of the resource group will be rolled back. ' +
      `The tracking Id is '${randomUUID()}'. Please check audit logs for more details.`,
    {
      details: shown.map(({ record, error, users }) => ({
        code: error?.code ?? 'InUseResourceCannotBeDeleted',
        message: error?.message ?? `It is in use by ${users.slice(0, shownMax).join(', ')}.`,
        target: record.resource.id,
      })),
    },
  );
}
