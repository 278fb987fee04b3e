// The queue as calls of the database's functions.
import type { EngineClaim, EngineContainer } from '../engine.ts';
import { type Cells, type Connections, prepared, type Statement, type Value } from './connection.ts';
import { toStoreError } from './errors.ts';
import type { Names } from './names.ts';
import { rowColumnCount, rowOf } from './queries.ts';
import type { QueueFunctions } from './queue-functions.ts';

export function queueOf(
  connections: Connections,
  names: Names,
  functions: QueueFunctions,
): Pick<EngineContainer, 'claim' | 'claimOne' | 'renew' | 'release' | 'waiting'> {
  const claim = prepared(`SELECT * FROM ${functions.claim.name}($1, $2, $3, $4)`);
  const claimOne = prepared(`SELECT * FROM ${functions.claimOne.name}($1, $2, $3, $4)`);
  const release = prepared(`SELECT ${functions.release.name}($1, $2, $3, $4)`);
  const renew = prepared(`
    UPDATE ${names.queue} q SET since = clock_timestamp(), wake_at = clock_timestamp() + $4::float8 * interval '1 millisecond'
    FROM unnest($1::text[], $2::text[], $3::bigint[]) AS held (partition, id, token)
    WHERE q.partition = held.partition AND q.id = held.id AND q.token = held.token
      AND q.owner IS NOT NULL AND q.wake_at > clock_timestamp()
    RETURNING q.partition, q.id, q.token`);
  const waiting = prepared(`
    SELECT count(*) FROM ${names.queue} q WHERE (q.place IS NOT NULL OR q.wake_at <= now())
      AND NOT EXISTS (SELECT 1 FROM ${names.documents} d
        WHERE d.partition = q.partition AND d.id = q.id AND d.expires_at <= now())`);

  async function write(statement: Statement, values: readonly Value[]): Promise<readonly Cells[]> {
    try {
      return await connections.write(statement, values);
    } catch (error) {
      throw toStoreError(error, 'write', connections.server);
    }
  }

  return {
    async claim(owner, leaseSeconds, max, ownerLimit) {
      const rows = await write(claim, [owner, leaseSeconds * 1000, max, ownerLimit ?? null]);
      return rows.map(claimOf);
    },
    async claimOne(partition, id, owner, leaseSeconds) {
      const [cells] = await write(claimOne, [partition, id, owner, leaseSeconds * 1000]);
      return cells && claimOf(cells);
    },
    async renew(leases, leaseSeconds) {
      const rows = await write(renew, [
        leases.map(({ partition }) => partition),
        leases.map(({ id }) => id),
        leases.map(({ token }) => token),
        leaseSeconds * 1000,
      ]);
      return rows.map(([partition, id, token]) => ({ partition: partition ?? '', id: id ?? '', token: Number(token) }));
    },
    async release({ partition, id, token }, delaySeconds) {
      await write(release, [partition, id, token, delaySeconds * 1000]);
    },
    async waiting() {
      const [cells] = await connections.read(waiting, []);
      return Number(cells?.[0] ?? 0);
    },
  };
}

function claimOf(cells: Cells): EngineClaim {
  return {
    row: rowOf(cells.slice(0, rowColumnCount)),
    token: Number(cells[rowColumnCount]),
    dequeues: Number(cells[rowColumnCount + 1]),
  };
}
