import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findPeer, needs, requiredPeers } from './peers.ts';

test('a peer is found on PATH, or where its variable says', async (t) => {
  const directory = await programs(t, ['az', 'elsewhere']);
  assert.deepEqual(findPeer('az', { PATH: directory }), { path: join(directory, 'az') });
  const elsewhere = join(directory, 'elsewhere');
  assert.deepEqual(findPeer('az', { PATH: directory, AZ_BIN: elsewhere }), { path: elsewhere });
});

test('a directory of programs is a peer when they are all there', async (t) => {
  const directory = await programs(t, ['kube-apiserver', 'etcd']);
  assert.deepEqual(findPeer('kube', { KUBEBUILDER_ASSETS: directory }), { path: directory });
  const half = await programs(t, ['etcd']);
  assert.throws(() => findPeer('kube', { KUBEBUILDER_ASSETS: half }), /leads to .*kube-apiserver, which is not/);
});

test('what is not a program is not a peer', async (t) => {
  const directory = await programs(t, []);
  await mkdir(join(directory, 'az'));
  await writeFile(join(directory, 'maestro'), '');
  assert.ok('missing' in findPeer('az', { PATH: directory }));
  assert.ok('missing' in findPeer('maestro', { PATH: directory }));
  assert.throws(() => findPeer('az', { AZ_BIN: join(directory, 'nowhere') }), /AZ_BIN leads to/);
});

test('REQUIRE takes known names only', () => {
  assert.deepEqual([...requiredPeers({ REQUIRE: 'az, kube,' })], ['az', 'kube']);
  assert.deepEqual([...requiredPeers({})], []);
  assert.throws(() => requiredPeers({ REQUIRE: 'chrome' }), /"chrome"; known are mosquitto, kubectl, jq, az, chromium/);
});

test('a test whose peer is missing is skipped, or fails when the peer is required', (t) => {
  const reasons: (string | undefined)[] = [];
  const context = { ...t, skip: (reason?: string) => reasons.push(reason) } as unknown as TestContext;
  assert.equal(needs(context, 'az', { PATH: '' }), undefined);
  assert.match(reasons[0] ?? '', /az not found: AZ_BIN not set/);
  assert.throws(() => needs(context, 'az', { PATH: '', REQUIRE: 'az' }), /REQUIRE names it/);
  assert.throws(() => needs(context, 'az', { PATH: '', REQUIRE: 'azz' }), /known are/);
  assert.equal(reasons.length, 1);
});

async function programs(t: TestContext, names: readonly string[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'aro-peers-'));
  t.after(() => rm(directory, { recursive: true }));
  for (const name of names) {
    await writeFile(join(directory, name), '');
    await chmod(join(directory, name), 0o755);
  }
  return directory;
}
