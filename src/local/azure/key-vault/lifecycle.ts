// What secrets, keys and certificates have in common: lists, deletion with a time to get things back, purging.

import type { Filter } from '../../../store/filter.ts';
import type { Document, Operation } from '../../../store/store.ts';
import type { JsonObject } from '../kernel/record.ts';
import { type Need, nameOf, nowSeconds, type VaultAnswer, type VaultCall, type VaultRoute } from './call.ts';
import { badParameter, forbidden, VaultError } from './errors.ts';
import { demandHead, missing } from './find.ts';
import {
  commit,
  type HeadBody,
  headId,
  type Objects,
  type ObjectType,
  readHead,
  readVersion,
  type Stored,
  type VersionBody,
} from './objects.ts';
import { managedRefusal } from './secrets.ts';
import { bundleOf, deletedMembers, itemOf } from './shapes.ts';

const reads: { readonly [type in ObjectType]: string } = {
  secrets: 'secrets/readMetadata/action',
  keys: 'keys/read',
  certificates: 'certificates/read',
};

/** Lists, DELETE, deleted objects, recover and purge of one type. */
export function lifecycleRoutes(type: ObjectType): readonly VaultRoute[] {
  const need = (permission: string, action: string): Need => ({ permission: [type, permission], action });
  const read = reads[type];
  return [
    {
      method: 'GET',
      path: type,
      need: need('list', read),
      run: (call) => list(call, type, type, (body) => itemOf(call.vault, body)),
    },
    {
      method: 'GET',
      path: `${type}/{name}/versions`,
      need: need('list', read),
      async run(call) {
        const name = nameOf(call);
        await demandHead(call, type, name);
        return list(call, `${type}/${name}/versions`, headId(type, name), (body) => itemOf(call.vault, body));
      },
    },
    {
      method: 'DELETE',
      path: `${type}/{name}`,
      need: need('delete', `${type}/delete`),
      run: (call) => remove(call, type),
    },
    {
      method: 'GET',
      path: `deleted${type}`,
      need: need('list', read),
      run: (call) =>
        list(call, `deleted${type}`, `deleted${type}`, (body) => ({
          ...itemOf(call.vault, body),
          ...(body.kind === 'head' ? deletedMembers(call.vault, body) : {}),
        })),
    },
    { method: 'GET', path: `deleted${type}/{name}`, need: need('get', read), run: (call) => showDeleted(call, type) },
    {
      method: 'POST',
      path: `deleted${type}/{name}/recover`,
      need: need('recover', `${type}/recover/action`),
      run: (call) => recover(call, type),
    },
    {
      method: 'DELETE',
      path: `deleted${type}/{name}`,
      need: need('purge', `${type}/purge/action`),
      run: (call) => purge(call, type),
    },
  ];
}

const pageMax = 25;

async function list(
  call: VaultCall,
  path: string,
  listKey: string,
  shape: (body: HeadBody | VersionBody) => JsonObject,
): Promise<VaultAnswer> {
  const { limit, after } = pageOf(call);
  const filters: Filter[] = [{ op: 'eq', field: ['list'], value: listKey }];
  if (after !== undefined) filters.push({ op: 'gt', field: 'id', value: after });
  const { documents } = await call.objects.query({
    partition: call.vault.name,
    filter: { op: 'and', filters },
    limit: limit + 1,
  });
  const shown = documents.slice(0, limit);
  const last = documents.length > limit ? shown.at(-1) : undefined;
  return {
    body: {
      value: shown.flatMap(({ body }) => (body.kind === 'head' || body.kind === 'version' ? [shape(body)] : [])),
      nextLink: last === undefined ? null : nextLink(call, path, last.id, limit),
    },
  };
}

/** The size and start of a page that is asked for. */
export function pageOf({ query }: VaultCall): { readonly limit: number; readonly after?: string } {
  const asked = query.maxresults;
  const limit = asked === undefined ? pageMax : Number(asked);
  if (!Number.isInteger(limit) || limit < 1 || limit > pageMax)
    throw badParameter(`Query parameter 'maxresults' must be a number from 1 to ${pageMax}.`);
  const token = query.$skiptoken;
  if (token === undefined || token === '') return { limit };
  const after = Buffer.from(token, 'base64url').toString('utf8');
  if (after === '' || after.length > 400) throw badParameter("Query parameter '$skiptoken' is not valid.");
  return { limit, after };
}

export function nextLink({ vault, apiVersion }: VaultCall, path: string, last: string, limit: number): string {
  const token = Buffer.from(last).toString('base64url');
  return `${vault.uri}${path}?api-version=${apiVersion}&$skiptoken=${token}&maxresults=${limit}`;
}

/** A certificate goes and comes back with its key and its secret. */
async function family(call: VaultCall, type: ObjectType, name: string): Promise<readonly Document<HeadBody>[]> {
  const types: readonly ObjectType[] = type === 'certificates' ? ['certificates', 'keys', 'secrets'] : [type];
  const heads = await Promise.all(types.map((one) => readHead(call.objects, call.vault.name, one, name)));
  return heads.filter((head) => head !== undefined);
}

async function remove(call: VaultCall, type: ObjectType): Promise<VaultAnswer> {
  const name = nameOf(call);
  return commit(call.objects, call.vault.name, async () => {
    const head = await demandHead(call, type, name);
    if (head.body.managed) throw managedRefusal(type.slice(0, -1), name);
    const at = nowSeconds(call);
    const purgeAt = at + call.vault.retentionDays * 86_400;
    const deleted = (body: HeadBody): HeadBody => {
      const { pending: _pending, value: _value, ...rest } = body;
      return { ...rest, list: `deleted${body.type}`, deleted: { at, purgeAt }, dueAt: purgeAt * 1000 };
    };
    const operations = (await family(call, type, name)).map(
      (one): Operation<Stored> => ({ kind: 'replace', version: one, body: deleted(one.body) }),
    );
    return { operations, result: { body: await deletedBundle(call, deleted(head.body)) } };
  });
}

async function deletedBundle(call: VaultCall, head: HeadBody): Promise<JsonObject> {
  const version =
    head.current === undefined
      ? undefined
      : await readVersion(call.objects, call.vault.name, head.type, head.name, head.current);
  const shown = version === undefined ? itemOf(call.vault, head) : bundleOf(call.vault, version.body, head);
  return { ...deletedMembers(call.vault, head), ...shown };
}

async function demandDeleted(call: VaultCall, type: ObjectType): Promise<Document<HeadBody>> {
  const name = nameOf(call);
  const head = await readHead(call.objects, call.vault.name, type, name);
  if (head?.body.deleted !== undefined) return head;
  const { code } = missing(type, name);
  throw new VaultError(404, code, `Deleted ${type.slice(0, -1)} not found: ${name}`);
}

async function showDeleted(call: VaultCall, type: ObjectType): Promise<VaultAnswer> {
  const head = await demandDeleted(call, type);
  return { body: await deletedBundle(call, head.body) };
}

async function recover(call: VaultCall, type: ObjectType): Promise<VaultAnswer> {
  const name = nameOf(call);
  return commit(call.objects, call.vault.name, async () => {
    const head = await demandDeleted(call, type);
    if (head.body.managed) throw managedRefusal(type.slice(0, -1), name);
    // Whatever is due for it is worked out anew from the moment it is back.
    const live = ({ deleted: _deleted, dueAt: _dueAt, ...rest }: HeadBody): HeadBody => ({
      ...rest,
      list: rest.type,
      ...(rest.policy !== undefined || rest.rotation !== undefined ? { dueAt: call.world.clock.now() } : {}),
    });
    const operations = (await family(call, type, name)).map(
      (one): Operation<Stored> => ({ kind: 'replace', version: one, body: live(one.body) }),
    );
    const next = live(head.body);
    const version =
      next.current === undefined
        ? undefined
        : await readVersion(call.objects, call.vault.name, type, name, next.current);
    const body = version === undefined ? itemOf(call.vault, next) : bundleOf(call.vault, version.body, next);
    return { operations, result: { body } };
  });
}

async function purge(call: VaultCall, type: ObjectType): Promise<VaultAnswer> {
  const head = await demandDeleted(call, type);
  if (head.body.managed) throw managedRefusal(type.slice(0, -1), head.body.name);
  if (call.vault.purgeProtection)
    throw forbidden(
      'Operation purge is not allowed because purge protection is enabled for this vault.',
      'PurgeProtected',
    );
  for (const one of await family(call, type, head.body.name)) await purgeHead(call.objects, call.vault.name, one);
  return { status: 204 };
}

const batchMax = 90;

/** Takes away the versions, then the head: what is left after a crash can be purged again. */
export async function purgeHead(objects: Objects, vault: string, head: Document<Stored>): Promise<void> {
  for (;;) {
    const { documents } = await objects.query({
      partition: vault,
      filter: { op: 'eq', field: ['list'], value: head.id },
      limit: batchMax,
    });
    if (documents.length === 0) break;
    await objects.batch(
      vault,
      documents.map((version) => ({ kind: 'delete', version })),
    );
  }
  await objects.delete(head);
}
