import assert from 'node:assert/strict';
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { EngineQuery } from '../engine.ts';
import { isStoreError } from '../errors.ts';
import type { Filter } from '../filter.ts';
import { openSqliteEngine } from './engine.ts';
import { creation, layoutOf, openEngine, temporaryDirectory, temporaryFile } from './testing/engines.ts';

function wanted(filter: Filter): EngineQuery {
  return { filter, orderBy: [], limit: 100, offset: 0 };
}

describe('a SQLite file', () => {
  it('is made with its directory, for its owner only', async (t) => {
    const file = join(await temporaryDirectory(t), 'made', 'here', 'store.db');
    const engine = await openEngine(t, { file });
    await (await engine.open(layoutOf())).write('p', [creation('a', {})]);
    assert.equal(statSync(dirname(file)).mode & 0o777, 0o700);
    for (const suffix of ['', '-wal', '-shm']) assert.equal(statSync(`${file}${suffix}`).mode & 0o777, 0o600);
  });

  it('that others could read is taken from them', async (t) => {
    const file = await temporaryFile(t);
    writeFileSync(file, '');
    chmodSync(file, 0o666);
    const engine = await openEngine(t, { file });
    await (await engine.open(layoutOf())).write('p', [creation('a', {})]);
    for (const suffix of ['', '-wal', '-shm']) assert.equal(statSync(`${file}${suffix}`).mode & 0o777, 0o600);
  });

  it('keeps what was written when it is closed and opened again', async (t) => {
    const file = await temporaryFile(t);
    const first = await openSqliteEngine({ file });
    const [revision] = await (await first.open(layoutOf())).write('p', [creation('a', { n: 1 })]);
    await first.close();
    assert.equal(existsSync(`${file}-wal`), false);

    const second = await openEngine(t, { file });
    const row = await (await second.open(layoutOf())).read('p', 'a');
    assert.deepEqual(row, { partition: 'p', id: 'a', revision, json: '{"n":1}' });
  });

  it('is temporary without a name', async (t) => {
    const engine = await openEngine(t);
    const things = await engine.open(layoutOf());
    await things.write('p', [creation('a', {})]);
    assert.equal((await things.read('p', 'a'))?.id, 'a');
  });

  it('keeps secrets that all connections agree on', async (t) => {
    const file = await temporaryFile(t);
    const [one, other] = [await openEngine(t, { file }), await openEngine(t, { file })];
    const [first, second] = await Promise.all([one.secret('tokens'), other.secret('tokens')]);
    assert.equal(first.length, 32);
    assert.deepEqual(first, second);
    assert.notDeepEqual(await one.secret('others'), first);
  });

  it('is made once by several that open it at the same time', async (t) => {
    const file = await temporaryFile(t);
    const engines = await Promise.all(Array.from({ length: 5 }, () => openEngine(t, { file })));
    const containers = await Promise.all(engines.map((engine) => engine.open(layoutOf())));
    await Promise.all(containers.map((things, index) => things.write('p', [creation(`${index}`, {})])));
    assert.equal(await containers[0]?.count(undefined, undefined), 5);
  });

  it('is refused when a newer version wrote it, and when it is of another program', async (t) => {
    const newer = await temporaryFile(t);
    await (await openSqliteEngine({ file: newer })).close();
    const db = new DatabaseSync(newer);
    db.exec(`UPDATE meta SET value = '999' WHERE name = 'schema'`);
    db.close();
    await assert.rejects(
      openSqliteEngine({ file: newer }),
      (error) => isStoreError(error, 'Corrupt') && /newer version \(schema 999/.test(error.message),
    );

    const foreign = await temporaryFile(t);
    const other = new DatabaseSync(foreign);
    other.exec('CREATE TABLE songs (title TEXT)');
    other.close();
    await assert.rejects(
      openSqliteEngine({ file: foreign }),
      (error) => isStoreError(error, 'Corrupt') && /another program/.test(error.message),
    );
  });

  it('answers Closed once it is closed', async (t) => {
    const engine = await openEngine(t);
    const things = await engine.open(layoutOf());
    await engine.close();
    const calls: (() => Promise<unknown>)[] = [
      () => things.read('p', 'a'),
      () => things.write('p', [creation('a', {})]),
      () => things.write('p', [creation('a', { large: 'x'.repeat(500_000) })]),
      () => things.count(undefined, undefined),
      () => things.query({ orderBy: [], limit: 1, offset: 0 }),
      () => things.claim('me', 1, 1, undefined),
      () => things.waiting(),
      () => engine.ping(),
    ];
    for (const call of calls) await assert.rejects(call(), (error) => isStoreError(error, 'Closed'));
    await engine.close();
  });
});

describe('the layout of a container', () => {
  it('is brought up to date when it is opened again, small or large', async (t) => {
    for (const documents of [10, 1_000]) {
      const file = await temporaryFile(t);
      const engine = await openEngine(t, { file });
      const plain = await engine.open(layoutOf());
      for (let from = 0; from < documents; from += 10) {
        const ids = Array.from({ length: 10 }, (_, index) => from + index);
        await plain.write(
          'p',
          ids.map((id) => creation(`${id}`, { n: id, state: `s${id % 5}`, labels: { zone: `z${id % 2}`, odd: id } })),
        );
      }
      const shaped = await engine.open(
        layoutOf({
          indexes: [{ field: ['state'], type: 'string' }],
          labels: ['labels'],
          uniqueKeys: [{ name: 'n', paths: [['n']] }],
        }),
      );
      const byState = await shaped.query(wanted({ op: 'eq', field: ['state'], value: 's1' }));
      assert.equal(byState.rows.length, Math.min(100, documents / 5));
      assert.equal(await shaped.count('p', { op: 'label', key: 'zone', value: 'z0' }), documents / 2);
      assert.equal(await shaped.count('p', { op: 'hasLabel', key: 'odd' }), 0, 'only strings are labels');
      await assert.rejects(shaped.write('p', [creation('new', { n: 3 })]), (error) => isStoreError(error, 'UniqueKey'));

      const plainAgain = await engine.open(layoutOf());
      await plainAgain.write('p', [creation('new', { n: 3 })]);
      const db = new DatabaseSync(file);
      const left = db.prepare(
        `SELECT count(*) AS n FROM sqlite_master WHERE name GLOB 'things/[iu]n*' OR name GLOB '*/labels'`,
      );
      assert.equal(left.get()?.n, 0, 'indexes and labels that are no longer declared are gone');
      db.close();
    }
  });

  it('cannot get a unique key that documents already break', async (t) => {
    const engine = await openEngine(t);
    const things = await engine.open(layoutOf());
    await things.write('p', [creation('a', { n: 1 }), creation('b', { n: 1 })]);
    await assert.rejects(
      engine.open(layoutOf({ uniqueKeys: [{ name: 'number', paths: [['n']] }] })),
      (error) => isStoreError(error, 'UniqueKey') && error.uniqueKey === 'number',
    );
    assert.equal((await things.read('p', 'a'))?.id, 'a');
  });
});
