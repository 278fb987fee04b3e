// The files of a cloud: its key, its authority and certificate, the control token, and the ports it had the last time.
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KeyRing, keyRing } from '../../kit/key-ring.ts';
import { Secret } from '../../kit/secret.ts';
import type { KeyedCertificate } from '../../pki/certificate.ts';
import { PkiError } from '../../pki/errors.ts';
import {
  authorityFiles,
  type CertificateFiles,
  certificateFiles,
  loadAuthority,
  writeCertificate,
} from '../../pki/files.ts';
import { makePrivateDirectory } from '../../pki/private-directory.ts';
import { type CertificateKeeper, keepCertificate } from '../../pki/renewal.ts';

/** Ports by what listens there. */
export interface Ports {
  readonly https?: number;
  readonly proxy?: number;
  readonly dns?: number;
}

export interface DataDirectory {
  readonly path: string;
  readonly storeFile: string;
  /** Seals secrets at rest and the tokens of lists. */
  readonly keys: KeyRing;
  /** What callers of the control endpoints show. */
  readonly controlToken: Secret<string>;
  /** Of the application that owns the cloud; in the file `owner-secret`. */
  readonly ownerSecret: Secret<string>;
  readonly ports: Ports;
  /** PEM of the authority, to be trusted by clients; also in the file `ca.pem`. */
  readonly ca: string;
  readonly authority: KeyedCertificate;
  rememberPorts(ports: Ports): Promise<void>;
  /** The server's certificate for these names, kept fresh. */
  serverCertificate(
    names: readonly string[],
    onFailure: (error: unknown) => void,
  ): Promise<{ readonly files: CertificateFiles; readonly keeper: CertificateKeeper }>;
  /** Removes a directory that was only made for this run. */
  close(): Promise<void>;
}

/** Opens the directory, making what is missing in it; without a path, a temporary one. */
export async function openDataDirectory(given: string | undefined): Promise<DataDirectory> {
  const path = given ?? (await mkdtemp(join(tmpdir(), 'azure-')));
  await makePrivateDirectory(path);
  await chmod(path, 0o700);
  const key = await keptBytes(join(path, 'azure.key'), 32);
  const randomText = (): string => randomBytes(32).toString('base64url');
  const token = await keptText(join(path, 'control-token'), randomText);
  const ownerSecret = await keptText(join(path, 'owner-secret'), randomText);
  const authority = await keptAuthority(authorityFiles(join(path, 'pki')));
  const portsFile = join(path, 'ports.json');
  await replaceFile(join(path, 'ca.pem'), authority.certificatePem, 0o644);

  return {
    path,
    storeFile: join(path, 'azure.sqlite'),
    keys: keyRing([{ id: 'azure', bytes: new Secret(key) }]),
    controlToken: new Secret(token),
    ownerSecret: new Secret(ownerSecret),
    ports: await readPorts(portsFile),
    ca: authority.certificatePem,
    authority,
    rememberPorts: (ports) => replaceFile(portsFile, `${JSON.stringify(ports)}\n`, 0o600),
    async serverCertificate(names, onFailure) {
      const files = certificateFiles(join(path, 'pki'), 'server');
      const keeper = await keepCertificate({
        files,
        issue: async () =>
          (await issuing()).issueServerCertificate(authority, { dnsNames: names, ipAddresses: ['127.0.0.1', '::1'] }),
        stillRight: (certificate) =>
          certificate.checkIssued(authority.certificate) &&
          names.every((name) => certificate.subjectAltName?.split(', ').includes(`DNS:${name}`)),
        onFailure,
      });
      return { files, keeper };
    },
    async close() {
      if (given === undefined) await rm(path, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Loaded only when something is to be issued: it takes longer to load than all the rest to start. */
const issuing = () => import('../../pki/authority.ts');

async function keptAuthority(files: CertificateFiles): Promise<KeyedCertificate> {
  try {
    return await loadAuthority(files);
  } catch (error) {
    if (!(error instanceof PkiError) || (error.reason !== 'missing' && error.reason !== 'expired')) throw error;
    const { createAuthority } = await issuing();
    const authority = await createAuthority({ name: 'Embedded Azure' });
    await writeCertificate(files, authority);
    return authority;
  }
}

/** Whatever was written first stays, also when two processes start at once. */
async function keptBytes(file: string, length: number): Promise<Buffer> {
  try {
    await writeFile(file, randomBytes(length), { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  }
  const bytes = await readFile(file);
  if (bytes.length !== length)
    throw new Error(`${file} should hold ${length} bytes and holds ${bytes.length}: it was cut off or replaced`);
  return bytes;
}

async function keptText(file: string, make: () => string): Promise<string> {
  try {
    await writeFile(file, `${make()}\n`, { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    await chmod(file, 0o600);
  }
  const text = (await readFile(file, 'utf8')).trim();
  if (text === '') throw new Error(`${file} is empty: remove it and a new one is made`);
  return text;
}

async function readPorts(file: string): Promise<Ports> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (typeof value !== 'object' || value === null) return {};
    const isPort = ([, port]: [string, unknown]): boolean =>
      Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536;
    return Object.fromEntries(Object.entries(value).filter(isPort));
  } catch {
    // Remembering ports is a convenience: without the file, free ones are taken.
    return {};
  }
}

/** Whoever reads the file meanwhile, or after a crash, finds the old or the new one whole. */
async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  const next = `${file}.new`;
  await writeFile(next, text, { mode, flush: true });
  await rename(next, file);
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
