// Where certificates live on disk: `ca.crt` and `ca.key`, `<name>.crt` and `<name>.key`, in one directory of mode 0700.
// Every file is replaced whole or not at all, and keys are readable by their owner only.

import type { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkAuthority, checkValidAt, type KeyedCertificate, pair, readCertificates } from './certificate.ts';
import { PkiError } from './errors.ts';
import { keyPem, readKey } from './keys.ts';
import { makePrivateDirectory } from './private-directory.ts';
import { replaceFiles } from './whole-file.ts';

/** The two files of a certificate with its key. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

const fileName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export function authorityFiles(directory: string): CertificateFiles {
  return { certificate: join(directory, 'ca.crt'), key: join(directory, 'ca.key') };
}

/**
 * The files of the certificate of this name, which is not `ca`: that one belongs to the authority. Nor is it `CA`, which many
 * file systems take for the same.
 */
export function certificateFiles(directory: string, name: string): CertificateFiles {
  if (!fileName.test(name) || name.toLowerCase() === 'ca') {
    throw new PkiError(
      'bad-name',
      `${JSON.stringify(name)} does not name a certificate file: use letters, digits, dots, hyphens; \`ca\` is taken`,
    );
  }
  return { certificate: join(directory, `${name}.crt`), key: join(directory, `${name}.key`) };
}

/**
 * Writes both files; the directory is made when missing. Both are on disk before either takes its name, so that a reader
 * sees a pair that does not match only for the instant between two renames, and a failure before that changes nothing.
 */
export async function writeCertificate(files: CertificateFiles, keyed: KeyedCertificate): Promise<void> {
  await makeDirectory(dirname(files.key));
  await makeDirectory(dirname(files.certificate));
  await replaceFiles([
    { path: files.key, data: keyPem(keyed.key), mode: 0o600 },
    { path: files.certificate, data: keyed.certificatePem, mode: 0o644 },
  ]);
}

/** Reads a certificate and its key and checks that they are a pair. Expired ones load: renewing starts from them. */
export async function loadCertificate(files: CertificateFiles): Promise<KeyedCertificate> {
  const [certificatePem, key] = await Promise.all([readText(files.certificate), readText(files.key)]);
  return pair(certificatePem, readKey(key, files.key), files.certificate);
}

/** As {@link loadCertificate}, for a certificate that is about to sign: it must be an authority's and valid now. */
export async function loadAuthority(files: CertificateFiles, now: Date = new Date()): Promise<KeyedCertificate> {
  const authority = await loadCertificate(files);
  checkAuthority(authority.certificate, files.certificate);
  checkValidAt(authority.certificate, now, files.certificate);
  return authority;
}

/** The authorities of a bundle, such as `ca.crt` of a peer. Each must be an authority's certificate. */
export async function loadBundle(path: string): Promise<readonly X509Certificate[]> {
  const certificates = readCertificates(await readText(path), path);
  for (const certificate of certificates) checkAuthority(certificate, path);
  return certificates;
}

const directoryProblems: Readonly<Record<string, string>> = {
  EEXIST: 'is not a directory; choose another',
  ENOTDIR: 'cannot be a directory: it leads through a file',
};

async function makeDirectory(path: string): Promise<void> {
  try {
    await makePrivateDirectory(path);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    const problem = directoryProblems[code] ?? `cannot be made (${code})`;
    throw new PkiError('not-a-directory', `${path} ${problem}`, { cause });
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new PkiError('missing', `${path} cannot be read (${code})`, { cause });
  }
}
