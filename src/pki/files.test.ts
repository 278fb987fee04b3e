import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createAuthority, issueServerCertificate } from './authority.ts';
import { PkiError } from './errors.ts';
import {
  authorityFiles,
  certificateFiles,
  loadAuthority,
  loadBundle,
  loadCertificate,
  writeCertificate,
} from './files.ts';

const authority = await createAuthority({ name: 'Test authority' });

test('what is written is read back, keys readable by their owner only, nothing else left behind', async (t) => {
  const directory = join(await temporary(t), 'made', 'on', 'demand');
  await writeCertificate(authorityFiles(directory), authority);
  const server = await issueServerCertificate(authority, { dnsNames: ['localhost'] });
  await writeCertificate(certificateFiles(directory, 'rp'), server);

  assert.deepEqual((await readdir(directory)).sort(), ['ca.crt', 'ca.key', 'rp.crt', 'rp.key']);
  const mode = async (name: string) => (await stat(join(directory, name))).mode & 0o777;
  if (process.platform !== 'win32') {
    assert.equal(await mode('.'), 0o700);
    assert.equal(await mode('ca.key'), 0o600);
    assert.equal(await mode('rp.key'), 0o600);
  }
  const read = await loadCertificate(certificateFiles(directory, 'rp'));
  assert.equal(read.certificate.fingerprint256, server.certificate.fingerprint256);
  assert.ok(read.key.equals(server.key));
  const ca = await loadAuthority(authorityFiles(directory));
  assert.ok(read.certificate.checkIssued(ca.certificate));
  assert.equal((await loadBundle(join(directory, 'ca.crt'))).length, 1);
});

test('writing again replaces both files; writing that fails leaves the old pair whole', async (t) => {
  const directory = await temporary(t);
  const files = certificateFiles(directory, 'rp');
  const first = await issueServerCertificate(authority, { dnsNames: ['localhost'] });
  const second = await issueServerCertificate(authority, { dnsNames: ['localhost'] });
  await writeCertificate(files, first);
  await writeCertificate(files, second);
  assert.equal((await loadCertificate(files)).certificate.fingerprint256, second.certificate.fingerprint256);

  const elsewhere = { certificate: join(directory, 'rp.key', 'not-a-directory'), key: files.key };
  await assert.rejects(writeCertificate(elsewhere, first));
  assert.equal((await loadCertificate(files)).certificate.fingerprint256, second.certificate.fingerprint256);
  assert.deepEqual((await readdir(directory)).sort(), ['rp.crt', 'rp.key']);
});

test('loading says plainly what is wrong', async (t) => {
  const directory = await temporary(t);
  const files = certificateFiles(directory, 'rp');
  await rejects(loadCertificate(files), 'missing', /rp\.(crt|key) cannot be read \(ENOENT\)/);

  const server = await issueServerCertificate(authority, { dnsNames: ['localhost'] });
  await writeCertificate(files, server);
  await rejects(loadAuthority(files), 'not-an-authority', /rp\.crt is not the certificate of an authority/);
  await rejects(loadBundle(files.certificate), 'not-an-authority', /rp\.crt/);

  const other = await issueServerCertificate(authority, { dnsNames: ['localhost'] });
  await writeFile(files.certificate, other.certificatePem);
  await rejects(loadCertificate(files), 'key-mismatch', /does not belong to the certificate in .*rp\.crt/);

  await writeFile(files.certificate, 'hello');
  await rejects(loadCertificate(files), 'garbage', /rp\.crt holds no certificate/);

  await writeFile(files.certificate, server.certificatePem.replace(/\n[^\n-]{10}/, '\nAAAAAAAAAA'));
  await rejects(loadCertificate(files), 'garbage', /rp\.crt cannot be read/);

  await writeFile(files.certificate, server.certificatePem);
  await writeFile(files.key, 'hello');
  await rejects(loadCertificate(files), 'garbage', /rp\.key is not an unencrypted private key/);
});

test('an authority that ended is not loaded for signing, an ended leaf is loaded to be renewed', async (t) => {
  const directory = await temporary(t);
  const now = new Date('2020-01-01T00:00:00Z');
  const old = await createAuthority({ name: 'Old', now, lifeSeconds: 60 });
  await writeCertificate(authorityFiles(directory), old);
  await rejects(loadAuthority(authorityFiles(directory)), 'expired', /ca\.crt expired on 2020-01-01T00:01:00/);
  assert.ok(await loadAuthority(authorityFiles(directory), now));
  await writeCertificate(
    certificateFiles(directory, 'rp'),
    await issueServerCertificate(old, { dnsNames: ['a'], now }),
  );
  assert.ok(await loadCertificate(certificateFiles(directory, 'rp')));
});

test('a name that would leave the directory or replace the authority is refused', () => {
  for (const name of ['../rp', 'a/b', '', '.hidden', 'ca', 'CA', 'Ca', 'a\0b']) {
    assert.throws(() => certificateFiles('/d', name), PkiError, name);
  }
});

test('a file holding a chain keeps it whole', async (t) => {
  const directory = await temporary(t);
  const files = certificateFiles(directory, 'rp');
  const server = await issueServerCertificate(authority, { dnsNames: ['localhost'] });
  const chain = server.certificatePem + authority.certificatePem;
  await writeCertificate(files, { ...server, certificatePem: chain });
  assert.equal((await loadCertificate(files)).certificatePem, await readFile(files.certificate, 'utf8'));
});

async function temporary(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'aro-pki-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

async function rejects(work: Promise<unknown>, reason: PkiError['reason'], message: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof PkiError, String(error));
    assert.equal(error.reason, reason, error.message);
    assert.match(error.message, message);
    return true;
  });
}
