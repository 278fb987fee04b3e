import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { databaseFile, loadHostKey, sealingRing } from './host-key.ts';

async function directory(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'host-key-'));
  t.after(() => rm(made, { recursive: true, force: true }));
  return join(made, 'data');
}
const keyFile = (place: string): string => join(place, 'kubernetes.key');

describe('the key of a host', () => {
  it('is made once, also by several that start together, and has one owner', async (t) => {
    const place = await directory(t);
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => loadHostKey(place)));
    for (const other of others) assert.deepEqual(other.reveal(), first?.reveal());
    assert.equal(first?.reveal().length, 32);
    assert.deepEqual(await readdir(place), ['kubernetes.key']);
    if (process.platform === 'win32') return;
    await chmod(keyFile(place), 0o644);
    await chmod(place, 0o755);
    await loadHostKey(place);
    assert.equal((await stat(keyFile(place))).mode & 0o777, 0o600);
    assert.equal((await stat(place)).mode & 0o777, 0o700);
  });

  it('that is not whole is refused with what to do, before and after it was used', async (t) => {
    const place = await directory(t);
    await loadHostKey(place);
    await writeFile(keyFile(place), '');
    await assert.rejects(loadHostKey(place), {
      name: 'HostKeyError',
      message: `${keyFile(place)} has 0 bytes where a key has 32: nothing depends on it yet, so remove it and start again`,
    });
    await rm(keyFile(place));
    await loadHostKey(place);
    await writeFile(databaseFile(place), 'objects');
    await writeFile(keyFile(place), (await readFile(keyFile(place))).subarray(1));
    await assert.rejects(
      loadHostKey(place),
      /has 31 bytes where a key has 32: put its copy back, or start with another/,
    );
  });

  it('is not made anew for objects that need the one before', async (t) => {
    const place = await directory(t);
    await loadHostKey(place);
    await writeFile(databaseFile(place), 'objects');
    await rm(keyFile(place));
    await assert.rejects(loadHostKey(place), {
      name: 'HostKeyError',
      message: `${keyFile(place)} is missing or empty, and ${databaseFile(place)} needs it: put its copy back, or start with another data directory`,
    });
    assert.deepEqual(await readdir(place), ['kubernetes.sqlite']);
  });

  it('gives a sealing key that differs from host to host', async () => {
    const [one, other] = [await loadHostKey(undefined), await loadHostKey(undefined)];
    const sealed = sealingRing(one).seal('text', 'place');
    assert.equal(sealingRing(one).open(sealed, 'place'), 'text');
    assert.throws(() => sealingRing(other).open(sealed, 'place'), { name: 'SealError', reason: 'unknown-key' });
  });
});
