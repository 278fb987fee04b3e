// Secrets with Azure's own SDK.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { collect, freshClients, startVault, vaultClients } from './testing/vault.ts';

test('secrets are set, read, listed, changed, deleted, recovered and purged with the SDK unchanged', async (t) => {
  const { secrets, url } = await startVault(t);

  await t.test('a new value is a new version; the newest is what a read without version gives', async () => {
    const first = await secrets.setSecret('One', 'first', { contentType: 'text/plain', tags: { a: 'b' } });
    assert.equal(first.properties.id, `${url}secrets/One/${first.properties.version}`);
    assert.equal(first.properties.recoveryLevel, 'Recoverable+Purgeable');
    await secrets.setSecret('one', 'second');
    const newest = await secrets.getSecret('ONE');
    assert.equal(newest.value, 'second');
    assert.equal(newest.name, 'One', 'the name keeps the case of the first write');
    const old = await secrets.getSecret('One', { version: first.properties.version ?? '' });
    assert.equal(old.value, 'first');
    assert.equal(old.properties.contentType, 'text/plain');
    assert.deepEqual(old.properties.tags, { a: 'b' });
    assert.equal((await collect(secrets.listPropertiesOfSecretVersions('one'))).length, 2);
  });

  await t.test('what is not there, disabled or badly named is refused with the codes of vaults', async () => {
    await assert.rejects(secrets.getSecret('missing'), { statusCode: 404, code: 'SecretNotFound' });
    await assert.rejects(secrets.getSecret('one', { version: '0'.repeat(32) }), { code: 'SecretNotFound' });
    await assert.rejects(secrets.setSecret('not_valid', 'x'), { statusCode: 400, code: 'BadParameter' });
    const made = await secrets.setSecret('off', 'x', { enabled: false });
    await assert.rejects(secrets.getSecret('off'), { statusCode: 403, code: 'Forbidden' });
    await secrets.updateSecretProperties('off', made.properties.version ?? '', { enabled: true });
    assert.equal((await secrets.getSecret('off')).value, 'x');
  });

  await t.test('lists come in pages that the SDK follows', async () => {
    for (let count = 0; count < 30; count++) await secrets.setSecret(`page-${String(count).padStart(2, '0')}`, 'v');
    const names = (await collect(secrets.listPropertiesOfSecrets())).map(({ name }) => name);
    assert.equal(names.filter((name) => name.startsWith('page-')).length, 30);
    const pages = await collect(secrets.listPropertiesOfSecrets().byPage({ maxPageSize: 10 }));
    assert.ok(pages.length >= 3);
    assert.ok(pages.every((page) => page.length <= 10));
  });

  await t.test('a deleted secret keeps its name until it is recovered or purged', async () => {
    await secrets.setSecret('gone', 'value');
    const deleted = await (await secrets.beginDeleteSecret('gone', { intervalInMs: 1 })).pollUntilDone();
    assert.ok(deleted.properties.scheduledPurgeDate);
    await assert.rejects(secrets.getSecret('gone'), { code: 'SecretNotFound' });
    await assert.rejects(secrets.setSecret('gone', 'new'), (error: Error & { statusCode?: number; code?: string }) => {
      assert.equal(error.statusCode, 409);
      assert.equal(error.code, 'Conflict');
      assert.match(error.message, /deleted but recoverable state/);
      return true;
    });
    await (await secrets.beginRecoverDeletedSecret('gone', { intervalInMs: 1 })).pollUntilDone();
    assert.equal((await secrets.getSecret('gone')).value, 'value');
    await (await secrets.beginDeleteSecret('gone', { intervalInMs: 1 })).pollUntilDone();
    await secrets.purgeDeletedSecret('gone');
    await assert.rejects(secrets.getDeletedSecret('gone'), { statusCode: 404 });
    await secrets.setSecret('gone', 'again');
  });

  await t.test('a backup brings all versions back, and only in this cloud', async () => {
    await secrets.setSecret('kept', 'one');
    await secrets.setSecret('kept', 'two');
    const backup = await secrets.backupSecret('kept');
    assert.ok(backup);
    await assert.rejects(secrets.restoreSecretBackup(backup), { statusCode: 409 });
    await (await secrets.beginDeleteSecret('kept', { intervalInMs: 1 })).pollUntilDone();
    await secrets.purgeDeletedSecret('kept');
    await secrets.restoreSecretBackup(backup);
    assert.equal((await secrets.getSecret('kept')).value, 'two');
    assert.equal((await collect(secrets.listPropertiesOfSecretVersions('kept'))).length, 2);
    await assert.rejects(secrets.restoreSecretBackup(new Uint8Array(64)), { code: 'BadParameter' });
  });
});

test('deleted secrets are purged by themselves when their time is over', async (t) => {
  const cloud = await startVault(t);
  await cloud.secrets.setSecret('timed', 'value');
  await (await cloud.secrets.beginDeleteSecret('timed', { intervalInMs: 1 })).pollUntilDone();
  await cloud.azure.world.clock.advance(89 * 86_400_000);
  assert.ok(await freshClients(cloud, 'myvault').secrets.getDeletedSecret('timed'));
  await cloud.azure.world.clock.advance(2 * 86_400_000);
  await assert.rejects(freshClients(cloud, 'myvault').secrets.getDeletedSecret('timed'), { statusCode: 404 });
});

test('values are sealed at rest and survive a restart', async (t) => {
  const first = await startVault(t, { keep: true });
  await first.secrets.setSecret('mine', 'a-value-that-nobody-sees');
  const { dataDirectory } = first.azure;
  const second = await first.restart();
  for (const name of await readdir(dataDirectory)) {
    if (!name.includes('sqlite')) continue;
    assert.ok(!(await readFile(join(dataDirectory, name))).includes('a-value-that-nobody-sees'), name);
  }
  assert.equal((await vaultClients(second, 'myvault').secrets.getSecret('mine')).value, 'a-value-that-nobody-sees');
});
