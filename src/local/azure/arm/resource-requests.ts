// GET, HEAD, PUT, PATCH and DELETE of one resource or resource group, and POST of its actions.
import { ArmError, notFound } from '../../../arm/errors.ts';
import { buildResourceId, foldCase, parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import { clientName } from '../authorization/client-name.ts';
import { wireEtag } from '../kernel/conditions.ts';
import type { ActionRequest } from '../kernel/provider.ts';
import type { JsonObject, ResourceRecord } from '../kernel/record.ts';
import { maxReferences, tooManyReferences } from '../kernel/references.ts';
import type { Written } from '../kernel/resources.ts';
import { type Answer, type ArmCall, type Method, objectBody, ok, optionalBody, writeOptions } from './call.ts';
import { groupOperationHeaders, operationHeaders } from './operations.ts';
import type { KnownType } from './registry.ts';

type Handler = (call: ArmCall, id: ResourceId, known: KnownType) => Promise<Answer>;

export const resourceHandlers: { readonly [method in Exclude<Method, 'POST'>]: Handler } = {
  async GET(call, id, known) {
    const { resources } = call.world;
    const document = await resources.read(id.key);
    if (!document) throw await missing(call, id);
    return {
      status: 200,
      headers: etagOf(known, document.etag),
      body: await resources.view(document.body, call.apiVersion),
    };
  },
  async HEAD(call, id) {
    return { status: (await call.world.resources.read(id.key)) ? 204 : 404 };
  },
  async PUT(call, id, known) {
    const body = objectBody(call);
    await demandLinked(call, id, known, body);
    const written = await call.world.resources.put(id, body, writeOptions(call));
    return writtenAnswer(call, id, known, written, written.created ? (known.type.createdStatus ?? 201) : 200);
  },
  async PATCH(call, id, known) {
    const body = objectBody(call);
    await demandLinked(call, id, known, body);
    const written = await call.world.resources.patch(id, body, writeOptions(call));
    return writtenAnswer(call, id, known, written, written.operation === undefined ? 200 : 202);
  },
  async DELETE(call, id, known) {
    const { resources } = call.world;
    const deleted = await resources.delete(id, writeOptions(call));
    if (!deleted) {
      if (isGroup(id)) throw notFound(id);
      return { status: 204 };
    }
    if (deleted.operation === undefined) return { status: 200 };
    const headers = isGroup(id)
      ? groupOperationHeaders(call, id, deleted.operation)
      : operationHeaders(call, id, known, deleted.operation, locationOf(deleted.record));
    return { status: 202, headers };
  },
};

/** POST of an action on a resource that exists. */
export async function runAction(call: ArmCall, id: ResourceId, known: KnownType, name: string): Promise<Answer> {
  const body = optionalBody(call);
  const request: Pick<ActionRequest, 'apiVersion' | 'body' | 'query' | 'caller'> = {
    apiVersion: call.apiVersion,
    body,
    query: call.query,
    caller: call.caller,
  };
  const done = await call.world.resources.act(id, foldCase(name), {
    ...request,
    faults: call.faults,
  });
  if (done.operation !== undefined) {
    const document = await call.world.resources.read(id.key);
    const headers = operationHeaders(call, id, known, done.operation, document && locationOf(document.body));
    return { status: 202, headers };
  }
  return done.result === undefined ? { status: 204 } : ok(done.result);
}

async function writtenAnswer(
  call: ArmCall,
  id: ResourceId,
  known: KnownType,
  written: Written,
  status: number,
): Promise<Answer> {
  const { record, operation, etag } = written;
  return {
    status,
    headers: {
      ...(etag === undefined ? {} : etagOf(known, etag)),
      ...(operation === undefined ? {} : operationHeaders(call, id, known, operation, locationOf(record))),
    },
    body: await call.world.resources.view(record, call.apiVersion),
  };
}

/** Rights on what a body points at: joining a subnet, using an identity. */
async function demandLinked(call: ArmCall, id: ResourceId, known: KnownType, body: JsonObject): Promise<void> {
  const { caller, world } = call;
  const links = known.type.linkedAccess?.(body, id) ?? [];
  if (links.length > maxReferences) throw tooManyReferences();
  for (const link of links) {
    const { allowed } = await world.access.check(caller, link.action, link.id);
    if (allowed) continue;
    throw new ArmError(
      403,
      'LinkedAuthorizationFailed',
      `The client '${clientName(caller)}' with object id '${caller.objectId}' has permission to perform action ` +
        `'${known.fullType}/write' on scope '${id.text}'; however, it does not have permission to perform action(s) '${link.action}' ` +
        `on the linked scope(s) '${link.id}' (respectively) or the linked scope(s) are invalid.`,
    );
  }
}

/** Why there is nothing: its group is missing, or it is. */
export async function missing(call: ArmCall, id: ResourceId): Promise<ArmError> {
  const { subscriptionId, resourceGroup } = id;
  if (subscriptionId !== undefined && resourceGroup !== undefined && !isGroup(id)) {
    const group = parseResourceId(buildResourceId({ subscriptionId, resourceGroup }));
    if (group.ok && !(await call.world.resources.read(group.id.key))) return notFound(group.id);
  }
  return notFound(id);
}

export function isGroup(id: ResourceId): boolean {
  return id.types.length === 0 && id.resourceGroup !== undefined;
}

function etagOf(known: KnownType, etag: string): { readonly [name: string]: string } {
  return known.type.etags === false ? {} : { etag: wireEtag(etag) };
}

function locationOf(record: ResourceRecord): string | undefined {
  return record.resource.location;
}
