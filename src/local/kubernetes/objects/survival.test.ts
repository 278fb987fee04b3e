import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { StatusError } from '../status.ts';
import { openObjects } from './open.ts';
import { names, openHost, parsed, pod, pods, present, temporaryFile, told } from './testing/hosts.ts';

const writer = fileURLToPath(new URL('./testing/writer.ts', import.meta.url));

/** Lets a process write to the file for some time, kills it, and answers with what it was told is kept. */
async function killedWriter(file: string, milliseconds: number): Promise<{ number: number; revision: number }[]> {
  const child = spawn(process.execPath, [writer, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const lines: string[] = [];
  const reader = createInterface(child.stdout).on('line', (line) => lines.push(line));
  const end = once(reader, 'close');
  await Promise.race([once(reader, 'line'), exit]);
  await sleep(milliseconds);
  child.kill('SIGKILL');
  await Promise.all([exit, end]);
  return lines
    .map((line) => line.split(' ').map(Number))
    .flatMap(([number, revision]) => (number === undefined || !revision ? [] : [{ number, revision }]));
}

describe('objects in a file', () => {
  it('are there after a restart as they were, with a revision that goes on', async (t) => {
    const file = await temporaryFile(t);
    const owner = { apiVersion: 'v1', kind: 'Job', name: 'j', uid: 'j' };
    const first = await openObjects({ file, synchronous: 'FULL' });
    await first.open('a').commit((transaction) => {
      transaction.put(pods, pod('one', { labels: { app: 'ä' }, ownerReferences: [owner] }), { fields: { f: '1' } });
      transaction.put(pods, pod('two'));
      transaction.put('/secrets', pod('secret', { ownerReferences: [owner] }));
      transaction.put(pods, pod('newest'));
    });
    const entries = first.open('a').list(pods);
    await first
      .open('a')
      .commit((transaction) => transaction.delete(present(transaction.get(pods, 'default', 'newest'))));
    await first.open('b').commit((transaction) => transaction.put(pods, pod('other')));
    await first.close();

    const host = await openHost(t, { file });
    assert.deepEqual([...host.clusters()].sort(), ['a', 'b']);
    const objects = host.open('a');
    assert.equal(objects.revision, 5, 'the deletion of the newest object counts');
    assert.deepEqual(
      objects.list(pods),
      entries.filter((entry) => entry.name !== 'newest'),
    );
    assert.deepEqual(names(objects.byOwner('j')).sort(), ['one', 'secret']);
    const entry = await objects.commit((transaction) => transaction.put(pods, pod('one')));
    assert.equal(entry.revision, 6);
    assert.deepEqual(names(objects.byOwner('j')), ['secret']);
    assert.equal(host.open('b').count(pods), 1);
  });

  it('are watched after a restart from the newest revision only', async (t) => {
    const file = await temporaryFile(t);
    const first = await openObjects({ file });
    for (const name of ['one', 'two']) await first.open('a').commit((transaction) => transaction.put(pods, pod(name)));
    await first.close();
    const objects = (await openHost(t, { file })).open('a');
    assert.throws(
      () => objects.watch(pods, 1, () => undefined),
      (error) => error instanceof StatusError && error.message === 'too old resource version: 1 (2)',
    );
    const heard: string[] = [];
    objects.watch(pods, 2, (change) => heard.push(told(change)));
    await objects.commit((transaction) => transaction.put(pods, pod('one')));
    assert.deepEqual(heard, ['MODIFIED one 3']);
  });

  it('come in step by step when asked to, and at once for whoever cannot wait', async (t) => {
    const file = await temporaryFile(t);
    const first = await openObjects({ file });
    await first.open('a').commit((transaction) => {
      for (let index = 0; index < 3000; index++)
        transaction.put(pods, pod(`p${index}`, { namespace: `n${index % 7}` }));
    });
    const all = first.open('a').list(pods);
    await first.close();
    const host = await openHost(t, { file });
    const loading = host.load('a');
    const objects = host.open('a');
    await objects.commit((transaction) => transaction.put(pods, pod('p0', { namespace: 'n0' }, { changed: true })));
    assert.equal(await loading, objects);
    assert.deepEqual(names(objects.list(pods)), names(all));
    assert.equal(parsed(objects.get(pods, 'n0', 'p0')).metadata.resourceVersion, '3001');
  });

  it('lose nothing that was acknowledged, and have no half commit, when the process is killed', async (t) => {
    const file = await temporaryFile(t);
    let newest = 0;
    for (const milliseconds of [0, 15, 60, 150]) {
      const acknowledged = await killedWriter(file, milliseconds);
      assert.ok(acknowledged.length > 0);
      const host = await openObjects({ file });
      const objects = host.open('killed');
      const present = new Set(names(objects.list(pods)));
      for (const { number, revision } of acknowledged) {
        for (let index = 0; index < 10; index++) assert.ok(present.has(`p-${number}-${index}`), `${number}-${index}`);
        assert.ok(revision > newest && revision <= objects.revision);
      }
      assert.equal((objects.count(pods) - 1) % 10, 0, 'whole commits only');
      assert.equal(present.has('short'), false);
      assert.equal(objects.revision % 13, 0, 'thirteen changes to each commit');
      newest = objects.revision;
      const { spec } = parsed(objects.get(pods, 'default', 'shared'));
      const commits = (objects.count(pods) - 1) / 10;
      assert.deepEqual(spec, { number: commits - 1 }, 'the last commit is the last');
      await host.close();
    }
  });

  it('of a removed cluster are deleted in the file, also when the process ended in the middle', async (t) => {
    const file = await temporaryFile(t);
    const first = await openObjects({ file });
    const fill = (name: string, count: number) =>
      first.open(name).commit((transaction) => {
        for (let index = 0; index < count; index++) transaction.put(pods, pod(`p${index}`));
      });
    await Promise.all([fill('a', 2000), fill('b', 5), fill('c', 5)]);
    const removal = first.remove('a');
    while (first.clusters().includes('a')) await new Promise((resolve) => setImmediate(resolve));
    await first.close();
    await removal;
    const second = await openObjects({ file });
    assert.deepEqual([...second.clusters()].sort(), ['b', 'c']);
    await second.remove('c');
    await second.close();
    const db = new DatabaseSync(file);
    assert.equal(db.prepare('SELECT count(*) AS n FROM objects').get()?.n, 5);
    assert.equal(db.prepare('SELECT count(*) AS n FROM clusters').get()?.n, 1);
    db.close();
  });

  it('stay in a file whose log is started over while it is written', async (t) => {
    const file = await temporaryFile(t);
    const first = await openObjects({ file });
    const objects = first.open('a');
    const filler = 'x'.repeat(50_000);
    for (let round = 0; round < 40; round++) {
      await objects.commit((transaction) => {
        for (let index = 0; index < 10; index++) transaction.put(pods, pod(`p${index}`, {}, { round, filler }));
      });
    }
    await first.close();
    const again = (await openHost(t, { file })).open('a');
    assert.equal(again.revision, 400);
    for (const entry of again.list(pods)) assert.deepEqual(parsed(entry).spec, { round: 39, filler });
  });
});
