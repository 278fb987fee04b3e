// The store over any engine. Everything that is the same for all databases happens here, once: checks, etags, sealing,
// unknown fields, continuations, the feed's waiting. Engines move texts.
import { setTimeout } from 'node:timers/promises';
import type { KeyRing } from '../kit/key-ring.ts';
import { type Codec, codec, decodeAll, type Encoded } from './codec.ts';
import { type Continuations, continuations, packCursor, queryBinding, unpackCursor } from './continuation.ts';
import type { Engine, EngineContainer, EngineQuery, Limits, Write } from './engine.ts';
import { isStoreError, StoreError } from './errors.ts';
import { revisionOf } from './etag.ts';
import { feedOf } from './feed.ts';
import { checkFilter, checkOrder, type Searchable } from './filter-check.ts';
import { bytesWithin } from './json.ts';
import { checkKey, checkKeyPart, typeName } from './keys.ts';
import { fenceOf, leasesOf } from './leases.ts';
import { isObject } from './paths.ts';
import { resealAll } from './reseal.ts';
import { checkTtl, layoutOf } from './spec.ts';
import type { Container, ContainerSpec, Document, Operation, Query, Store, Version, WriteOptions } from './store.ts';

const defaultPage = 100;
const largestPage = 1000;
const updateAttempts = 50;
const longestUpdateWaitMs = 100;

/** Makes a store of an engine, which it closes when it is closed. Containers with sealed paths need the key ring. */
export function documentStore(engine: Engine, options: { readonly keyRing?: KeyRing } = {}): Store {
  const tokens = continuations(engine);
  const closeListeners = new Set<() => void>();
  let closing: Promise<void> | undefined;
  const alive = (): void => {
    if (closing) throw new StoreError('Closed', 'the store was closed');
  };

  return {
    async container<T extends object>(spec: ContainerSpec<T>) {
      alive();
      const layout = layoutOf(spec, options.keyRing !== undefined);
      const bodies = codec(spec, options.keyRing);
      return containerOf({
        spec,
        bodies,
        alive,
        continuations: tokens,
        limits: engine.limits,
        engine: await engine.open(layout),
        now: () => engine.now(),
        onClose(closed) {
          closeListeners.add(closed);
          return () => closeListeners.delete(closed);
        },
      });
    },
    async now() {
      alive();
      return engine.now();
    },
    async ping() {
      alive();
      await engine.ping();
    },
    close() {
      if (!closing) {
        closing = engine.close();
        for (const closed of [...closeListeners]) closed();
      }
      return closing;
    },
  };
}

interface Parts<T> {
  readonly spec: ContainerSpec<T>;
  readonly bodies: Codec<T>;
  readonly engine: EngineContainer;
  readonly limits: Limits;
  readonly continuations: Continuations;
  now(): Promise<number>;
  alive(): void;
  onClose(closed: () => void): () => void;
}

/** A write on its way to the engine, with what its answer is made of. */
interface Prepared<T> {
  readonly write: Write;
  readonly bytes: number;
  readonly body?: T;
  readonly json?: string;
  readonly ttlSeconds?: number;
}

function containerOf<T extends object>(parts: Parts<T>): Container<T> {
  const { spec, bodies, engine, limits, alive } = parts;
  const { name } = spec;
  const searchable: Searchable = { name, labels: spec.labels !== undefined, sealed: spec.sealed ?? [] };

  const sized = ({ json }: Encoded, id: string, operation: number | undefined): number => {
    const bytes = bytesWithin(json, limits.documentBytes);
    if (bytes > limits.documentBytes)
      throw new StoreError(
        'TooLarge',
        `container ${name}: document ${id} is ${bytes} bytes of JSON, the most is ${limits.documentBytes}`,
        operation === undefined ? {} : { operation },
      );
    return bytes;
  };
  const ttlOf = (given: number | null | undefined): number | undefined => {
    if (given === undefined) return spec.ttlSeconds;
    if (given === null) return undefined;
    checkTtl('ttlSeconds', given);
    return given;
  };

  const prepareCreate = (
    partition: string,
    { id, body, ttlSeconds }: Pick<Operation<T> & { kind: 'create' }, 'id' | 'body' | 'ttlSeconds'>,
    operation?: number,
  ): Prepared<T> => {
    checkKeyPart('id', id);
    const encoded = bodies.encode({ partition, id }, body);
    const ttl = ttlOf(ttlSeconds);
    return {
      write: { kind: 'create', id, ...textOf(encoded, ttl) },
      bytes: sized(encoded, id, operation),
      body,
      json: encoded.json,
      ...(ttl === undefined ? {} : { ttlSeconds: ttl }),
    };
  };

  const prepareReplace = async (
    { version, body, ttlSeconds }: Pick<Operation<T> & { kind: 'replace' }, 'version' | 'body' | 'ttlSeconds'>,
    operation?: number,
  ): Promise<Prepared<T>> => {
    const revision = revisionOf(version, operation);
    const stored = bodies.carries ? (bodies.storedText(version) ?? (await textBefore(version, revision))) : undefined;
    const encoded = bodies.encode(version, body, stored);
    const ttl = ttlOf(ttlSeconds);
    return {
      write: { kind: 'replace', id: version.id, revision, ...textOf(encoded, ttl) },
      bytes: sized(encoded, version.id, operation),
      body,
      json: encoded.json,
      ...(ttl === undefined ? {} : { ttlSeconds: ttl }),
    };
  };

  /** A version that came another way than by a read of this store, such as from an If-Match header. */
  const textBefore = async ({ partition, id }: Version, revision: number): Promise<string | undefined> => {
    const row = await engine.read(partition, id);
    return row?.revision === revision ? row.json : undefined;
  };

  const commit = async (
    partition: string,
    prepared: readonly Prepared<T>[],
    lease: WriteOptions['lease'],
  ): Promise<(Document<T> | undefined)[]> => {
    const fence = lease === undefined ? undefined : fenceOf(name, partition, lease);
    // Taken before the write, so a document written here is said to expire no later than it does.
    const now = prepared.some(({ ttlSeconds }) => ttlSeconds !== undefined) ? await parts.now() : 0;
    const revisions = await engine.write(
      partition,
      prepared.map(({ write }) => write),
      fence,
    );
    return prepared.map(({ write: { id }, body, json, ttlSeconds }, at) => {
      const revision = revisions[at];
      if (body === undefined || json === undefined || revision === undefined) return undefined;
      const expiresAt = ttlSeconds === undefined ? undefined : now + ttlSeconds * 1000;
      return bodies.written({ partition, id }, revision, body, json, expiresAt);
    });
  };

  const single = async (
    partition: string,
    prepared: Prepared<T>,
    lease: WriteOptions['lease'],
  ): Promise<Document<T>> => {
    const [document] = await commit(partition, [prepared], lease);
    if (!document) throw new Error(`container ${name}: the engine gave no revision for a write`);
    return document;
  };

  const prepareOperation = (
    partition: string,
    operation: Operation<T>,
    at: number,
  ): Prepared<T> | Promise<Prepared<T>> => {
    if (!isObject(operation)) throw new StoreError('Invalid', `operation ${at} must be an object`, { operation: at });
    if (operation.kind === 'create') return prepareCreate(partition, operation, at);
    const { version } = operation;
    const revision = revisionOf(version, at);
    if (version.partition !== partition)
      throw new StoreError(
        'Invalid',
        `operation ${at} is on partition ${version.partition}, the batch on ${partition}: a batch is of one partition`,
        { operation: at },
      );
    switch (operation.kind) {
      case 'replace':
        return prepareReplace(operation, at);
      case 'delete':
      case 'check':
        return { write: { kind: operation.kind, id: version.id, revision }, bytes: 0 };
      default:
        throw new StoreError('Invalid', `operation ${at} must be a create, replace, delete or check`, {
          operation: at,
        });
    }
  };

  const container: Container<T> = {
    name,
    async create(key, body, options = {}) {
      alive();
      checkKey(key);
      const ttl = options.ttlSeconds;
      const prepared = prepareCreate(key.partition, {
        id: key.id,
        body,
        ...(ttl === undefined ? {} : { ttlSeconds: ttl }),
      });
      return single(key.partition, prepared, options.lease);
    },
    async read(key) {
      alive();
      checkKey(key);
      const row = await engine.read(key.partition, key.id);
      return row && bodies.decode(row);
    },
    async replace(version, body, options = {}) {
      alive();
      const ttl = options.ttlSeconds;
      const prepared = await prepareReplace({ version, body, ...(ttl === undefined ? {} : { ttlSeconds: ttl }) });
      return single(version.partition, prepared, options.lease);
    },
    async delete(version, options = {}) {
      alive();
      const revision = revisionOf(version);
      await commit(
        version.partition,
        [{ write: { kind: 'delete', id: version.id, revision }, bytes: 0 }],
        options.lease,
      );
    },
    async update(key, change, options) {
      for (let attempt = 1; ; attempt++) {
        const document = await container.read(key);
        if (!document) throw new StoreError('NotFound', `container ${name} has no document ${key.partition}/${key.id}`);
        const body = change(document.body);
        if (body === undefined) return document;
        try {
          return await container.replace(document, body, options);
        } catch (error) {
          if (!isStoreError(error, 'Changed') || attempt === updateAttempts) throw error;
          await setTimeout(Math.random() * Math.min(longestUpdateWaitMs, attempt * 4));
        }
      }
    },
    async batch(partition, operations, options = {}) {
      alive();
      checkKeyPart('partition', partition);
      if (!Array.isArray(operations))
        throw new StoreError('Invalid', `a batch must be a list of operations, not ${typeName(operations)}`);
      if (operations.length > limits.batchOperations)
        throw new StoreError(
          'TooLarge',
          `container ${name}: a batch of ${operations.length} operations, the most is ${limits.batchOperations}`,
        );
      if (operations.length === 0) return [];
      const prepared: Prepared<T>[] = [];
      const ids = new Set<string>();
      let bytes = 0;
      for (const [at, operation] of operations.entries()) {
        const one = await prepareOperation(partition, operation, at);
        if (ids.has(one.write.id))
          throw new StoreError('Invalid', `operation ${at}: the batch has another one on document ${one.write.id}`, {
            operation: at,
          });
        ids.add(one.write.id);
        bytes += one.bytes;
        prepared.push(one);
      }
      if (bytes > limits.batchBytes) {
        bytes = prepared.reduce((sum, { json }) => sum + (json === undefined ? 0 : Buffer.byteLength(json)), 0);
        if (bytes > limits.batchBytes)
          throw new StoreError(
            'TooLarge',
            `container ${name}: a batch of ${bytes} bytes of JSON, the most is ${limits.batchBytes}`,
          );
      }
      return commit(partition, prepared, options.lease);
    },
    async query(query) {
      alive();
      const { partition, filter, orderBy = [], limit = defaultPage, offset = 0, continuation } = checkQuery(query);
      const binding = () => queryBinding(name, partition, filter, orderBy);
      const after =
        continuation === undefined ? undefined : unpackCursor(await parts.continuations.read(binding(), continuation));
      const asked: EngineQuery = {
        ...(partition === undefined ? {} : { partition }),
        ...(filter === undefined ? {} : { filter }),
        ...(after === undefined ? {} : { after }),
        orderBy,
        limit,
        offset,
      };
      const { rows, more } = await engine.query(asked);
      const documents = await decodeAll(
        bodies.decode,
        rows.map(({ row }) => row),
      );
      const last = rows.at(-1);
      if (!more || !last) return { documents };
      const { values, row } = last;
      const place = packCursor({ values, partition: row.partition, id: row.id });
      return { documents, continuation: await parts.continuations.make(binding(), place) };
    },
    async count(query = {}) {
      alive();
      const { partition, filter } = checkQuery(query);
      return engine.count(partition, filter);
    },
    changes: (options) =>
      feedOf(
        {
          name,
          engine,
          alive,
          continuations: parts.continuations,
          decode: bodies.decode,
          onClose: parts.onClose,
        },
        options,
      ),
    leases: leasesOf({ name, engine, isQueue: spec.queue !== undefined, alive, decode: bodies.decode }),
    async reseal(options = {}) {
      alive();
      return bodies.sealing ? resealAll(engine, bodies.sealing, alive, options.signal) : 0;
    },
  };
  return container;

  function checkQuery(query: Query): Query {
    if (typeof query !== 'object' || query === null)
      throw new StoreError('Invalid', `a query must be an object, not ${typeName(query)}`);
    const { partition, filter, orderBy, limit, offset, continuation } = query;
    if (partition !== undefined) checkKeyPart('partition', partition);
    if (filter !== undefined) checkFilter(searchable, filter);
    if (orderBy !== undefined) checkOrder(searchable, orderBy);
    if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= largestPage))
      throw new StoreError('Invalid', `limit must be a whole number from 1 to ${largestPage}`);
    if (offset !== undefined && !(Number.isSafeInteger(offset) && offset >= 0))
      throw new StoreError('Invalid', 'offset must be a whole number, 0 or more');
    if (offset !== undefined && continuation !== undefined)
      throw new StoreError('Invalid', 'offset and continuation do not go together: a continuation is a place already');
    return query;
  }
}

function textOf({ json, labels, queue }: Encoded, ttlSeconds: number | undefined) {
  return {
    json,
    labels,
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
    ...(queue === undefined ? {} : { queue }),
  };
}
