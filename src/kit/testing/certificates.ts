// Certificates for tests: an authority and a server certificate for localhost in a temporary directory.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../../pki/authority.ts';
import type { KeyedCertificate } from '../../pki/certificate.ts';
import { authorityFiles, type CertificateFiles, certificateFiles, writeCertificate } from '../../pki/files.ts';
import { keyPem } from '../../pki/keys.ts';

export interface TestCertificates {
  readonly directory: string;
  readonly authority: KeyedCertificate;
  /** PEM of the authority, for clients to trust. */
  readonly ca: string;
  readonly caFile: string;
  /** The server's files, for localhost, 127.0.0.1 and ::1. */
  readonly server: CertificateFiles;
  /** Issues a server certificate of the same names without writing it. */
  issueServer(): Promise<KeyedCertificate>;
  /** A client certificate as TLS options take it. */
  client(names: Parameters<typeof issueClientCertificate>[1]): Promise<{ readonly cert: string; readonly key: string }>;
  /** A client certificate in files. */
  clientFiles(names: Parameters<typeof issueClientCertificate>[1]): Promise<CertificateFiles>;
}

export async function testCertificates(t: TestContext): Promise<TestCertificates> {
  const directory = await mkdtemp(join(tmpdir(), 'aro-tls-'));
  t.after(() => rm(directory, { recursive: true }));
  const authority = await createAuthority({ name: 'Test authority' });
  const issueServer = () =>
    issueServerCertificate(authority, { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1', '::1'] });
  const ca = authorityFiles(directory);
  const server = certificateFiles(directory, 'server');
  await writeCertificate(ca, authority);
  await writeCertificate(server, await issueServer());
  return {
    directory,
    authority,
    ca: authority.certificatePem,
    caFile: ca.certificate,
    server,
    issueServer,
    async client(names) {
      const client = await issueClientCertificate(authority, names);
      return { cert: client.certificatePem, key: keyPem(client.key) };
    },
    async clientFiles(names) {
      const files = certificateFiles(directory, `client-${names.commonName.replaceAll(/[^a-z0-9-]/gi, '-')}`);
      await writeCertificate(files, await issueClientCertificate(authority, names));
      return files;
    },
  };
}
