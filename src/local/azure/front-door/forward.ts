// One client's request to a provider and back: checked, stamped, sent; the answer's links lead back here, and what it did to a tracked
// resource is written down.
import { isRecord } from '../../../arm/record.ts';
import { parseResourceId, type ResourceId } from '../../../arm/resource-id.ts';
import type { KeyRing } from '../../../kit/key-ring.ts';
import type { Answer, ArmCall } from '../arm/call.ts';
import type { CallerIdentity } from '../kernel/provider.ts';
import type { JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { Target } from './dispatch.ts';
import type { Endpoint } from './endpoint.ts';
import { demandLocation, demandPlace, demandUnlocked } from './gates.ts';
import { withIdentity } from './identities.ts';
import { demandLinks } from './linked-access.ts';
import { rewriteBody, rewriteLink } from './links.ts';
import { isTerminal } from './provider-calls.ts';
import type { RemoteAnswer, RemoteRequest } from './remote.ts';
import { passedHeaders, stamps } from './stamp.ts';

export interface ForwardOptions {
  readonly send: (endpoint: Endpoint, request: RemoteRequest) => Promise<RemoteAnswer>;
  readonly ensureTold: (endpoint: Endpoint, subscriptionId: string) => Promise<void>;
  /** Writes down how a provider says that a resource is; false when that could not be done now. */
  readonly reflect: (id: ResourceId, body: JsonObject, caller: CallerIdentity) => Promise<boolean>;
  /** Removes the record of a resource that is gone; false when that could not be done now. */
  readonly forget: (id: ResourceId, caller: CallerIdentity) => Promise<boolean>;
  readonly follow: (id: ResourceId) => void;
}

/** What the addresses for notifications are sealed for. */
export const notificationContext = 'front door notification';

/** Headers of providers that clients are given. Links among them are rewritten. */
const answered = ['etag', 'retry-after', 'azure-asyncoperation', 'location', 'x-ms-error-code', 'warning'] as const;
const links: ReadonlySet<string> = new Set(['azure-asyncoperation', 'location']);

export async function forward(call: ArmCall, target: Target, options: ForwardOptions): Promise<Answer> {
  const { world, method } = call;
  const { endpoint, type, id, kind } = target;
  await demandPlace(world, method, target);
  const isResource = kind === 'resource' && id !== undefined;
  const record = isResource && type.tracked ? (await world.resources.read(id.key))?.body : undefined;
  if (isResource) await demandUnlocked(world, method, id);
  const isChange = method === 'PUT' || method === 'PATCH';
  if (isResource && isChange) {
    if (type.tracked && method === 'PUT') demandLocation(world, target, call.body, record);
    await demandLinks(world, call.caller, target.action, id, call.body);
  }
  if (id?.subscriptionId !== undefined) await options.ensureTold(endpoint, id.subscriptionId);
  const body =
    isResource && type.tracked && isChange ? await withIdentity(world, method, id, call.body, record) : call.body;
  const answer = await options.send(endpoint, requestOf({ ...call, body }, target, record));
  if (isResource && type.tracked) await noteOutcome(call, id, record, answer, options);
  const shown = kind === 'list' ? await visible(call, target, answer.body) : answer.body;
  return answerOf(call, endpoint, { ...answer, body: shown });
}

function requestOf(call: ArmCall, target: Target, record: ResourceRecord | undefined): RemoteRequest {
  const { method, sent, world, caller, keys, body } = call;
  const { id, kind, type } = target;
  const isTracked = kind === 'resource' && type.tracked && id !== undefined;
  const isWrite = method === 'PUT' || method === 'PATCH' || method === 'DELETE';
  const at = sent.target.indexOf('?');
  const path = call.segments.map(encodeURIComponent).join('/');
  return {
    method: method === 'HEAD' ? 'GET' : method,
    target: `/${path}${at === -1 ? '' : sent.target.slice(at)}`,
    headers: {
      ...passedHeaders(sent.headers),
      ...stamps({
        world,
        method,
        referer: refererOf(call),
        caller,
        correlationId: sent.correlationId,
        id,
        ...(isTracked && isWrite ? { notificationUri: notificationUri(world.cloud.origin, keys, id) } : {}),
        ...(record === undefined ? {} : { record }),
        body,
      }),
    },
    ...(body === undefined || method === 'GET' || method === 'HEAD' ? {} : { body }),
    signal: world.stopping,
  };
}

/** The address that the client called, whatever form its request line had. */
function refererOf({ origin, sent }: ArmCall): string {
  const target = sent.target.startsWith('/') ? sent.target : sent.target.replace(/^https?:\/\/[^/]*/i, '');
  return `${origin}${target}`;
}

function notificationUri(origin: string, keys: KeyRing, id: ResourceId): string {
  return `${origin}/_notifications/${encodeURIComponent(keys.seal(id.key, notificationContext))}`;
}

async function noteOutcome(
  call: ArmCall,
  id: ResourceId,
  record: ResourceRecord | undefined,
  { status, body }: RemoteAnswer,
  { reflect, forget, follow }: ForwardOptions,
): Promise<void> {
  const { method, caller } = call;
  const isOk = status >= 200 && status < 300;
  if (method === 'PUT' || method === 'PATCH') {
    if (!isOk) return;
    const isNoted = isRecord(body) && (await reflect(id, body as JsonObject, caller));
    if (!isNoted || status === 202 || !isTerminal(body)) follow(id);
  } else if (method === 'DELETE') {
    if (status === 202 || (isOk && record !== undefined && !(await forget(id, caller)))) follow(id);
  } else if (status === 404 && record !== undefined) follow(id);
}

/** Of a list, what the caller may read; those who may read at its scope may read all of it. */
async function visible(call: ArmCall, { action, id, type }: Target, body: unknown): Promise<unknown> {
  if (!type.tracked || id === undefined || id.types.length > 0) return body;
  if (!isRecord(body) || !Array.isArray(body.value)) return body;
  const { access } = call.world;
  if ((await access.check(call.caller, action, id.text)).allowed) return body;
  const value: unknown[] = [];
  for (const item of body.value) {
    const itemId = isRecord(item) && typeof item.id === 'string' ? parseResourceId(item.id) : undefined;
    if (itemId?.ok && (await access.check(call.caller, action, itemId.id.text)).allowed) value.push(item);
  }
  return { ...body, value };
}

function answerOf(call: ArmCall, endpoint: Endpoint, answer: RemoteAnswer): Answer {
  const headers: { [name: string]: string } = {};
  for (const name of answered) {
    const given = answer.headers[name];
    const value = Array.isArray(given) ? given[0] : given;
    if (value !== undefined) headers[name] = links.has(name) ? rewriteLink(value, endpoint.url, call.origin) : value;
  }
  if (call.method === 'HEAD') return { status: answer.status === 200 ? 204 : answer.status, headers };
  const body = rewriteBody(answer.body, endpoint.url, call.origin);
  return body === undefined ? { status: answer.status, headers } : { status: answer.status, headers, body };
}
