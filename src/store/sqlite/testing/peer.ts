// A second process on the same database file: `node peer.ts <file> <task>`. Prints a line at each step.
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { isStoreError } from '../../errors.ts';
import { openSqliteEngine } from '../engine.ts';
import { creation, layoutOf } from './engines.ts';

const [, , file = '', task = ''] = process.argv;

const tasks: Readonly<Record<string, () => Promise<void>>> = {
  /** Holds the write lock until a line comes in. */
  async lock() {
    const db = new DatabaseSync(file);
    db.exec('BEGIN IMMEDIATE');
    process.stdout.write('locked\n');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    db.exec('ROLLBACK');
    db.close();
    process.stdin.destroy();
  },
  /** Commits batches of ten until it is killed; prints the number of each batch after its commit. */
  async batches() {
    const engine = await openSqliteEngine({ file });
    const things = await engine.open(layoutOf());
    for (let batch = 0; ; batch++) {
      const ids = Array.from({ length: 10 }, (_, index) => `${batch}-${index}`);
      await things.write(
        'p',
        ids.map((id) => creation(id, { batch, filler: 'x'.repeat(500) })),
      );
      process.stdout.write(`${batch}\n`);
    }
  },
  /** Writes until it is refused, prints why, and how many documents are there. */
  async fill() {
    const engine = await openSqliteEngine({ file });
    const things = await engine.open(layoutOf());
    let written = 0;
    try {
      for (; ; written++) await things.write('p', [creation(`${written}`, { filler: 'x'.repeat(5000) })]);
    } catch (error) {
      const there = await things.count('p', undefined);
      process.stdout.write(
        `${JSON.stringify([isStoreError(error) ? error.code : String(error), there === written])}\n`,
      );
    }
    await engine.close();
  },
  /** Leaves a transaction open that has written much, then waits to be killed. */
  async halfway() {
    const db = new DatabaseSync(file);
    db.exec('PRAGMA cache_size = 10; BEGIN IMMEDIATE');
    const insert = db.prepare('INSERT INTO "things/documents" VALUES (?, ?, 1, NULL, ?)');
    for (let index = 0; index < 2000; index++)
      insert.run('p', `half-${index}`, JSON.stringify({ x: 'x'.repeat(1000) }));
    process.stdout.write('written\n');
    await sleep(60_000);
  },
  /** Commits one document per line that comes in. */
  async write() {
    const engine = await openSqliteEngine({ file });
    const things = await engine.open(layoutOf());
    process.stdout.write('ready\n');
    let count = 0;
    for await (const _line of process.stdin) await things.write('p', [creation(`peer-${count++}`, { count })]);
    await engine.close();
  },
};

await tasks[task]?.();
