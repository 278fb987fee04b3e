// The Kubernetes client: plain JSON over HTTP, typed by the caller, nothing dropped.
import type { Logger } from '../kit/log.ts';
import type { Metrics } from '../kit/metrics.ts';
import { createCalls, type RawAnswer, type RawRequest } from './calls.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { isExpired, isNotFound } from './kube-error.ts';
import type { KubeList, KubeObject, ObjectKey } from './object.ts';
import { apiVersionOf, type PathParts, type ResourceRef, resourcePath, resourceText } from './resource.ts';
import { createRestMapper, type RestMapper } from './rest-mapper.ts';
import type { RetryOptions, Verb } from './retry.ts';
import { createTransport, type TransportOptions } from './transport.ts';
import { decodeWatch, type WatchEvent } from './watch.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** For the whole answer of one attempt; 60 unless given. */
  readonly timeoutSeconds?: number;
  readonly retry?: RetryOptions;
}

export interface Selection {
  /** All namespaces unless given. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface GetOptions extends CallOptions {
  readonly subresource?: string;
  readonly resourceVersion?: string;
}

export interface ListOptions extends CallOptions, Selection {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** Objects per request; 500 unless given, 0 for all in one. */
  readonly pageSize?: number;
}

export interface WatchOptions extends Selection {
  readonly signal?: AbortSignal;
  /** Where to start; without it the stream begins with what there is. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan';
  readonly allowBookmarks?: boolean;
  /** Asks for a list by way of the stream, ended by a bookmark with the annotation `k8s.io/initial-events-end`. */
  readonly sendInitialEvents?: boolean;
  /** After this the server ends the stream by itself. */
  readonly timeoutSeconds?: number;
  /** A stream that is silent for this long is taken for dead; no limit unless given. */
  readonly silenceSeconds?: number;
  /** Called when the server has accepted the watch, which may be long before its first event. */
  readonly opened?: () => void;
}

export interface WriteOptions extends CallOptions {
  readonly subresource?: string;
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
}

export interface ApplyOptions extends WriteOptions {
  /** Who owns the fields that are applied: one stable name per controller. */
  readonly fieldManager: string;
  /** Takes fields over from other managers instead of failing with a conflict. A controller that owns the object does. */
  readonly force?: boolean;
}

export type PatchType = 'json' | 'merge' | 'strategic';

export interface DeleteOptions extends CallOptions {
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  /** Deletes only this very object. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
}

/**
 * A client of one API server. Objects are what the server sent, parsed and otherwise untouched, so that reading, changing and
 * writing an object keeps every field that this program does not know. Every method throws KubeError when the server refuses,
 * KubeConnectionError when there was no whole answer, and the signal's reason when the caller gave up.
 *
 * Requests that can be repeated safely are, a few times, when the server is overloaded or cannot be reached (retry.ts).
 */
export interface KubeClient {
  get<T extends KubeObject>(ref: ResourceRef<T>, key: ObjectKey, options?: GetOptions): Promise<T>;
  /** As {@link get}; undefined where the server says 404. */
  find<T extends KubeObject>(ref: ResourceRef<T>, key: ObjectKey, options?: GetOptions): Promise<T | undefined>;
  /** Everything that is selected, fetched page by page as of one version. */
  list<T extends KubeObject>(ref: ResourceRef<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** The same, one page at a time. A page may fail with 410 when reading them takes longer than the server keeps versions. */
  pages<T extends KubeObject>(ref: ResourceRef<T>, options?: ListOptions): AsyncIterable<KubeList<T>>;
  /** One watch: it ends when the server ends it. To follow a resource for as long as it takes, use an informer. */
  watch<T extends KubeObject>(ref: ResourceRef<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(ref: ResourceRef<T>, object: T, options?: WriteOptions): Promise<T>;
  /** Writes the whole object. With `metadata.resourceVersion`, only when nobody has changed it since. */
  replace<T extends KubeObject>(ref: ResourceRef<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(
    ref: ResourceRef<T>,
    key: ObjectKey,
    type: PatchType,
    patch: unknown,
    options?: WriteOptions,
  ): Promise<T>;
  /**
   * Server-side apply, the usual way to write: the object holds exactly the fields that `fieldManager` wants to decide; the
   * server merges them, and removes those that this manager applied before and does not apply any more.
   */
  apply<T extends KubeObject>(ref: ResourceRef<T>, object: Applied<T>, options: ApplyOptions): Promise<T>;
  /** The object as it is while it waits for finalizers, or undefined when it is gone. */
  delete<T extends KubeObject>(ref: ResourceRef<T>, key: ObjectKey, options?: DeleteOptions): Promise<T | undefined>;
  deleteCollection<T extends KubeObject>(ref: ResourceRef<T>, options?: DeleteOptions & Selection): Promise<void>;
  /** Any other path, such as `/version`, or a subresource with a body of its own kind. */
  raw(request: RawRequest): Promise<RawAnswer>;
  /** Finds resources that are known only by kind. */
  readonly mapper: RestMapper;
  readonly access: ClusterAccess;
  /** Ends requests and watches under way. */
  close(): Promise<void>;
}

/** An object to apply: named, and otherwise only as much of it as is to be decided. */
export type Applied<T extends KubeObject> = Partial<Omit<T, 'metadata'>> & {
  readonly metadata: T['metadata'] & { readonly name: string };
};

export interface ClientOptions extends TransportOptions {
  readonly access: ClusterAccess;
  /** Names the program in the server's audit log: `aro/0.1 (hypershift-operator)`. */
  readonly userAgent: string;
  readonly metrics?: Metrics;
  /** Gets the server's warnings, each text once. */
  readonly logger?: Logger;
  readonly retry?: RetryOptions;
}

const defaultPageSize = 500;

const patchMedia: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

export function createClient(options: ClientOptions): KubeClient {
  const { access } = options;
  const transport = createTransport(access, options);
  const calls = createCalls(transport, options);

  const address = (verb: Verb, ref: ResourceRef<KubeObject>, parts: PathParts, query: Query = {}) => ({
    verb,
    path: resourcePath(ref, parts) + queryText(query),
    resource: parts.subresource ? `${resourceText(ref)}/${parts.subresource}` : resourceText(ref),
  });

  const get: KubeClient['get'] = (ref, key, more = {}) =>
    calls.json({
      ...address('get', ref, { ...key, ...subresourceOf(more) }, { resourceVersion: more.resourceVersion }),
      method: 'GET',
      options: more,
    });

  async function* pages<T extends KubeObject>(
    ref: ResourceRef<T>,
    more: ListOptions = {},
  ): AsyncGenerator<KubeList<T>> {
    const { pageSize = defaultPageSize } = more;
    let token: string | undefined;
    do {
      const query: Query = {
        ...selectionQuery(more),
        // A continue token already stands for a version.
        ...(token === undefined
          ? { resourceVersion: more.resourceVersion, resourceVersionMatch: more.resourceVersionMatch }
          : { continue: token }),
        limit: pageSize > 0 ? String(pageSize) : undefined,
      };
      const page = await calls.json<KubeList<T>>({
        ...address('list', ref, { ...namespaceOf(more) }, query),
        method: 'GET',
        options: more,
      });
      for (const item of page.items ?? []) named(item, ref);
      yield page.items ? page : { ...page, items: [] };
      token = page.metadata.continue || undefined;
    } while (token !== undefined);
  }

  async function list<T extends KubeObject>(ref: ResourceRef<T>, more: ListOptions = {}): Promise<KubeList<T>> {
    const items: T[] = [];
    try {
      let first: KubeList<T> | undefined;
      for await (const page of pages(ref, more)) {
        first ??= page;
        for (const item of page.items) items.push(item);
      }
      const { continue: _, remainingItemCount: __, ...metadata } = first?.metadata ?? {};
      return { apiVersion: apiVersionOf(ref), kind: `${ref.kind}List`, ...first, metadata, items };
    } catch (error) {
      // The version of the first page is no longer kept: only a list in one piece is sure to get through.
      if (!isExpired(error) || items.length === 0 || more.pageSize === 0) throw error;
      return list(ref, { ...more, pageSize: 0 });
    }
  }

  async function* watch<T extends KubeObject>(
    ref: ResourceRef<T>,
    more: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    const query: Query = {
      watch: 'true',
      ...selectionQuery(more),
      resourceVersion: more.resourceVersion,
      resourceVersionMatch: more.resourceVersionMatch,
      allowWatchBookmarks: more.allowBookmarks ? 'true' : undefined,
      sendInitialEvents: more.sendInitialEvents ? 'true' : undefined,
      timeoutSeconds: more.timeoutSeconds === undefined ? undefined : String(more.timeoutSeconds),
    };
    const body = await calls.stream({
      ...address('watch', ref, { ...namespaceOf(more) }, query),
      ...(more.signal ? { signal: more.signal } : {}),
      silenceMs: (more.silenceSeconds ?? 0) * 1000,
    });
    more.opened?.();
    yield* decodeWatch<T>(body);
  }

  const write = <T extends KubeObject>(
    verb: Verb,
    method: 'POST' | 'PUT' | 'PATCH',
    ref: ResourceRef<T>,
    parts: PathParts,
    body: unknown,
    more: WriteOptions,
    extra: { readonly media?: string; readonly query?: Query } = {},
  ): Promise<T> =>
    calls.json({
      ...address(verb, ref, { ...parts, ...subresourceOf(more) }, { ...writeQuery(more), ...extra.query }),
      method,
      body,
      media: extra.media ?? 'application/json',
      options: more,
    });

  const remove = (more: DeleteOptions): unknown => ({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: more.propagationPolicy,
    gracePeriodSeconds: more.gracePeriodSeconds,
    preconditions: more.preconditions,
    dryRun: more.dryRun ? ['All'] : undefined,
  });

  return {
    access,
    mapper: createRestMapper((path) =>
      calls.json({ verb: 'get', path, resource: 'discovery', method: 'GET', options: {} }),
    ),
    get,
    async find(ref, key, more) {
      try {
        return await get(ref, key, more);
      } catch (error) {
        if (isMissing(error, key)) return undefined;
        throw error;
      }
    },
    list,
    pages,
    watch,
    create: (ref, object, more = {}) =>
      write('create', 'POST', ref, createParts(ref, object, more), typed(object, ref), more),
    replace: (ref, object, more = {}) => write('replace', 'PUT', ref, partsOf(object), typed(object, ref), more),
    patch: (ref, key, type, patch, more = {}) =>
      write('patch', 'PATCH', ref, key, patch, more, { media: patchMedia[type] }),
    apply: (ref, object, more) =>
      write('apply', 'PATCH', ref, partsOf(object), typed(object, ref), more, {
        media: 'application/apply-patch+yaml',
        query: { force: more.force ? 'true' : undefined },
      }),
    async delete<T extends KubeObject>(ref: ResourceRef<T>, key: ObjectKey, more: DeleteOptions = {}) {
      const left = await calls.json<T>({
        ...address('delete', ref, key),
        method: 'DELETE',
        body: remove(more),
        media: 'application/json',
        options: more,
      });
      return left.kind === 'Status' ? undefined : left;
    },
    async deleteCollection(ref, more = {}) {
      await calls.json({
        ...address('deletecollection', ref, { ...namespaceOf(more) }, selectionQuery(more)),
        method: 'DELETE',
        body: remove(more),
        media: 'application/json',
        options: more,
      });
    },
    raw: calls.raw,
    close: () => transport.close(),
  };
}

type Query = Readonly<Record<string, string | undefined>>;

function queryText(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

const selectionQuery = ({ labelSelector, fieldSelector }: Selection): Query => ({
  labelSelector: labelSelector || undefined,
  fieldSelector: fieldSelector || undefined,
});

const writeQuery = ({ fieldManager, dryRun, fieldValidation }: WriteOptions): Query => ({
  fieldManager,
  dryRun: dryRun ? 'All' : undefined,
  fieldValidation,
});

const subresourceOf = ({ subresource }: { readonly subresource?: string }): { readonly subresource?: string } =>
  subresource === undefined ? {} : { subresource };

const namespaceOf = ({ namespace }: Selection): { readonly namespace?: string } =>
  namespace === undefined ? {} : { namespace };

function partsOf(object: { readonly metadata: KubeObject['metadata'] }): PathParts {
  const { namespace, name = '' } = object.metadata;
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

/** An object is created in its collection; one with a subresource already has a name. */
function createParts(ref: ResourceRef<KubeObject>, object: KubeObject, more: WriteOptions): PathParts {
  if (more.subresource !== undefined) return partsOf(object);
  const { namespace } = object.metadata;
  if (ref.namespaced && !namespace) throw new TypeError(`${resourceText(ref)}: an object to create needs a namespace`);
  return namespace ? { namespace } : {};
}

/** Lists of built-in types leave kind and version out of the items; a program would otherwise have to know where each came from. */
function named(object: KubeObject, ref: ResourceRef<KubeObject>): void {
  object.apiVersion ??= apiVersionOf(ref);
  object.kind ??= ref.kind;
}

function typed<T extends object>(object: T, ref: ResourceRef<KubeObject>): T {
  return { apiVersion: apiVersionOf(ref), kind: ref.kind, ...object };
}

/** A 404 for the object, not for the resource as a whole: that a CRD is not installed is not an answer about one object. */
function isMissing(error: unknown, key: ObjectKey): boolean {
  return isNotFound(error) && error.details.name === key.name;
}
