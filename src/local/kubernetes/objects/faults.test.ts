import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isStoreError, type StoreErrorCode } from '../../../store/errors.ts';
import { openObjects } from './open.ts';
import { names, openHost, pod, pods, present, temporaryFile, told } from './testing/hosts.ts';

/** The error has this code, and its message names the file and says what to do. */
function refusal(code: StoreErrorCode, file: string, advice: RegExp) {
  return (error: unknown) => isStoreError(error, code) && error.message.includes(file) && advice.test(error.message);
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

async function filled(file: string, count: number): Promise<void> {
  const host = await openObjects({ file });
  await host.open('a').commit((transaction) => {
    for (let index = 0; index < count; index++)
      transaction.put(pods, pod(`p${index}`, {}, { filler: 'x'.repeat(1000) }));
  });
  await host.close();
}

describe('the file of the objects', () => {
  it('is readable by its owner only, as is its directory', async (t) => {
    const file = await temporaryFile(t);
    const host = await openHost(t, { file });
    await host.open('a').commit((transaction) => transaction.put(pods, pod('one')));
    assert.equal(statSync(dirname(file)).mode & 0o777, 0o700);
    for (const end of ['', '-wal', '-shm', '-lock']) assert.equal(statSync(`${file}${end}`).mode & 0o777, 0o600, end);
  });

  it('belongs to one process, which is said to a second', async (t) => {
    const file = await temporaryFile(t);
    const writer = fileURLToPath(new URL('./testing/writer.ts', import.meta.url));
    const child = spawn(process.execPath, [writer, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    await assert.rejects(openObjects({ file }), refusal('Busy', file, /another process has it open; stop that one/));
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    const host = await openHost(t, { file });
    await assert.rejects(openObjects({ file }), refusal('Busy', file, /this process has it open already/));
    await host.open('a').commit((transaction) => transaction.put(pods, pod('one')));
    await host.close();
    await (await openObjects({ file })).close();
  });

  it('is refused when it is not a database, one of something else, of another version, or lost its end', async (t) => {
    const garbage = await temporaryFile(t);
    mkdirSync(dirname(garbage));
    writeFileSync(garbage, 'this is not a database. '.repeat(1000));
    await assert.rejects(
      openObjects({ file: garbage }),
      refusal('Corrupt', garbage, /not a database.*restore the file/),
    );
    assert.match(readFileSync(garbage, 'utf8'), /^this is not a database/, 'and left alone');

    const foreign = await temporaryFile(t);
    mkdirSync(dirname(foreign));
    const db = new DatabaseSync(foreign);
    db.exec('CREATE TABLE things (id INTEGER)');
    db.close();
    await assert.rejects(openObjects({ file: foreign }), refusal('Corrupt', foreign, /database of something else/));

    const newer = await temporaryFile(t);
    await filled(newer, 1);
    const changed = new DatabaseSync(newer);
    changed.exec('PRAGMA user_version = 99');
    changed.close();
    await assert.rejects(openObjects({ file: newer }), refusal('Corrupt', newer, /version 99/));

    const cut = await temporaryFile(t);
    await filled(cut, 200);
    truncateSync(cut, 50_000);
    await assert.rejects(openObjects({ file: cut }), refusal('Corrupt', cut, /its end is missing/));
  });

  it('that is damaged inside is said to be when it is read', async (t) => {
    const file = await temporaryFile(t);
    await filled(file, 400);
    const bytes = readFileSync(file);
    bytes.fill(0xa5, 24 * 4096, bytes.length / 2);
    writeFileSync(file, bytes);
    const host = await openHost(t, { file });
    assert.throws(() => host.open('a').list(pods), refusal('Corrupt', file, /restore the file/));
    await assert.rejects(host.load('a'), refusal('Corrupt', file, /restore the file/));
  });

  it('is refused when it or its directory cannot be written', async (t) => {
    const file = await temporaryFile(t);
    await filled(file, 1);
    const directory = dirname(file);
    chmodSync(dirname(directory), 0o755);
    chmodSync(directory, 0o555);
    try {
      await asOrdinaryUser(() => assert.rejects(openObjects({ file }), refusal('ReadOnly', file, /check the owner/)));
    } finally {
      chmodSync(directory, 0o777);
    }
    chmodSync(`${file}-lock`, 0o666);
    chmodSync(file, 0o444);
    await asOrdinaryUser(() => assert.rejects(openObjects({ file }), refusal('ReadOnly', file, /check the owner/)));
  });

  it('that has no room left takes nothing of the moment; reads go on, and writes when there is room', async (t) => {
    const file = await temporaryFile(t);
    const host = await openHost(t, { file, largestFileBytes: 400_000 });
    const objects = host.open('a');
    const heard: string[] = [];
    objects.watchAll((change) => heard.push(told(change)));
    const large = (name: string) => pod(name, {}, { filler: 'x'.repeat(9000) });
    let count = 0;
    const full = refusal('Full', file, /no room left/);
    await assert.rejects(async () => {
      for (; count < 1000; count++) await objects.commit((transaction) => transaction.put(pods, large(`p${count}`)));
    }, full);
    assert.ok(count > 5 && count < 1000);
    const revision = objects.revision;
    const results = await Promise.allSettled([
      objects.commit((transaction) => transaction.put(pods, pod('small'))),
      objects.commit((transaction) => {
        for (let index = 0; index < 9; index++) transaction.put(pods, large(`q${index}`));
      }),
      objects.commit((transaction) => transaction.delete(present(transaction.get(pods, 'default', 'p1')))),
      host.open('new').commit((transaction) => transaction.put(pods, pod('small'))),
    ]);
    for (const result of results) assert.ok(result.status === 'rejected' && full(result.reason));
    assert.equal(objects.revision, revision);
    assert.equal(objects.count(pods), count);
    assert.equal(heard.length, count);
    assert.ok(objects.get(pods, 'default', 'p1'));

    for (const name of ['p1', 'p2', 'p3']) {
      await objects.commit((transaction) => transaction.delete(present(transaction.get(pods, 'default', name))));
    }
    await objects.commit((transaction) => transaction.put(pods, large('fits')));
    await host.open('new').commit((transaction) => transaction.put(pods, pod('small')));
    assert.equal(objects.revision, revision + 4);
    const before = names(objects.list(pods));
    await host.close();
    const again = await openHost(t, { file });
    assert.deepEqual(names(again.open('a').list(pods)), before);
    assert.deepEqual(names(again.open('new').list(pods)), ['small']);
  });

  it('that another connection has locked for a moment is waited for', async (t) => {
    const file = await temporaryFile(t);
    const host = await openHost(t, { file });
    const objects = host.open('a');
    await objects.commit((transaction) => transaction.put(pods, pod('one')));
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const waiting = objects.commit((transaction) => transaction.put(pods, pod('two')));
    const removal = host.remove('a');
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(names(objects.list(pods)), ['one']);
    other.exec('COMMIT');
    other.close();
    await Promise.allSettled([waiting]);
    await removal;
    assert.deepEqual(host.clusters(), []);
  });
});
