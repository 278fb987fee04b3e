import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createAuthority, issueServerCertificate } from './authority.ts';
import { type KeyedCertificate, notAfter } from './certificate.ts';
import { certificateFiles, loadCertificate, writeCertificate } from './files.ts';
import { keyPem } from './keys.ts';
import { type KeepOptions, keepCertificate, needsRenewal } from './renewal.ts';

const start = new Date('2030-01-01T00:00:00Z');
const daySeconds = 86_400;
const authority = await createAuthority({ name: 'Test authority', now: start, lifeSeconds: 1000 * daySeconds });

test('a certificate is due when two thirds of its life are over', async () => {
  const { certificate } = await leaf(start);
  assert.equal(needsRenewal(certificate, start), false);
  assert.equal(needsRenewal(certificate, days(19.9)), false);
  assert.equal(needsRenewal(certificate, days(20.1)), true);
  assert.equal(needsRenewal(certificate, days(40)), true);
});

test('issues the first certificate, keeps it while it is good, renews it in time', async (t) => {
  const { options, clock, issued, renewed } = await setup(t);
  const keeper = await keepCertificate(options);
  t.after(() => keeper.stop());
  assert.equal(issued.length, 1);
  assert.equal(renewed.length, 1);

  clock.now = days(19);
  await keeper.check();
  assert.equal(issued.length, 1);

  clock.now = days(21);
  await keeper.check();
  assert.equal(issued.length, 2);
  assert.deepEqual(notAfter(keeper.current.certificate), days(51));
  const disk = await loadCertificate(options.files);
  assert.equal(disk.certificate.fingerprint256, keeper.current.certificate.fingerprint256);
});

test('a keeper that starts on a good certificate issues none', async (t) => {
  const { options, issued } = await setup(t);
  await writeCertificate(options.files, await leaf(start));
  const keeper = await keepCertificate(options);
  t.after(() => keeper.stop());
  assert.equal(issued.length, 0);
});

for (const [what, spoil] of [
  ['not a pair', async (files) => writeFile(files.key, keyPem((await leaf(start)).key))],
  ['garbage', (files) => writeFile(files.certificate, 'hello')],
] as [string, (files: KeepOptions['files']) => Promise<void>][]) {
  test(`files that are ${what} are replaced`, async (t) => {
    const { options, issued } = await setup(t);
    await writeCertificate(options.files, await leaf(start));
    await spoil(options.files);
    const keeper = await keepCertificate(options);
    t.after(() => keeper.stop());
    assert.equal(issued.length, 1);
    assert.ok(await loadCertificate(options.files));
  });
}

test('a certificate that is no longer right is replaced, however young', async (t) => {
  const { options, issued } = await setup(t);
  await writeCertificate(options.files, await leaf(start));
  const stillRight: KeepOptions['stillRight'] = (certificate) => certificate.checkHost('new.aro.local') !== undefined;
  const keeper = await keepCertificate({ ...options, stillRight });
  t.after(() => keeper.stop());
  assert.equal(issued.length, 1);
});

test('when renewing fails the certificate in use stays, and the next check tries again', async (t) => {
  const { options, clock, issued, failures } = await setup(t);
  let broken = false;
  const issue = () => (broken ? Promise.reject(new Error('authority away')) : options.issue());
  const keeper = await keepCertificate({ ...options, issue });
  t.after(() => keeper.stop());
  const first = keeper.current;
  clock.now = days(21);
  broken = true;
  await keeper.check();
  assert.equal(keeper.current, first);
  assert.match(String(failures[0]), /authority away/);
  broken = false;
  await keeper.check();
  assert.equal(issued.length, 2);
  assert.equal(failures.length, 1);
});

test('starting with the authority away works as long as the certificate on disk is valid', async (t) => {
  const { options, clock, failures } = await setup(t);
  await writeCertificate(options.files, await leaf(start));
  const away = { ...options, issue: () => Promise.reject(new Error('authority away')) };
  clock.now = days(29);
  const keeper = await keepCertificate(away);
  await keeper.stop();
  assert.equal(failures.length, 1);
  clock.now = days(31);
  await assert.rejects(keepCertificate(away), /authority away/);
});

test('near the end of the authority nothing is written that gains nothing, and the failure says what is due', async (t) => {
  const { options, clock, issued, failures } = await setup(t);
  clock.now = days(980);
  const keeper = await keepCertificate(options);
  t.after(() => keeper.stop());
  const first = keeper.current;
  assert.deepEqual(notAfter(first.certificate), notAfter(authority.certificate));
  clock.now = days(995);
  await keeper.check();
  assert.equal(keeper.current, first);
  assert.equal(issued.length, 2);
  assert.match(String(failures[0]), /renew the authority/);
});

test('two checks at once are one check', async (t) => {
  const { options, clock, issued } = await setup(t);
  const keeper = await keepCertificate(options);
  t.after(() => keeper.stop());
  clock.now = days(21);
  await Promise.all([keeper.check(), keeper.check(), keeper.check()]);
  assert.equal(issued.length, 2);
});

function days(count: number): Date {
  return new Date(start.getTime() + count * daySeconds * 1000);
}

function leaf(now: Date): Promise<KeyedCertificate> {
  return issueServerCertificate(authority, {
    dnsNames: ['rp.aro.local'],
    now,
    lifeSeconds: 30 * daySeconds,
  });
}

async function setup(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'aro-pki-'));
  t.after(() => rm(directory, { recursive: true }));
  const clock = { now: start };
  const issued: KeyedCertificate[] = [];
  const renewed: KeyedCertificate[] = [];
  const failures: unknown[] = [];
  const options: KeepOptions = {
    files: certificateFiles(directory, 'rp'),
    issue: async () => {
      const fresh = await leaf(clock.now);
      issued.push(fresh);
      return fresh;
    },
    onRenewed: (fresh) => {
      renewed.push(fresh);
    },
    onFailure: (error) => {
      failures.push(error);
    },
    now: () => clock.now,
  };
  return { options, clock, issued, renewed, failures };
}
