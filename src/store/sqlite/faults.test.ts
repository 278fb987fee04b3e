import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isStoreError, type StoreErrorCode } from '../errors.ts';
import { openSqliteEngine } from './engine.ts';
import {
  atEnd,
  creation,
  layoutOf,
  nextLine,
  openEngine,
  startPeer,
  stopPeer,
  temporaryFile,
} from './testing/engines.ts';

/** The error has this code, and its message names the file and says what to do. */
function told(code: StoreErrorCode, file: string, advice: RegExp) {
  return (error: unknown) => isStoreError(error, code) && error.message.includes(file) && advice.test(error.message);
}

async function filled(file: string, documents: number): Promise<void> {
  const engine = await openSqliteEngine({ file });
  const things = await engine.open(layoutOf());
  for (let index = 0; index < documents; index++) {
    await things.write('p', [creation(`${index}`, { index, filler: 'x'.repeat(1000) })]);
  }
  await engine.close();
}

/** Does it as a user whom file modes bind; root they do not. */
async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  const nobody = 65_534;
  if (process.getuid?.() !== 0) return work();
  process.seteuid?.(nobody);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

describe('when things go wrong, a SQLite store', () => {
  it('says that there is no room, writes nothing of the batch, and goes on when there is', async (t) => {
    const file = await temporaryFile(t);
    const small = await openSqliteEngine({ file, largestFileBytes: 600_000 });
    const things = await small.open(layoutOf());
    let written = 0;
    const write = (id: number) =>
      things.write('p', [creation(`a${id}`, { x: 'x'.repeat(9000) }), creation(`b${id}`, {})]);
    await assert.rejects(
      async () => {
        for (; written < 1000; written++) await write(written);
      },
      told('Full', file, /no room left/),
    );
    assert.ok(written > 5 && written < 1000);
    assert.equal(await things.count('p', undefined), written * 2);
    await assert.rejects(
      things.write('p', [creation('large', { x: 'x'.repeat(600_000) })]),
      told('Full', file, /no room left/),
      'the worker says the same',
    );
    await small.close();

    const roomy = await (await openEngine(t, { file })).open(layoutOf());
    await roomy.write('p', [creation('more', {})]);
    assert.equal(await roomy.count('p', undefined), written * 2 + 1);
  });

  it('reports an error of the disk, here a limit on the size of files, and has what was committed', async (t) => {
    const file = await temporaryFile(t);
    const peer = fileURLToPath(new URL('./testing/peer.ts', import.meta.url));
    const script = 'ulimit -f 3000 && exec "$0" "$1" "$2" fill';
    const answer: unknown = JSON.parse(
      execFileSync('sh', ['-c', script, process.execPath, peer, file], { encoding: 'utf8' }),
    );
    assert.deepEqual(answer, ['Unavailable', true]);
    const things = await (await openEngine(t, { file })).open(layoutOf());
    await things.write('p', [creation('after', {})]);
  });

  it('says that the file or its directory cannot be written', async (t) => {
    const file = await temporaryFile(t);
    const directory = dirname(file);
    await filled(file, 1);
    chmodSync(directory, 0o555);
    chmodSync(file, 0o444);
    atEnd(t, () => chmodSync(directory, 0o755));
    const advice = /check the (owner|mode)/;
    await asOrdinaryUser(() => assert.rejects(openSqliteEngine({ file }), told('ReadOnly', file, advice), 'the file'));
    const missing = join(directory, 'missing.db');
    await asOrdinaryUser(() => assert.rejects(openSqliteEngine({ file: missing }), told('ReadOnly', missing, advice)));
    const below = join(directory, 'new', 'store.db');
    await asOrdinaryUser(() => assert.rejects(openSqliteEngine({ file: below }), told('ReadOnly', below, advice)));

    chmodSync(file, 0o666);
    await asOrdinaryUser(() =>
      assert.rejects(openSqliteEngine({ file }), told('ReadOnly', file, advice), 'the directory'),
    );
  });

  it('says that a directory stands in the place of the file, or that the path leads through a file', async (t) => {
    const directory = await temporaryFile(t);
    mkdirSync(directory);
    await assert.rejects(
      openSqliteEngine({ file: directory }),
      told('Unavailable', directory, /a directory is in its place/),
    );

    const blocking = await temporaryFile(t);
    writeFileSync(blocking, '');
    const file = join(blocking, 'store.db');
    await assert.rejects(openSqliteEngine({ file }), told('Unavailable', file, /leads through a file/));
  });

  it('says that the file is no database, or lost its end, or is damaged inside', async (t) => {
    const garbage = await temporaryFile(t);
    writeFileSync(garbage, 'this is not a database. '.repeat(1000));
    await assert.rejects(
      openSqliteEngine({ file: garbage }),
      told('Corrupt', garbage, /restore the file from a backup/),
    );

    const cut = await temporaryFile(t);
    await filled(cut, 100);
    truncateSync(cut, 50_000);
    await assert.rejects(openSqliteEngine({ file: cut }), told('Corrupt', cut, /its end is missing.*restore/));

    const damaged = await temporaryFile(t);
    await filled(damaged, 400);
    const length = readFileSync(damaged).length;
    const fd = openSync(damaged, 'r+');
    for (let at = 24 * 4096; at < length; at += 4096) writeSync(fd, Buffer.alloc(4096, 0xa5), 0, 4096, at);
    closeSync(fd);
    const engine = await openEngine(t, { file: damaged });
    const things = await engine.open(layoutOf());
    await assert.rejects(
      async () => {
        for (let index = 0; index < 400; index++) await things.read('p', `${index}`);
      },
      told('Corrupt', damaged, /it is damaged.*restore/),
    );
  });

  it('waits for a lock, gives up with Busy, reads all the while, and works when the lock is gone', async (t) => {
    const file = await temporaryFile(t);
    await filled(file, 1);
    const hasty = await (await openEngine(t, { file, patienceSeconds: 0.2 })).open(layoutOf());
    const patient = await (await openEngine(t, { file })).open(layoutOf());
    const peer = await startPeer(t, file, 'lock');
    assert.equal(await nextLine(peer), 'locked');
    await assert.rejects(hasty.write('p', [creation('a', {})]), told('Busy', file, /trying again is safe/));
    const waiting = [1, 2, 3].map((n) => patient.write('p', [creation(`waits ${n}`, {})]));
    assert.equal((await hasty.read('p', '0'))?.id, '0');
    assert.equal(await hasty.count('p', undefined), 1);
    peer.stdin?.write('\n');
    const revisions = (await Promise.all(waiting)).flat();
    assert.deepEqual(
      revisions,
      [...revisions].sort((left, right) => left - right),
      'first come, first served',
    );
    await hasty.write('p', [creation('a', {})]);
  });

  it('loses nothing that was committed and keeps no half batch when a process is killed', async (t) => {
    for (const lines of [1, 40, 150]) {
      const file = await temporaryFile(t);
      const peer = await startPeer(t, file, 'batches');
      let printed = '';
      while (printed.split('\n').length <= lines) printed += `${await nextLine(peer)}\n`;
      await stopPeer(peer);
      const batches = printed.trim().split('\n').length;

      const engine = await openEngine(t, { file });
      const things = await engine.open(layoutOf());
      const count = await things.count('p', undefined);
      assert.ok(count >= batches * 10, `${count} documents of ${batches} batches`);
      assert.equal(count % 10, 0);
      assert.equal(await things.feedEnd(), String(count));
      await things.write('p', [creation('after', {})]);
    }
  });

  it('forgets what a killed process had not committed, and shortens the log that it left', async (t) => {
    const file = await temporaryFile(t);
    await filled(file, 3);
    const peer = await startPeer(t, file, 'halfway');
    assert.equal(await nextLine(peer), 'written');
    await stopPeer(peer);
    assert.ok(statSync(`${file}-wal`).size > 1_000_000, 'there is a long log');
    const engine = await openSqliteEngine({ file });
    const things = await engine.open(layoutOf());
    assert.equal(await things.count('p', undefined), 3);
    await things.write('p', [creation('after', {})]);
    await engine.close();
    assert.equal(statSync(`${file}-wal`, { throwIfNoEntry: false }), undefined);
  });
});
