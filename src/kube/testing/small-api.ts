// The least of an API server that informers, controllers and leader election need, with faults on demand.
import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import type { UntypedObject } from '../object.ts';
import { initialEventsEnd } from '../watch.ts';
import { failure, type ScriptedServer, type SeenRequest, scriptedServer, sendJson } from './scripted-server.ts';

export interface SmallApi {
  readonly server: ScriptedServer;
  /** Writes as somebody else would, without a request. `path` is that of the object. */
  put(path: string, object?: object): UntypedObject;
  remove(path: string): void;
  get(path: string): UntypedObject | undefined;
  /** Forgets the changes up to now: a watch from before gets 410. */
  compact(): void;
  /** Goes back to nothing, as a server restored from an old backup does; the version starts over. */
  reset(): void;
  /** Ends every watch in the middle of an event. */
  breakWatches(): void;
  /** Ends every watch as servers do after a while. */
  endWatches(): void;
  bookmark(): void;
  readonly watches: number;
  /** Answers this instead, for as long as it returns true. */
  intercept: ((request: SeenRequest, response: ServerResponse) => boolean) | undefined;
  streamingLists: boolean;
}

interface Change {
  readonly type: string;
  readonly collection: string;
  readonly object: UntypedObject;
  readonly version: number;
}

interface Watch {
  readonly collection: string;
  readonly response: ServerResponse;
}

export async function smallApi(t: TestContext): Promise<SmallApi> {
  const objects = new Map<string, UntypedObject>();
  let history: Change[] = [];
  let version = 100;
  let compacted = 0;
  let uid = 0;
  const watches = new Set<Watch>();

  const collectionOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
  /** `/api/v1/configmaps` has what `/api/v1/namespaces/n/configmaps` has. */
  const within = (collection: string, asked: string): boolean =>
    collection === asked || collection.replace(/\/namespaces\/[^/]+(?=\/)/, '') === asked;
  const send = (watch: Watch, type: string, object: object): void => {
    watch.response.write(`${JSON.stringify({ type, object })}\n`);
  };
  const isOpen = (watch: Watch): boolean => watches.has(watch);

  function change(type: string, path: string, object: UntypedObject): void {
    const one = { type, collection: collectionOf(path), object, version };
    history.push(one);
    for (const watch of watches) if (within(one.collection, watch.collection)) send(watch, type, object);
  }

  function put(path: string, given: object = {}): UntypedObject {
    const old = objects.get(path);
    const { metadata = {}, ...rest } = given as Partial<UntypedObject>;
    const namespace = /\/namespaces\/([^/]+)\/.+\//.exec(path)?.[1];
    version++;
    const object: UntypedObject = {
      ...rest,
      metadata: {
        ...metadata,
        name: path.slice(path.lastIndexOf('/') + 1),
        ...(namespace ? { namespace } : {}),
        uid: old?.metadata.uid ?? `uid-${++uid}`,
        resourceVersion: String(version),
      },
    };
    objects.set(path, object);
    change(old ? 'MODIFIED' : 'ADDED', path, object);
    return object;
  }

  function remove(path: string): void {
    const old = objects.get(path);
    if (!old) return;
    objects.delete(path);
    version++;
    change('DELETED', path, { ...old, metadata: { ...old.metadata, resourceVersion: String(version) } });
  }

  const listed = (collection: string): UntypedObject[] =>
    [...objects].filter(([path]) => within(collectionOf(path), collection)).map(([, object]) => object);

  function watch(request: SeenRequest, response: ServerResponse): void {
    const initial = request.query.get('sendInitialEvents') === 'true';
    const from = Number(request.query.get('resourceVersion') ?? 0);
    if (initial && !api.streamingLists) {
      sendJson(response, 422, failure(422, 'Invalid', 'sendInitialEvents is forbidden'));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    const one: Watch = { collection: request.path, response };
    if (!initial && (from < compacted || from > version)) {
      const code = from > version ? 504 : 410;
      const message = code === 410 ? `too old resource version: ${from}` : `Too large resource version: ${from}`;
      send(one, 'ERROR', failure(code, code === 410 ? 'Expired' : 'Timeout', message));
      response.end();
      return;
    }
    watches.add(one);
    response.once('close', () => watches.delete(one));
    if (initial) {
      for (const object of listed(request.path)) send(one, 'ADDED', object);
      const annotations = { [initialEventsEnd]: 'true' };
      send(one, 'BOOKMARK', { metadata: { resourceVersion: String(version), annotations } });
      return;
    }
    for (const each of history) {
      if (each.version > from && within(each.collection, request.path)) send(one, each.type, each.object);
    }
  }

  const notFound = (response: ServerResponse, path: string): void => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    sendJson(response, 404, failure(404, 'NotFound', `"${name}" not found`, { name }));
  };

  const server = await scriptedServer(t, (request, response) => {
    if (api.intercept?.(request, response)) return;
    const { path, method } = request;
    if (request.query.get('watch') === 'true') return watch(request, response);
    const old = objects.get(path);
    const body = request.body === '' ? undefined : (JSON.parse(request.body) as UntypedObject);
    if (method === 'POST' && body) {
      const target = `${path}/${body.metadata.name}`;
      if (objects.has(target)) return sendJson(response, 409, failure(409, 'AlreadyExists', 'already exists'));
      return sendJson(response, 201, put(target, body));
    }
    if (method === 'GET' && !old && /\/(configmaps|leases|deployments|things)$/.test(path)) {
      return sendJson(response, 200, { metadata: { resourceVersion: String(version) }, items: listed(path) });
    }
    if (!old) return notFound(response, path);
    if (method === 'GET') return sendJson(response, 200, old);
    const wanted = body?.metadata?.resourceVersion;
    if (wanted !== undefined && wanted !== old.metadata.resourceVersion) {
      return sendJson(response, 409, failure(409, 'Conflict', 'the object has been modified'));
    }
    if (method === 'PUT' && body) return sendJson(response, 200, put(path, body));
    if (method === 'PATCH' && body) {
      const metadata = { ...old.metadata, ...body.metadata };
      if (old.metadata.deletionTimestamp && metadata.finalizers?.length === 0) remove(path);
      else put(path, { ...old, ...body, metadata });
      return sendJson(response, 200, objects.get(path) ?? { kind: 'Status' });
    }
    remove(path);
    sendJson(response, 200, { kind: 'Status', status: 'Success' });
  });

  const api: SmallApi = {
    server,
    put,
    remove,
    get: (path) => objects.get(path),
    compact() {
      history = [];
      compacted = version + 1;
      version++;
    },
    reset() {
      objects.clear();
      history = [];
      version = 1;
      compacted = 0;
    },
    breakWatches() {
      for (const each of [...watches].filter(isOpen)) {
        each.response.write('{"type":"ADDED","object":{"metadata":{"name":"ha', () => each.response.destroy());
        watches.delete(each);
      }
    },
    endWatches() {
      for (const each of watches) each.response.end();
      watches.clear();
    },
    bookmark() {
      for (const each of watches) send(each, 'BOOKMARK', { metadata: { resourceVersion: String(version) } });
    },
    get watches() {
      return watches.size;
    },
    intercept: undefined,
    streamingLists: true,
  };
  return api;
}

/** Settles when `holds` is true, asking again and again; rejects when it never is, long after it should have been. */
export async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 20_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`never true: ${holds}`);
    await new Promise((next) => setTimeout(next, 5));
  }
}
