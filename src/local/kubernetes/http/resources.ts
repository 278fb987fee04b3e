// Requests about resources: which type and verb they mean, and the answer the registry gives.
import type { User } from '../access/user.ts';
import type { HostedCluster } from '../clusters.ts';
import type { KubeObject } from '../object.ts';
import type { Entry } from '../objects/objects.ts';
import { decode, reportComplaints } from '../registry/decode.ts';
import { scaleOf } from '../registry/scale.ts';
import { readObject } from '../registry/served.ts';
import { answersDeleteWithObject } from '../registry/write-rules.ts';
import { decodeBuiltin } from '../schema/decode.ts';
import { depthOf, recursiveDepth, refuseDeep } from '../schema/depth.ts';
import { notFound, StatusError } from '../status.ts';
import type { ResourceType, Subresource, Verb } from '../types/resource-type.ts';
import { bodyFormat, bodyLimit, patchFormat, readObjectBody, readPatchBody } from './body.ts';
import { contextOf } from './context.ts';
import { type Exchange, headerOf } from './exchange.ts';
import { type Form, jsonForm, negotiate } from './negotiate.ts';
import { deleteRequest, integer, listQuery, type WriteOptions, watchQuery, writeOptions } from './options.ts';
import type { RequestInfo } from './request-info.ts';
import { type Sending, sendBytes, sendJsonBytes, sendObject, streamHeaders } from './respond.ts';
import type { ActionHandler, Answer, Extensions } from './routes.ts';
import { includeObject, type Shaping, shapedList, shapedObject, shapedRelated } from './shapes.ts';
import { sendStream, upgradeTo } from './streams.ts';
import type { Warnings } from './warnings.ts';
import { watchStream } from './watch-stream.ts';

export interface ResourceRequest {
  readonly exchange: Exchange;
  readonly cluster: HostedCluster;
  readonly user: User;
  readonly info: RequestInfo;
  readonly warnings: Warnings;
  readonly sending: Sending;
  readonly extensions: Extensions;
  /** Fires when the server stops: watches end so that clients go elsewhere. */
  readonly stopping: AbortSignal;
}

const notServed = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
const notAllowed = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

/** Which verbs a path has, whatever the method; undefined where there is no such path. */
function pathVerbs(
  type: ResourceType,
  { namespace, name, subresource, tooDeep }: RequestInfo,
): readonly Verb[] | undefined {
  if (tooDeep) return undefined;
  const everywhere = type.namespaced && namespace === '';
  const isNamespace = type.plural === 'namespaces' && type.group === '';
  const misplaced = !type.namespaced && namespace !== '' && !(isNamespace && namespace === name);
  if (misplaced || (everywhere && name !== '')) return undefined;
  if (subresource !== '') return subresourceVerbs(type.subresources[subresource]);
  const collection: readonly Verb[] = everywhere ? ['list', 'watch'] : ['create', 'list', 'watch', 'deletecollection'];
  const own: readonly Verb[] = name === '' ? collection : ['get', 'update', 'patch', 'delete', 'watch'];
  return own.filter((verb) => type.verbs.includes(verb));
}

function subresourceVerbs(subresource: Subresource | undefined): readonly Verb[] | undefined {
  if (!subresource) return undefined;
  if (subresource.kind === 'action') return subresource.verbs;
  return (subresource.kind === 'status' ? subresource.verbs : undefined) ?? ['get', 'update', 'patch'];
}

/** The type and verb of a request. Undefined when no type of that group is served at all. */
function route(
  cluster: HostedCluster,
  info: RequestInfo,
  method: string,
): { type: ResourceType; verb: Verb } | undefined {
  const type = cluster.types.find(info.group, info.version, info.resource);
  if (!type) {
    if (cluster.hasBuiltinGroup(info.group)) throw notServed();
    return undefined;
  }
  const verbs = pathVerbs(type, info);
  if (!verbs) {
    // A custom resource may have these; one that has not answers as if the object had not been found.
    if (type.custom && (info.subresource === 'status' || info.subresource === 'scale')) {
      throw notFound({ group: type.group, resource: type.plural }, info.name);
    }
    if (type.custom) return undefined;
    throw notServed();
  }
  const verb = info.verb as Verb;
  if (method === 'HEAD' || !verbs.includes(verb)) throw notAllowed();
  return { type, verb };
}

/** Answers a request about resources; false when there is nothing at its path. */
export async function serveResource(request: ResourceRequest): Promise<boolean> {
  const { exchange, cluster, info, extensions } = request;
  const found = route(cluster, info, exchange.method);
  if (!found) return false;
  const { type, verb } = found;
  if (type.deprecation !== undefined) request.warnings.add(type.deprecation);
  const subresource = info.subresource === '' ? undefined : type.subresources[info.subresource];
  const key = `${type.group}/${type.plural}${info.subresource === '' ? '' : `/${info.subresource}`}`;
  const action = extensions.actions.get(key);
  if (action) await act(request, type, subresource, action);
  else if (subresource?.kind === 'action') throw notServed();
  else await verbs[verb](request, type, subresource);
  return true;
}

const placeOf = (type: ResourceType, { namespace, name }: RequestInfo) => ({
  namespace: type.namespaced ? namespace : '',
  name,
});

function shapingOf({ exchange, cluster, info, extensions }: ResourceRequest, watch = false): Shaping {
  const isList = info.name === '' && info.verb !== 'create';
  const form = negotiate(exchange.headers.accept, watch ? 'watch' : isList ? 'list' : 'object');
  return {
    form,
    table: extensions.table,
    includeObject: form.shape === 'Table' ? includeObject(info.query) : 'Metadata',
    now: form.shape === 'Table' ? cluster.now() : 0,
  };
}

function sendEntry(
  { sending }: ResourceRequest,
  shaping: Shaping,
  type: ResourceType,
  subresource: Subresource | undefined,
  entry: Entry,
  status: number,
): void {
  if (subresource?.kind === 'scale') {
    const scale = scaleOf(subresource, readObject(type, entry));
    sendObject(sending, status, shapedRelated(shaping, type, scale), shaping.form);
  } else sendJsonBytes(sending, status, shapedObject(shaping, type, entry), shaping.form);
}

const plain = (form: Form): Form => ({ ...form, shape: 'object' });

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

type Serve = (
  request: ResourceRequest,
  type: ResourceType,
  subresource: Subresource | undefined,
) => void | Promise<void>;

/** Reads the object that a create or update sends, and says what is wrong with its fields. */
async function readObjectOf(
  request: ResourceRequest,
  type: ResourceType,
  subresource: Subresource | undefined,
  options: WriteOptions,
): Promise<{ object: KubeObject; context: ReturnType<typeof contextOf> }> {
  const { exchange, cluster, user, warnings } = request;
  const format = bodyFormat(exchange.headers['content-type']);
  const bytes = await exchange.body(bodyLimit);
  const context = contextOf(exchange, cluster, user, warnings, options);
  if (subresource?.kind === 'scale') {
    const { body } = await readObjectBody(bytes, format, scaleKind, false, cluster.name);
    return { object: decodeBuiltin('autoscaling', 'v1', 'Scale', body).object, context };
  }
  const { body, duplicates, depth } = await readObjectBody(
    bytes,
    format,
    type,
    type.custom !== undefined,
    cluster.name,
  );
  const { object, complaints } = decode(type, body, duplicates);
  if (depth > recursiveDepth) refuseDeep(depthOf(object));
  reportComplaints(context, type, complaints);
  return { object, context };
}

const verbs: Readonly<Record<Verb, Serve>> = {
  async get(request, type, subresource) {
    const shaping = shapingOf(request);
    const { exchange, cluster, user, warnings, info } = request;
    const context = contextOf(exchange, cluster, user, warnings);
    const version = info.query.get('resourceVersion') ?? undefined;
    const entry = cluster.registry.get(context, type, placeOf(type, info), version);
    if (type.convert?.ready) await type.convert.ready([entry]);
    sendEntry(request, shaping, type, subresource, entry, 200);
  },

  async list(request, type) {
    const shaping = shapingOf(request);
    const { exchange, cluster, user, warnings, info, sending } = request;
    const query = listQuery(info.query, type.namespaced ? info.namespace : '');
    const found = cluster.registry.list(contextOf(exchange, cluster, user, warnings), type, query);
    if (type.convert?.ready) await type.convert.ready(found.entries);
    sendJsonBytes(sending, 200, shapedList(shaping, type, found), shaping.form);
  },

  watch: serveWatch,

  async create(request, type) {
    const options = writeOptions(request.info.query, 'CreateOptions');
    const shaping = shapingOf(request);
    const { object, context } = await readObjectOf(request, type, undefined, options);
    const { entry } = await request.cluster.registry.create(context, type, request.info.namespace, object);
    sendEntry(request, shaping, type, undefined, entry, 201);
  },

  async update(request, type, subresource) {
    const options = writeOptions(request.info.query, 'UpdateOptions');
    const shaping = shapingOf(request);
    const { object, context } = await readObjectOf(request, type, subresource, options);
    const { info, cluster } = request;
    const written = await cluster.registry.update(context, type, placeOf(type, info), object, info.subresource);
    sendEntry(request, shaping, type, subresource, written.entry, written.created ? 201 : 200);
  },

  async patch(request, type, subresource) {
    const { exchange, cluster, user, warnings, info } = request;
    const format = patchFormat(exchange.headers['content-type'], type);
    const options = writeOptions(info.query, 'PatchOptions', format === 'apply');
    const shaping = shapingOf(request);
    const bytes = await exchange.body(bodyLimit);
    const { value, duplicates } = await readPatchBody(bytes, format, cluster.name);
    const context = contextOf(exchange, cluster, user, warnings, options);
    const patch = { type: format, body: value, duplicates, force: options.force ?? false };
    const written = await cluster.registry.patch(context, type, placeOf(type, info), patch, info.subresource);
    sendEntry(request, shaping, type, subresource, written.entry, written.created ? 201 : 200);
  },

  async delete(request, type) {
    const { exchange, cluster, user, warnings, info, sending } = request;
    const shaping = shapingOf(request);
    const { options, dryRun } = await readDelete(request);
    const context = contextOf(exchange, cluster, user, warnings, {
      dryRun,
      fieldManager: undefined,
      fieldValidation: 'Warn',
    });
    const { entry, gone } = await cluster.registry.delete(context, type, placeOf(type, info), options);
    if (type.convert?.ready) await type.convert.ready([entry]);
    if (!gone || answersDeleteWithObject(type)) {
      sendEntry(request, shaping, type, undefined, entry, 200);
      return;
    }
    const { name, uid } = entry;
    const details = { name, ...(type.group ? { group: type.group } : {}), kind: type.plural, uid };
    sendObject(
      sending,
      200,
      { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details },
      plain(shaping.form),
    );
  },

  async deletecollection(request, type) {
    const { exchange, cluster, user, warnings, info, sending } = request;
    const shaping = shapingOf(request);
    const query = listQuery(info.query, type.namespaced ? info.namespace : '');
    const { options, dryRun } = await readDelete(request);
    const context = contextOf(exchange, cluster, user, warnings, {
      dryRun,
      fieldManager: undefined,
      fieldValidation: 'Warn',
    });
    const found = await cluster.registry.deleteCollection(context, type, query, options);
    if (type.convert?.ready) await type.convert.ready(found.entries);
    sendJsonBytes(sending, 200, shapedList(shaping, type, found), shaping.form);
  },
};

async function readDelete({ exchange, info, cluster }: ResourceRequest): ReturnType<typeof deleteRequest> {
  const bytes = await exchange.body(bodyLimit);
  const format = bytes.length > 0 ? bodyFormat(exchange.headers['content-type']) : undefined;
  return deleteRequest(info.query, bytes, format, cluster.name);
}

/** A watch that names no time ends after 30 to 60 minutes, at random, so that clients do not all come back at once. */
const leastWatchSeconds = 1800;

function serveWatch(request: ResourceRequest, type: ResourceType): void {
  const { exchange, cluster, user, warnings, info, sending, stopping } = request;
  const shaping = shapingOf(request, true);
  const asked = integer(info.query, 'timeoutSeconds');
  const query = watchQuery(info.query, type.namespaced ? info.namespace : '');
  const named = info.name === '' ? query : { ...query, fieldSelector: `metadata.name=${info.name}` };
  const context = contextOf(exchange, cluster, user, warnings);

  // Options that are wrong are refused before the stream begins; what the history cannot give is told in it.
  const pending: (() => void)[] = [];
  const listed: Entry[] = [];
  let sink: ReturnType<typeof watchStream> | undefined;
  let stop: () => void = () => {};
  let failure: StatusError | undefined;
  // Where a webhook converts, events wait for it, each behind the one before.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = (entries: readonly Entry[], send: () => void): void => {
    const ready = type.convert?.ready;
    if (!ready) send();
    else turn = turn.then(() => ready(entries)).then(send, (error: unknown) => breakOff(error));
  };
  try {
    stop = cluster.registry.watch(context, type, named, {
      event(change, initial) {
        const send = (): void => sink?.event(change, initial);
        if (sink) inTurn([change.entry], send);
        else {
          if (type.convert?.ready) listed.push(change.entry);
          pending.push(send);
        }
      },
      bookmark(revision, end) {
        const send = (): void => sink?.bookmark(revision, end);
        if (sink) inTurn([], send);
        else pending.push(send);
      },
    });
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 410) throw error;
    failure = error;
  }
  let over = false;
  const finish = (): void => {
    if (over) return;
    over = true;
    stop();
    clearTimeout(timer);
    stopping.removeEventListener('abort', end);
  };
  const end = (): void => {
    finish();
    sink?.end();
  };
  const breakOff = (error: unknown): void => {
    finish();
    if (error instanceof StatusError) sink?.fail(error.status);
    else sink?.end();
  };
  const seconds = asked !== undefined && asked > 0 ? asked : leastWatchSeconds * (1 + Math.random());
  const timer = setTimeout(end, seconds * 1000);
  const started = watchStream(exchange.stream(200, streamHeaders(sending)), type, shaping, finish);
  sink = started;
  exchange.onClose(finish);
  stopping.addEventListener('abort', end);
  if (failure) {
    finish();
    started.fail(failure.status);
    return;
  }
  inTurn(listed, () => {
    for (const each of pending) each();
  });
  if (stopping.aborted) end();
}

/** Subresources that open a connection, whatever the method: their options are in the query and there is no body. */
const connecting: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy']);

async function act(
  request: ResourceRequest,
  type: ResourceType,
  subresource: Subresource | undefined,
  action: ActionHandler,
): Promise<void> {
  const { exchange, cluster, user, warnings, info, sending, stopping } = request;
  const writes = !connecting.has(info.subresource) && (info.verb === 'create' || info.verb === 'update');
  const options = writes
    ? writeOptions(info.query, info.verb === 'create' ? 'CreateOptions' : 'UpdateOptions')
    : undefined;
  const context = contextOf(exchange, cluster, user, warnings, options);
  let object: KubeObject | undefined;
  if (writes) {
    const format = bodyFormat(exchange.headers['content-type']);
    const kind = subresource?.kind === 'action' ? subresource.request : type;
    const bytes = await exchange.body(bodyLimit);
    const { body, duplicates } = await readObjectBody(bytes, format, kind, false, cluster.name);
    const read = decodeBuiltin(kind.group, kind.version, kind.kind, body);
    const complaints = [...duplicates, ...read.unknown.map((path) => `unknown field "${path}"`)];
    reportComplaints(context, kind, complaints);
    object = read.object;
  }
  const answer = await action({
    context,
    cluster,
    type,
    subresource: info.subresource,
    verb: info.verb,
    namespace: type.namespaced ? info.namespace : '',
    name: info.name,
    query: info.query,
    object,
    header: (name) => headerOf(exchange, name),
  });
  if ('upgrade' in answer) upgradeTo(exchange, answer, stopping);
  else if ('stream' in answer) await sendStream(sending, answer, stopping);
  else sendAnswer(sending, answer, negotiateOr(exchange));
}

function negotiateOr(exchange: Exchange): Form {
  const form = negotiate(exchange.headers.accept);
  return form.shape === 'object' ? form : { ...jsonForm, media: form.media };
}

/** Sends what an extension answered. */
export function sendAnswer(sending: Sending, answer: Answer, form: Form): void {
  const { status, body, contentType, headers } = answer;
  if (body === undefined) {
    sending.exchange.answer(status, { 'audit-id': sending.auditId, ...headers }, undefined);
    return;
  }
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    sendBytes(sending, status, bytes, contentType ?? 'text/plain; charset=utf-8', headers);
  } else sendObject(sending, status, body, form);
}
