// The store over any engine. Everything that is the same for all databases happens in this file and those it calls, once:
// checks, etags, sealing, unknown fields, continuations, the feed's waiting. Engines move texts.
import { setTimeout } from 'node:timers/promises';
import type { KeyRing } from '../kit/key-ring.ts';
import { type Codec, codec, decodeAll } from './codec.ts';
import { type Continuations, continuations, packCursor, queryBinding, unpackCursor } from './continuation.ts';
import type { Engine, EngineContainer } from './engine.ts';
import { isStoreError, StoreError } from './errors.ts';
import { feedOf } from './feed.ts';
import { checkFilter, checkOrder, type Searchable } from './filter-check.ts';
import { checkKey, checkKeyPart, typeName } from './keys.ts';
import { leasesOf } from './leases.ts';
import { resealAll } from './reseal.ts';
import { layoutOf } from './spec.ts';
import type { Container, ContainerSpec, Document, Query, Store, WriteOptions } from './store.ts';
import { type Writes, writesOf } from './writes.ts';

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
  const now = () => engine.now();

  return {
    async container<T extends object>(spec: ContainerSpec<T>) {
      alive();
      const layout = layoutOf(spec, options.keyRing !== undefined);
      const { name, ttlSeconds } = spec;
      const bodies = codec(spec, options.keyRing);
      const opened = await engine.open(layout);
      return containerOf({
        spec,
        bodies,
        alive,
        engine: opened,
        continuations: tokens,
        writes: writesOf({ name, ttlSeconds, bodies, engine: opened, limits: engine.limits, now }),
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
  readonly continuations: Continuations;
  readonly writes: Writes<T>;
  /** Throws Closed. */
  alive(): void;
  /** Calls back when the store closes. Returns the unsubscribe. */
  onClose(closed: () => void): () => void;
}

function containerOf<T extends object>(parts: Parts<T>): Container<T> {
  const { spec, bodies, engine, writes, alive } = parts;
  const { name } = spec;
  const { decode } = bodies;
  const searchable: Searchable = { name, labels: spec.labels !== undefined, sealed: spec.sealed ?? [] };
  const source = { ...parts, name, decode, isQueue: spec.queue !== undefined };

  const container: Container<T> = {
    name,
    async create(key, body, options = {}) {
      alive();
      checkKey(key);
      const { partition, id } = key;
      return written(await writes.one(partition, { kind: 'create', id, body, ...timeOf(options) }, options.lease));
    },
    async read(key) {
      alive();
      checkKey(key);
      const row = await engine.read(key.partition, key.id);
      return row && decode(row);
    },
    async replace(version, body, options = {}) {
      alive();
      checkKey(version);
      const operation = { kind: 'replace', version, body, ...timeOf(options) } as const;
      return written(await writes.one(version.partition, operation, options.lease));
    },
    async delete(version, options = {}) {
      alive();
      checkKey(version);
      await writes.one(version.partition, { kind: 'delete', version }, options.lease);
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
      return writes.all(partition, operations, options.lease);
    },
    async query(query) {
      alive();
      checkQuery(searchable, query);
      const { partition, filter, orderBy = [], limit = defaultPage, offset = 0, continuation } = query;
      const binding = () => queryBinding(name, partition, filter, orderBy);
      const after =
        continuation === undefined ? undefined : unpackCursor(await parts.continuations.read(binding(), continuation));
      const { rows, more } = await engine.query({
        ...(partition === undefined ? {} : { partition }),
        ...(filter === undefined ? {} : { filter }),
        ...(after === undefined ? {} : { after }),
        orderBy,
        limit,
        offset,
      });
      const documents = await decodeAll(
        decode,
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
      checkQuery(searchable, query);
      return engine.count(query.partition, query.filter);
    },
    changes: (options) => feedOf(source, options),
    leases: leasesOf(source),
    async reseal(options = {}) {
      alive();
      return bodies.sealing ? resealAll(engine, bodies.sealing, alive, options.signal) : 0;
    },
  };
  return container;
}

function checkQuery(searchable: Searchable, query: Query): void {
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
}

function timeOf({ ttlSeconds }: WriteOptions): Pick<WriteOptions, 'ttlSeconds'> {
  return ttlSeconds === undefined ? {} : { ttlSeconds };
}

function written<T>(document: Document<T> | undefined): Document<T> {
  if (!document) throw new Error('the engine gave no revision for a write');
  return document;
}
