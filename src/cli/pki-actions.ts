import { existsSync } from 'node:fs';
import { createAuthority, issueCertificate, type Usage } from '../pki/authority.ts';
import { type KeyedCertificate, notAfter } from '../pki/certificate.ts';
import {
  authorityFiles,
  type CertificateFiles,
  certificateFiles,
  loadAuthority,
  writeCertificate,
} from '../pki/files.ts';

export interface AuthorityOptions {
  readonly dir: string;
  readonly name: string;
}

export interface IssueOptions {
  readonly dir: string;
  readonly name: string;
  readonly server?: true;
  readonly client?: true;
  readonly dns?: readonly string[];
  readonly ip?: readonly string[];
}

/** Makes the authority of a directory that has none. */
export async function makeAuthority({ dir, name }: AuthorityOptions): Promise<void> {
  const files = authorityFiles(dir);
  // Everything it has signed would stop being trusted.
  for (const file of [files.certificate, files.key]) {
    if (existsSync(file))
      throw new Error(`${file} is there already; an authority is not replaced, choose another --dir`);
  }
  const authority = await createAuthority({ name });
  await writeCertificate(files, authority);
  report(files, authority);
}

/** Issues a certificate by the authority of its directory; one of the same name is replaced. */
export async function issue({ dir, name, server, client, dns = [], ip = [] }: IssueOptions): Promise<void> {
  const files = certificateFiles(dir, name);
  const signing = authorityFiles(dir);
  if (!existsSync(signing.certificate)) {
    throw new Error(`there is no authority in ${dir}; make one with: aro pki ca --dir ${dir}`);
  }
  const authority = await loadAuthority(signing);
  const hasNames = dns.length + ip.length > 0;
  const usage: Usage = server || (hasNames && !client) ? 'server' : 'client';
  const certificate = await issueCertificate(authority, {
    commonName: name,
    dnsNames: dns,
    ipAddresses: ip,
    usages: server && client ? ['server', 'client'] : [usage],
  });
  await writeCertificate(files, certificate);
  report(files, certificate);
}

function report(files: CertificateFiles, made: KeyedCertificate): void {
  process.stdout.write(
    `certificate ${files.certificate}\nkey         ${files.key}\nvalid until ${notAfter(made.certificate).toISOString()}\n`,
  );
}
