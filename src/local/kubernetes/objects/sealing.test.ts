import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { keyRing } from '../../../kit/key-ring.ts';
import { Secret } from '../../../kit/secret.ts';
import type { KubeObject } from '../object.ts';
import { openObjects } from './open.ts';
import type { Sealing } from './sealing.ts';
import { openHost, parsed, pod, pods, present, temporaryFile } from './testing/hosts.ts';

const secrets = '/secrets';
const newKey = (id: string) => ({ id, bytes: new Secret(randomBytes(32)) });
const sealed = (...keys: Parameters<typeof keyRing>[0]): Sealing => ({
  ring: keyRing(keys),
  types: new Set([secrets]),
});
const value = 'the quick brown fox';
const secret = (name: string): KubeObject => pod(name, {}, { value });

async function isInFiles(file: string, text: string): Promise<boolean> {
  const directory = dirname(file);
  const contents = await Promise.all((await readdir(directory)).map((name) => readFile(join(directory, name))));
  return contents.some((bytes) => bytes.includes(text));
}

describe('sealed objects', () => {
  it('are nowhere in the files and come back as they were', async (t) => {
    const file = await temporaryFile(t);
    const sealing = sealed(newKey('k'));
    const first = await openObjects({ file, sealing });
    for (const name of ['a', 'b', 'a']) await first.open('c').commit((to) => to.put(secrets, secret(name)));
    await first.open('c').commit((to) => to.put(pods, pod('plain', {}, { value: 'lazy dog' })));
    await first.open('c').commit((to) => to.delete(present(to.get(secrets, 'default', 'b'))));
    const before = first.open('c').list(secrets);
    assert.equal(await isInFiles(file, value), false);
    assert.equal(await isInFiles(file, 'lazy dog'), true, 'objects of other types are as they are');
    await first.close();
    assert.equal(await isInFiles(file, value), false);

    const again = (await openHost(t, { file, sealing })).open('c');
    assert.deepEqual(again.list(secrets), before);
    assert.deepEqual(parsed(again.get(secrets, 'default', 'a')).spec, { value });
    assert.equal(again.count(pods), 1);
  });

  for (const [what, change] of [
    ['name', "UPDATE objects SET name = 'other'"],
    ['namespace', "UPDATE objects SET namespace = 'other'"],
    ['type', "UPDATE objects SET type = '/configmaps'"],
    ['cluster', "UPDATE objects SET cluster = (SELECT id FROM clusters WHERE name = 'other')"],
  ] as const) {
    it(`do not open under another ${what}`, async (t) => {
      const file = await temporaryFile(t);
      const sealing = sealed(newKey('k'));
      const first = await openObjects({ file, sealing });
      await first.open('c').commit((to) => to.put(secrets, secret('a')));
      await first.open('other').commit((to) => to.put(pods, pod('b')));
      await first.close();
      const db = new DatabaseSync(file);
      db.exec(`${change} WHERE type = '${secrets}'`);
      db.close();
      const host = await openHost(t, { file, sealing });
      const read = () =>
        ['c', 'other'].flatMap((name) => [secrets, '/configmaps'].map((of) => host.open(name).list(of)));
      assert.throws(read, { name: 'StoreError', code: 'Seal' });
    });
  }

  it('need their key: another, or none, is refused when the file is opened', async (t) => {
    const file = await temporaryFile(t);
    const [old, next] = [newKey('old'), newKey('next')];
    await (await openObjects({ file, sealing: sealed(old) })).close();
    await assert.rejects(openObjects({ file, sealing: sealed(next) }), {
      code: 'Seal',
      message: `database ${file}: sealed with key old, which is not in the key ring (next); put back the key that belongs to it, or use another data directory`,
    });
    await assert.rejects(openObjects({ file, sealing: sealed({ ...next, id: 'old' }) }), { code: 'Seal' });
    await assert.rejects(openObjects({ file }), { code: 'Seal', message: /no key was given/ });
    await (await openObjects({ file, sealing: sealed(next, old) })).close();
  });

  it('of a file from before there were any are read plain, and sealed when they are written', async (t) => {
    const file = await temporaryFile(t);
    const first = await openObjects({ file });
    await first.open('c').commit((to) => to.put(secrets, secret('a')));
    await first.close();
    const db = new DatabaseSync(file);
    db.exec('DROP TABLE proof; PRAGMA user_version = 1');
    db.close();

    const sealing = sealed(newKey('k'));
    const second = await openObjects({ file, sealing });
    assert.deepEqual(parsed(second.open('c').get(secrets, 'default', 'a')).spec, { value });
    await second.open('c').commit((to) => to.put(secrets, secret('a')));
    await second.close();
    assert.deepEqual(parsed((await openHost(t, { file, sealing })).open('c').get(secrets, 'default', 'a')).spec, {
      value,
    });
    const bytes = new DatabaseSync(file, { readOnly: true });
    t.after(() => bytes.close());
    const [row] = bytes.prepare('SELECT bytes FROM objects').all();
    assert.match(Buffer.from(row?.bytes as Uint8Array).toString(), /^sealed\.1\.k\.[\w-]+$/);
  });
});
