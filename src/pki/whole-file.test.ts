import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createFile, replaceFiles } from './whole-file.ts';

async function directory(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'whole-file-'));
  t.after(() => rm(made, { recursive: true, force: true }));
  return made;
}

describe('a file written whole', () => {
  it('is one of those written by many at the same time, and stays', async (t) => {
    const place = await directory(t);
    const path = join(place, 'key');
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, at) => createFile({ path, data: `by ${at}`, mode: 0o600 })),
    );
    assert.equal(made.filter((first) => first).length, 1);
    assert.equal(await readFile(path, 'utf8'), `by ${made.indexOf(true)}`);
    assert.deepEqual(await readdir(place), ['key']);
    if (process.platform !== 'win32') assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  it('takes the place of another', async (t) => {
    const path = join(await directory(t), 'file');
    for (const data of ['one', 'two']) await replaceFiles([{ path, data, mode: 0o600 }]);
    assert.equal(await readFile(path, 'utf8'), 'two');
  });

  it('leaves nothing behind where it cannot be', async (t) => {
    const place = await directory(t);
    await assert.rejects(createFile({ path: join(place, 'none', 'key'), data: '', mode: 0o600 }), { code: 'ENOENT' });
    await assert.rejects(replaceFiles([{ path: place, data: '', mode: 0o600 }]));
    assert.deepEqual(await readdir(place), []);
  });
});
