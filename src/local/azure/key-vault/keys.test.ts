// Keys with Azure's own SDK, and what they compute checked by node:crypto.
import assert from 'node:assert/strict';
import { createHash, createPublicKey, generateKeyPairSync, verify as verifyWith } from 'node:crypto';
import { test } from 'node:test';
import { collect, freshClients, startVault, vaultRequest } from './testing/vault.ts';

test('keys are made, brought in, used and rotated with the SDK unchanged', async (t) => {
  const cloud = await startVault(t);
  const { keys, cryptography, url } = cloud;
  const data = Buffer.from('what is signed');

  await t.test('an RSA key signs in every way, and node:crypto agrees', async () => {
    const key = await keys.createRsaKey('rsa', { keySize: 2048, tags: { a: 'b' } });
    assert.equal(key.id, `${url}keys/rsa/${key.properties.version}`);
    assert.equal(key.keyType, 'RSA');
    const jwk = { kty: 'RSA', n: text(key.key?.n), e: text(key.key?.e) };
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    const client = cryptography(key.id ?? '');
    for (const [alg, hash, padding] of [
      ['RS256', 'sha256', undefined],
      ['RS512', 'sha512', undefined],
      ['PS256', 'sha256', 6],
      ['PS384', 'sha384', 6],
    ] as const) {
      const digest = createHash(hash).update(data).digest();
      const { result } = await client.sign(alg, digest);
      assert.ok(verifyWith(hash, data, padding === undefined ? publicKey : { key: publicKey, padding }, result), alg);
      const remote = await remoteVerify(cloud, key.id ?? '', alg, digest, result);
      assert.equal(remote, true, alg);
      assert.equal(await remoteVerify(cloud, key.id ?? '', alg, digest, Buffer.alloc(256, 7)), false);
    }
  });

  await t.test('elliptic curve keys sign digests, and node:crypto agrees', async () => {
    for (const [curve, alg, hash] of [
      ['P-256', 'ES256', 'sha256'],
      ['P-384', 'ES384', 'sha384'],
      ['P-521', 'ES512', 'sha512'],
      ['P-256K', 'ES256K', 'sha256'],
    ] as const) {
      const key = await keys.createEcKey(`ec-${curve}`, { curve });
      const digest = createHash(hash).update(data).digest();
      const { result } = await cryptography(key.id ?? '').sign(alg, digest);
      const crv = curve === 'P-256K' ? 'secp256k1' : curve;
      const publicKey = createPublicKey({
        key: { kty: 'EC', crv, x: text(key.key?.x), y: text(key.key?.y) },
        format: 'jwk',
      });
      assert.ok(verifyWith(hash, data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, result), alg);
      assert.equal(await remoteVerify(cloud, key.id ?? '', alg, digest, result), true, alg);
      const other = createHash(hash).update('other').digest();
      assert.equal(await remoteVerify(cloud, key.id ?? '', alg, other, result), false, alg);
    }
  });

  await t.test('what is encrypted or wrapped with the public half comes back', async () => {
    const key = await keys.getKey('rsa');
    const client = cryptography(key.id ?? '');
    for (const algorithm of ['RSA1_5', 'RSA-OAEP', 'RSA-OAEP-256'] as const) {
      const { result } = await client.encrypt({ algorithm, plaintext: data });
      const back = await client.decrypt({ algorithm, ciphertext: result });
      assert.deepEqual(Buffer.from(back.result), data);
      const wrapped = await client.wrapKey(algorithm, data);
      assert.deepEqual(Buffer.from((await client.unwrapKey(algorithm, wrapped.result)).result), data);
    }
    await assert.rejects(client.decrypt({ algorithm: 'RSA-OAEP', ciphertext: new Uint8Array(3) }), {
      code: 'BadParameter',
    });
  });

  await t.test('symmetric keys encrypt and wrap', async () => {
    const key = await keys.createKey('aes', 'oct', { keySize: 256 });
    const client = cryptography(key.id ?? '');
    const plaintext = Buffer.from('0123456789abcdef');
    const sealed = await client.encrypt({ algorithm: 'A256GCM', plaintext });
    const back = await client.decrypt({
      algorithm: 'A256GCM',
      ciphertext: sealed.result,
      iv: sealed.iv ?? new Uint8Array(),
      authenticationTag: sealed.authenticationTag ?? new Uint8Array(),
    });
    assert.deepEqual(Buffer.from(back.result), plaintext);
    const wrapped = await client.wrapKey('A256KW', plaintext);
    assert.deepEqual(Buffer.from((await client.unwrapKey('A256KW', wrapped.result)).result), plaintext);
  });

  await t.test('a key is brought in with its private half, which never leaves', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwk = privateKey.export({ format: 'jwk' });
    const bytes: Record<string, string | Uint8Array> = {};
    for (const [name, value] of Object.entries(jwk))
      bytes[name] = name === 'kty' ? 'RSA' : Buffer.from(String(value), 'base64url');
    const imported = await keys.importKey('imported', bytes);
    assert.equal(imported.key?.d, undefined);
    const digest = createHash('sha256').update(data).digest();
    const { result } = await cryptography(imported.id ?? '').sign('RS256', digest);
    assert.ok(verifyWith('sha256', data, createPublicKey(privateKey), result));
  });

  await t.test("disabled keys and operations that are not among the key's are refused", async () => {
    const key = await keys.createRsaKey('narrow', { keyOps: ['verify'] });
    const value = createHash('sha256').update(data).digest('base64url');
    const sign = () => vaultRequest(cloud, new URL(`${key.id}/sign?api-version=7.6`), { alg: 'RS256', value });
    assert.equal((await sign()).status, 403);
    await keys.updateKeyProperties('narrow', { keyOps: ['sign', 'verify'] });
    assert.equal((await sign()).status, 200);
    await keys.updateKeyProperties('narrow', { enabled: false });
    const { status, json } = await sign();
    assert.equal(status, 403);
    assert.match(JSON.stringify(json), /"innererror":\{"code":"KeyDisabled"\}/);
    await assert.rejects(keys.getKey('none'), { code: 'KeyNotFound' });
    await assert.rejects(keys.createRsaKey('odd', { keySize: 1000 }), { code: 'BadParameter' });
  });

  await t.test('keys are listed, deleted, recovered and purged', async () => {
    assert.ok((await collect(keys.listPropertiesOfKeys())).some(({ name }) => name === 'aes'));
    await (await keys.beginDeleteKey('aes', { intervalInMs: 1 })).pollUntilDone();
    await assert.rejects(keys.createKey('aes', 'oct'), { statusCode: 409 });
    await (await keys.beginRecoverDeletedKey('aes', { intervalInMs: 1 })).pollUntilDone();
    assert.equal((await keys.getKey('aes')).name, 'aes');
    const backup = await keys.backupKey('aes');
    await (await keys.beginDeleteKey('aes', { intervalInMs: 1 })).pollUntilDone();
    await keys.purgeDeletedKey('aes');
    assert.equal((await keys.restoreKeyBackup(backup ?? new Uint8Array())).name, 'aes');
  });

  await t.test('keys rotate when asked, and by themselves when their policy says so', async () => {
    const first = await keys.createRsaKey('turning');
    const second = await keys.rotateKey('turning');
    assert.notEqual(second.properties.version, first.properties.version);
    await keys.updateKeyRotationPolicy('turning', {
      expiresIn: 'P90D',
      lifetimeActions: [{ action: 'Rotate', timeAfterCreate: 'P30D' }],
    });
    assert.equal((await keys.getKeyRotationPolicy('turning')).expiresIn, 'P90D');
    await cloud.azure.world.clock.advance(31 * 86_400_000);
    const later = freshClients(cloud, 'myvault').keys;
    const third = await later.getKey('turning');
    assert.notEqual(third.properties.version, second.properties.version);
    assert.ok(third.properties.expiresOn);
    assert.equal((await collect(later.listPropertiesOfKeyVersions('turning'))).length, 3);
  });
});

function text(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('base64url');
}

/** The SDK verifies by itself where it can; this asks the vault. */
async function remoteVerify(
  cloud: Awaited<ReturnType<typeof startVault>>,
  keyId: string,
  alg: string,
  digest: Buffer,
  signature: Uint8Array,
): Promise<unknown> {
  const answer = await vaultRequest(cloud, new URL(`${keyId}/verify?api-version=7.6`), {
    alg,
    digest: digest.toString('base64url'),
    value: Buffer.from(signature).toString('base64url'),
  });
  return answer.json?.value;
}
