import type { Codec, Encoded } from './codec.ts';
import type { EngineContainer, Limits, Write } from './engine.ts';
import { StoreError } from './errors.ts';
import { revisionOf } from './etag.ts';
import { bytesWithin } from './json.ts';
import { checkKeyPart, typeName } from './keys.ts';
import { fenceOf } from './leases.ts';
import { checkTtl } from './spec.ts';
import type { Document, Lease, Operation, Version } from './store.ts';

export interface WriteSource<T> {
  readonly name: string;
  /** Of documents written without a time of their own. */
  readonly ttlSeconds: number | undefined;
  readonly bodies: Codec<T>;
  readonly engine: EngineContainer;
  readonly limits: Limits;
  /** By the database's clock. */
  now(): Promise<number>;
}

/** Turns operations into writes of the engine. Everything that can be refused before the database is asked is refused then. */
export interface Writes<T> {
  /** Undefined for a delete. */
  one(partition: string, operation: Operation<T>, lease: Lease | undefined): Promise<Document<T> | undefined>;
  all(
    partition: string,
    operations: readonly Operation<T>[],
    lease: Lease | undefined,
  ): Promise<readonly (Document<T> | undefined)[]>;
}

/** A write on its way to the engine, with what its answer is made of. */
interface Prepared<T> {
  readonly write: Write;
  /** Of its JSON; at least as many as there are. */
  readonly bytes: number;
  readonly body: T | undefined;
  readonly json: string;
  readonly ttlSeconds: number | undefined;
}

export function writesOf<T extends object>(source: WriteSource<T>): Writes<T> {
  const { name, bodies, engine, limits } = source;

  /** `at` is the place in a batch. */
  const prepare = async (partition: string, operation: Operation<T>, at?: number): Promise<Prepared<T>> => {
    if (operation.kind === 'create') {
      checkKeyPart('id', operation.id);
      const encoded = bodies.encode({ partition, id: operation.id }, operation.body);
      return withText(operation, { kind: 'create', id: operation.id }, encoded, at);
    }
    const { kind, version } = operation;
    const revision = revisionOf(version, at);
    const { id } = version;
    if (version.partition !== partition)
      throw refusal(
        'Invalid',
        `operation ${at} is on partition ${version.partition}, the batch on ${partition}: a batch is of one partition`,
        at,
      );
    switch (kind) {
      case 'delete':
      case 'check':
        return { write: { kind, id, revision }, bytes: 0, body: undefined, json: '', ttlSeconds: undefined };
      case 'replace': {
        const stored = bodies.carries ? await textBefore(version, revision) : undefined;
        const encoded = bodies.encode(version, operation.body, stored);
        return withText(operation, { kind, id, revision }, encoded, at);
      }
      default:
        throw refusal('Invalid', `operation ${at} must be a create, replace, delete or check`, at);
    }
  };

  const withText = (
    { body, ttlSeconds: given }: Pick<Operation<T> & { kind: 'create' }, 'body' | 'ttlSeconds'>,
    start: { kind: 'create'; id: string } | { kind: 'replace'; id: string; revision: number },
    { json, labels, queue }: Encoded,
    at: number | undefined,
  ): Prepared<T> => {
    const bytes = bytesWithin(json, limits.documentBytes);
    if (bytes > limits.documentBytes)
      throw refusal(
        'TooLarge',
        `container ${name}: document ${start.id} is ${bytes} bytes of JSON, the most is ${limits.documentBytes}`,
        at,
      );
    const ttlSeconds = given === undefined ? source.ttlSeconds : (given ?? undefined);
    if (ttlSeconds !== undefined) checkTtl('ttlSeconds', ttlSeconds);
    const write: Write = {
      ...start,
      json,
      labels,
      ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
      ...(queue === undefined ? {} : { queue }),
    };
    return { write, bytes, body, json, ttlSeconds };
  };

  /** What a replace takes the place of; it is read for a version that came another way, such as from an If-Match header. */
  const textBefore = async (version: Version, revision: number): Promise<string | undefined> => {
    const known = bodies.storedText(version);
    if (known !== undefined) return known;
    const row = await engine.read(version.partition, version.id);
    return row?.revision === revision ? row.json : undefined;
  };

  const commit = async (
    partition: string,
    prepared: readonly Prepared<T>[],
    lease: Lease | undefined,
  ): Promise<(Document<T> | undefined)[]> => {
    const fence = lease === undefined ? undefined : fenceOf(name, partition, lease);
    // Taken before the write, so a document written here is said to expire no later than it does.
    const now = prepared.some(({ ttlSeconds }) => ttlSeconds !== undefined) ? await source.now() : 0;
    const revisions = await engine.write(
      partition,
      prepared.map(({ write }) => write),
      fence,
    );
    return prepared.map(({ write: { id }, body, json, ttlSeconds }, at) => {
      const revision = revisions[at];
      if (body === undefined || revision === undefined) return undefined;
      const expiresAt = ttlSeconds === undefined ? undefined : now + ttlSeconds * 1000;
      return bodies.written({ partition, id }, revision, body, json, expiresAt);
    });
  };

  return {
    async one(partition, operation, lease) {
      const [document] = await commit(partition, [await prepare(partition, operation)], lease);
      return document;
    },
    async all(partition, operations, lease) {
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
        if (typeof operation !== 'object' || operation === null)
          throw refusal('Invalid', `operation ${at} must be an object`, at);
        const one = await prepare(partition, operation, at);
        const { id } = one.write;
        if (ids.has(id)) throw refusal('Invalid', `operation ${at}: the batch has another one on document ${id}`, at);
        ids.add(id);
        bytes += one.bytes;
        prepared.push(one);
      }
      if (bytes > limits.batchBytes) bytes = prepared.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
      if (bytes > limits.batchBytes)
        throw new StoreError(
          'TooLarge',
          `container ${name}: a batch of ${bytes} bytes of JSON, the most is ${limits.batchBytes}`,
        );
      return commit(partition, prepared, lease);
    },
  };
}

function refusal(code: 'Invalid' | 'TooLarge', message: string, operation: number | undefined): StoreError {
  return new StoreError(code, message, operation === undefined ? {} : { operation });
}
