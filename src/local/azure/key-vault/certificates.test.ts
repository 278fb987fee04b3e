// Certificates with Azure's own SDK, and the containers they come in read by others.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createSecureContext } from 'node:tls';
import { Pkcs10CertificateRequest } from '@peculiar/x509';
import { certify, createAuthority } from '../../../pki/authority.ts';
import { keyPem } from '../../../pki/keys.ts';
import { readPkcs12, writePkcs12 } from './pkcs12.ts';
import { collect, freshClients, startVault } from './testing/vault.ts';

const fast = { intervalInMs: 1 };

test('certificates are made through a policy, merged, brought in and renewed with the SDK unchanged', async (t) => {
  const cloud = await startVault(t);
  const { certificates, secrets, keys, url } = cloud;

  await t.test(
    'a self-signed certificate is made while the client polls; key and secret have the same id',
    async () => {
      const poller = await certificates.beginCreateCertificate(
        'own',
        {
          issuerName: 'Self',
          subject: 'CN=own.example, O=Example',
          subjectAlternativeNames: { dnsNames: ['own.example', '*.own.example'] },
          validityInMonths: 6,
          keyType: 'EC',
          keyCurveName: 'P-256',
          contentType: 'application/x-pem-file',
        },
        { ...fast, tags: { a: 'b' } },
      );
      const made = await poller.pollUntilDone();
      const version = made.properties.version ?? '';
      assert.equal(made.keyId, `${url}keys/own/${version}`);
      assert.equal(made.secretId, `${url}secrets/own/${version}`);
      assert.deepEqual(made.properties.tags, { a: 'b' });
      const certificate = new X509Certificate(made.cer ?? new Uint8Array());
      assert.equal(certificate.checkHost('x.own.example'), '*.own.example');
      assert.equal(
        Buffer.from(made.properties.x509Thumbprint ?? [])
          .toString('hex')
          .toUpperCase(),
        certificate.fingerprint.replaceAll(':', ''),
      );
      assert.equal(certificate.subject, 'CN=own.example\nO=Example');
      const secret = await secrets.getSecret('own', { version });
      assert.equal(secret.properties.contentType, 'application/x-pem-file');
      assert.ok(certificate.checkPrivateKey(createPrivateKey(secret.value ?? '')));
      assert.equal((await keys.getKey('own')).properties.version, version);
      assert.equal((await certificates.getCertificatePolicy('own')).validityInMonths, 6);
    },
  );

  await t.test('a container without password holds certificate and key, as TLS libraries read it', async () => {
    const policy = { issuerName: 'Self', subject: 'CN=pfx.example' };
    await (await certificates.beginCreateCertificate('pfx', policy, fast)).pollUntilDone();
    const secret = await secrets.getSecret('pfx');
    assert.equal(secret.properties.contentType, 'application/x-pkcs12');
    const pfx = Buffer.from(secret.value ?? '', 'base64');
    createSecureContext({ pfx, passphrase: '' });
    const { key, certificates: found } = await readPkcs12(pfx, '');
    assert.ok(key && new X509Certificate(found[0] ?? Buffer.alloc(0)).checkPrivateKey(key));
    await assert.rejects(readPkcs12(pfx, 'wrong'), /password is wrong/);
  });

  await t.test('a request for an unknown issuer waits until what was signed is merged', async () => {
    await certificates.beginCreateCertificate(
      'outside',
      { issuerName: 'Unknown', subject: 'CN=outside.example' },
      fast,
    );
    const operation = await certificates.getCertificateOperation('outside', fast);
    const { certificateOperation: pending } = operation.getOperationState();
    assert.equal(pending?.status, 'inProgress');
    const csr = Buffer.from(pending?.csr ?? []).toString('base64');
    const authority = await createAuthority({ name: 'Elsewhere' });
    const request = new Pkcs10CertificateRequest(csr);
    assert.equal(request.subject, 'CN=outside.example');
    const pem = await certify(authority, {
      commonName: 'outside.example',
      usages: ['client'],
      publicKey: new Uint8Array(request.publicKey.rawData),
    });
    const certificate = new X509Certificate(pem);
    const merged = await certificates.mergeCertificate('outside', [certificate.raw, authority.certificate.raw]);
    assert.deepEqual(Buffer.from(merged.cer ?? []), certificate.raw);
    const other = await createAuthority({ name: 'Other' });
    await certificates.beginCreateCertificate(
      'outside',
      { issuerName: 'Unknown', subject: 'CN=outside.example' },
      fast,
    );
    await assert.rejects(certificates.mergeCertificate('outside', [other.certificate.raw]), { code: 'BadParameter' });
    await certificates.deleteCertificateOperation('outside');
    assert.equal((await certificates.getCertificate('outside')).properties.version, merged.properties.version);
  });

  await t.test('a named issuer signs with the authority that clients of the cloud trust', async () => {
    await assert.rejects(
      certificates.beginCreateCertificate('issued', { issuerName: 'OneCert', subject: 'CN=issued.example' }, fast),
      { code: 'BadParameter' },
    );
    await certificates.createIssuer('OneCert', 'OneCertV2-PublicCA', { accountId: 'me', password: 'hidden' });
    assert.equal((await certificates.getIssuer('onecert')).accountId, 'me');
    const poller = await certificates.beginCreateCertificate(
      'issued',
      {
        issuerName: 'OneCert',
        subject: 'CN=issued.example',
        subjectAlternativeNames: { dnsNames: ['issued.example'] },
      },
      fast,
    );
    const made = await poller.pollUntilDone();
    const certificate = new X509Certificate(made.cer ?? new Uint8Array());
    assert.ok(certificate.verify(new X509Certificate(cloud.azure.ca).publicKey));
    const issuers = await collect(certificates.listPropertiesOfIssuers());
    assert.deepEqual(
      issuers.map(({ id, provider }) => [id, provider]),
      [[`${url}certificates/issuers/OneCert`, 'OneCertV2-PublicCA']],
    );
    await certificates.deleteIssuer('OneCert');
  });

  await t.test('certificates are brought in as PEM and as PKCS #12', async () => {
    const authority = await createAuthority({ name: 'Imported' });
    const pem = `${keyPem(authority.key)}${authority.certificatePem}`;
    const fromPem = await certificates.importCertificate('from-pem', Buffer.from(pem), {
      policy: { contentType: 'application/x-pem-file', issuerName: 'Unknown', subject: 'CN=x' },
    });
    assert.deepEqual(Buffer.from(fromPem.cer ?? []), authority.certificate.raw);
    const pfx = writePkcs12({ key: authority.key, certificates: [authority.certificate.raw] });
    const fromPfx = await certificates.importCertificate('from-pfx', pfx);
    assert.deepEqual(Buffer.from(fromPfx.cer ?? []), authority.certificate.raw);
    assert.equal((await keys.getKey('from-pfx')).keyType, 'EC');
    await assert.rejects(certificates.importCertificate('bad', Buffer.from('nothing')), { code: 'BadParameter' });
  });

  await t.test('a certificate goes and comes back with its key and its secret', async () => {
    await assert.rejects(secrets.beginDeleteSecret('own', fast), { statusCode: 403 });
    await (await certificates.beginDeleteCertificate('own', fast)).pollUntilDone();
    await assert.rejects(secrets.getSecret('own'), { code: 'SecretNotFound' });
    await assert.rejects(keys.getKey('own'), { code: 'KeyNotFound' });
    await (await certificates.beginRecoverDeletedCertificate('own', fast)).pollUntilDone();
    assert.ok((await secrets.getSecret('own')).value);
    await assert.rejects(certificates.getCertificate('missing'), { code: 'CertificateNotFound' });
  });

  await t.test('contacts are kept', async () => {
    await certificates.setContacts([{ email: 'a@example.com', name: 'A' }]);
    assert.equal((await certificates.getContacts())?.[0]?.email, 'a@example.com');
    await certificates.deleteContacts();
    await assert.rejects(certificates.getContacts(), { statusCode: 404 });
  });

  await t.test('certificates are renewed by themselves before they expire', async () => {
    const policy = {
      issuerName: 'Self',
      subject: 'CN=renewed.example',
      validityInMonths: 1,
      lifetimeActions: [{ daysBeforeExpiry: 10, action: 'AutoRenew' as const }],
    };
    const first = await (await certificates.beginCreateCertificate('renewed', policy, fast)).pollUntilDone();
    await cloud.azure.world.clock.advance(22 * 86_400_000);
    const later = freshClients(cloud, 'myvault').certificates;
    const second = await later.getCertificate('renewed');
    assert.notEqual(second.properties.version, first.properties.version);
    assert.ok((second.properties.expiresOn ?? 0) > (first.properties.expiresOn ?? 0));
  });
});
