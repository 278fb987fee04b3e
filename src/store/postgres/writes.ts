// Writes as calls of the database's functions, and stored texts put in the place of others.
import type { EngineContainer, Stored, Write } from '../engine.ts';
import { StoreError } from '../errors.ts';
import { type Cells, type Connections, prepared, type Statement, type Value } from './connection.ts';
import { toStoreError, violatedConstraint } from './errors.ts';
import { digest, type Names } from './names.ts';
import type { SqlFunction, WriteFunctions } from './write-functions.ts';

/** Longer fairness keys are known by a hash: an index entry has a greatest length. */
const longestFairKeyBytes = 500;
/** Entries of the history are found by windows of revisions, which are nearly without gaps. */
const revisionWindow = 1000;

type Operation = readonly [
  kind: Write['kind'],
  id: string,
  revision: number | null,
  json: string | null,
  ttlSeconds: number | null,
  fairKey: string | null,
];

export function writesOf(
  connections: Connections,
  names: Names,
  functions: WriteFunctions,
  uniqueKeys: ReadonlyMap<string, string>,
  /** Called after every commit. */
  committed: () => void,
): Pick<EngineContainer, 'write' | 'stored' | 'restate'> {
  const singleOf = ({ name }: SqlFunction) => prepared(`SELECT ${name}($1, $2, $3, $4, $5, $6, $7, $8)`);
  const single = {
    create: singleOf(functions.single.create),
    replace: singleOf(functions.single.replace),
    delete: singleOf(functions.single.delete),
    check: singleOf(functions.single.check),
  };
  const batchOf = ({ name }: SqlFunction) =>
    prepared(`SELECT array_to_string(${name}($1, $2, $3, $4, $5, $6, $7, $8, $9), ',')`);
  const batch = batchOf(functions.batch);
  const carefulBatch = batchOf(functions.carefulBatch);

  const page = (table: string, order: string, from: string) =>
    prepared(`SELECT partition, id, revision, body::text FROM ${table} WHERE ${from} ORDER BY ${order} LIMIT $1`);
  const firstDocuments = page(names.documents, 'partition, id', 'TRUE');
  const nextDocuments = page(names.documents, 'partition, id', '(partition, id) > ($2, $3)');
  const changesBetween = page(names.changes, 'revision', 'revision > $2 AND revision <= $3');
  const lastRevision = prepared(`SELECT last_value FROM ${names.revisions}`);

  async function writeMany(
    statement: Statement,
    partition: string,
    operations: readonly Operation[],
    fence: readonly Value[],
  ): Promise<number[]> {
    const columns = [0, 1, 2, 3, 4, 5].map((at) => operations.map((operation) => operation[at] ?? null));
    const [cells] = await connections.write(statement, [partition, ...columns, ...fence]);
    return cells?.[0]?.split(',').map(Number) ?? [];
  }

  async function write(
    partition: string,
    operations: readonly Operation[],
    fence: readonly Value[],
  ): Promise<number[]> {
    const [only] = operations;
    try {
      if (only === undefined || operations.length > 1) return await writeMany(batch, partition, operations, fence);
      const [kind, ...values] = only;
      const [cells] = await connections.write(single[kind], [partition, ...values, ...fence]);
      return [Number(cells?.[0])];
    } catch (error) {
      if (violatedConstraint(error) === undefined) throw error;
      return writeMany(carefulBatch, partition, operations, fence);
    }
  }

  return {
    async write(partition, writes, fence) {
      try {
        const revisions = await write(partition, writes.map(operationOf), [fence?.id ?? null, fence?.token ?? null]);
        committed();
        return revisions;
      } catch (error) {
        throw toStoreError(error, 'write', connections.server, (constraint) => uniqueKeys.get(constraint));
      }
    },
    async stored(after, limit) {
      const found: Stored[] = [];
      if (after?.table !== 'changes') {
        const rows = await (after
          ? connections.read(nextDocuments, [limit, after.partition, after.id])
          : connections.read(firstDocuments, [limit]));
        found.push(...rows.map((cells) => storedOf('documents', cells)));
      }
      const [last] = await connections.read(lastRevision, []);
      let from = after?.table === 'changes' ? after.revision : 0;
      const end = Number(last?.[0] ?? 0);
      if (from === 0 && found.length < limit) {
        const [oldest] = await connections.read({ text: `SELECT min(revision) FROM ${names.changes}` }, []);
        from = oldest?.[0] == null ? end : Number(oldest[0]) - 1;
      }
      for (; found.length < limit && from < end; from += revisionWindow) {
        const room = limit - found.length;
        const rows = await connections.read(changesBetween, [room, from, from + revisionWindow]);
        found.push(...rows.map((cells) => storedOf('changes', cells)));
      }
      return found;
    },
    async restate({ table, partition, id, revision }, json) {
      const statement = prepared(
        `UPDATE ${names[table]} SET body = $4 WHERE partition = $1 AND id = $2 AND revision = $3 RETURNING 1`,
      );
      try {
        return (await connections.write(statement, [partition, id, revision, json])).length > 0;
      } catch (error) {
        throw toStoreError(error, 'write', connections.server);
      }
    },
  };
}

function operationOf(write: Write): Operation {
  if (write.kind === 'delete' || write.kind === 'check')
    return [write.kind, write.id, write.revision, null, null, null];
  const expected = write.kind === 'replace' ? write.revision : null;
  const fair = write.queue === undefined ? null : fairKeyOf(write.queue);
  return [write.kind, write.id, expected, write.json, write.ttlSeconds ?? null, fair];
}

function fairKeyOf(key: string): string {
  if (key.includes('\0')) throw new StoreError('Invalid', 'PostgreSQL cannot keep a fairness key with U+0000 in it');
  return Buffer.byteLength(key) <= longestFairKeyBytes ? key : `sha256 ${digest(key, 64)}`;
}

function storedOf(table: Stored['table'], [partition, id, revision, json]: Cells): Stored {
  return { table, partition: partition ?? '', id: id ?? '', revision: Number(revision), json: json ?? '' };
}
