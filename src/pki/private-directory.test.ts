import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makePrivateDirectory } from './private-directory.ts';

test('a private directory is made with those above it, for its owner only', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'aro-directory-'));
  t.after(() => rm(root, { recursive: true }));
  const deep = join(root, 'a', 'b', 'c');
  await Promise.all([makePrivateDirectory(deep), makePrivateDirectory(deep)]);
  for (const made of [join(root, 'a'), deep]) assert.equal((await stat(made)).mode & 0o777, 0o700);
});

test('a directory that exists keeps its mode', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'aro-directory-'));
  t.after(() => rm(root, { recursive: true }));
  const shared = join(root, 'shared');
  await mkdir(shared, { mode: 0o755 });
  await makePrivateDirectory(shared);
  assert.equal((await stat(shared)).mode & 0o777, 0o755);
});

test('a path through a file, or where nothing can be made, is refused at once', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'aro-directory-'));
  t.after(() => rm(root, { recursive: true }));
  const file = join(root, 'file');
  await writeFile(file, '');
  await assert.rejects(makePrivateDirectory(file), { code: 'EEXIST' });
  await assert.rejects(makePrivateDirectory(join(file, 'below')), { code: 'ENOTDIR' });
  if (process.platform === 'linux')
    await assert.rejects(makePrivateDirectory('/proc/nowhere/deep'), { code: 'ENOENT' });
});
