// The change feed: positions as text, and the reading of changes behind them.
import type { EngineContainer } from '../engine.ts';
import { StoreError } from '../errors.ts';
import { type Connections, prepared } from './connection.ts';
import type { FeedFunctions } from './feed-functions.ts';
import type { Names } from './names.ts';
import { rowOf } from './queries.ts';

/**
 * A place in the order of the feed. `seen` is what had been committed where the position was made while older transactions
 * were still open: those changes lie ahead in the order, but are behind the position.
 */
interface Position {
  readonly epoch: string;
  readonly xid: string;
  readonly revision: string;
  readonly seen: string | null;
}

const positionForm = /^([0-9a-f]{12})\/(\d{1,20})\/(\d{1,19})(?:\/(\d{1,20}:\d{1,20}:[\d,]*))?$/;

export function feedOf(
  connections: Connections,
  names: Names,
  functions: FeedFunctions,
  /** Called when something committed is held back by an older transaction: look again soon. */
  heldBack: () => void,
): Pick<EngineContainer, 'feedEnd' | 'changesAfter'> {
  const end = prepared(
    `SELECT epoch, pg_current_snapshot() FROM ${names.containers} WHERE name = '${names.container}'`,
  );
  const changes = prepared(`SELECT * FROM ${functions.feed.name}($1, $2, $3, $4, $5)`);

  return {
    async feedEnd() {
      const [cells] = await connections.read(end, []);
      const [epoch, snapshot] = [cells?.[0], cells?.[1]];
      if (!epoch || !snapshot) throw missing(names);
      const [oldest = '0', next] = snapshot.split(':');
      return textOf({ epoch, xid: oldest, revision: '0', seen: oldest === next ? null : snapshot });
    },
    async changesAfter(position, limit, partition) {
      const from = positionOf(position);
      const rows = await connections.read(changes, [from.xid, from.revision, limit, partition ?? null, from.seen]);
      const state = rows.at(-1);
      const [kind, trimmedXid, epoch, , trimmedRevision, held] = state ?? [];
      if (state === undefined || kind !== null) throw missing(names);
      if (epoch !== from.epoch || isBefore(from, trimmedXid ?? '0', trimmedRevision ?? '0')) {
        throw new StoreError(
          'ContinuationExpired',
          `container ${names.container}: the changes behind this position are no longer kept; read from the beginning`,
        );
      }
      if (held) heldBack();
      return rows.slice(0, -1).map(([kind, xid, ...cells]) => {
        const row = rowOf(cells);
        const seen = from.seen !== null && BigInt(xid ?? 0) < nextOf(from.seen) ? from.seen : null;
        const place = { epoch: from.epoch, xid: xid ?? '', revision: String(row.revision), seen };
        return { ...row, kind: kind as 'create' | 'replace' | 'delete', position: textOf(place) };
      });
    },
  };
}

function textOf({ epoch, xid, revision, seen }: Position): string {
  return `${epoch}/${xid}/${revision}${seen === null ? '' : `/${seen}`}`;
}

function positionOf(text: string): Position {
  const [, epoch, xid, revision, seen = null] = positionForm.exec(text) ?? [];
  if (epoch === undefined || xid === undefined || revision === undefined) {
    throw new StoreError('InvalidContinuation', 'this text is not a position in the change feed');
  }
  return { epoch, xid, revision, seen };
}

function isBefore({ xid, revision }: Position, otherXid: string, otherRevision: string): boolean {
  return BigInt(xid) < BigInt(otherXid) || (xid === otherXid && BigInt(revision) < BigInt(otherRevision));
}

/** The first transaction id that a snapshot knows nothing of. */
function nextOf(snapshot: string): bigint {
  return BigInt(snapshot.split(':')[1] ?? 0);
}

function missing(names: Names): StoreError {
  return new StoreError('Corrupt', `the tables of container ${names.container} are gone; open the store again`);
}
