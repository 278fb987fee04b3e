// TLS from files on disk: loaded with clear errors, and loaded again when they change.
import { constants } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { checkValidAt } from '../pki/certificate.ts';
import { loadBundle, loadCertificate } from '../pki/files.ts';
import { keyPem } from '../pki/keys.ts';

export interface TlsFiles {
  /** PEM: the leaf, then any intermediate certificates. */
  readonly certificate: string;
  /** PEM, not encrypted. */
  readonly key: string;
  /** PEM: the authorities whose client certificates are accepted. */
  readonly clientAuthorities?: string;
}

const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** TLS 1.2 with forward secrecy and authenticated encryption, or newer. */
const protocol = {
  minVersion: 'TLSv1.2',
  ecdhCurve: 'X25519:P-256',
  ciphers,
  honorCipherOrder: true,
} as const satisfies SecureContextOptions;

/** What was read from the files, ready for a TLS server. */
export interface TlsMaterial {
  readonly options: SecureContextOptions;
  /** Of the server's certificate, SHA-256. */
  readonly fingerprint: string;
  readonly expires: string;
  /** Differs when any of the files says something else. */
  readonly version: string;
}

/** Reads and checks the files. Throws PkiError for what cannot serve: missing, garbage, not a pair, expired. */
export async function loadTls(files: TlsFiles, now: Date = new Date()): Promise<TlsMaterial> {
  const server = await loadCertificate(files);
  checkValidAt(server.certificate, now, files.certificate);
  const authorities = files.clientAuthorities === undefined ? [] : await loadBundle(files.clientAuthorities);
  const trusted = authorities.map((authority) => authority.toString());
  const options: SecureContextOptions = {
    ...protocol,
    cert: server.certificatePem,
    key: keyPem(server.key),
    ...(files.clientAuthorities === undefined ? {} : { ca: trusted, secureOptions: constants.SSL_OP_NO_TICKET }),
  };
  // OpenSSL has rules of its own, such as the least size of keys.
  createSecureContext(options);
  return {
    options,
    fingerprint: server.certificate.fingerprint256,
    expires: server.certificate.validTo,
    version: [server.certificatePem, server.certificate.fingerprint256, ...trusted].join('\n'),
  };
}

export interface TlsWatch {
  /** Looks at the files now. Never rejects: what is wrong goes to `onBroken`. */
  reload(): Promise<void>;
  stop(): void;
}

export interface TlsWatchOptions {
  readonly files: TlsFiles;
  readonly current: TlsMaterial;
  /** Called with new material that has been checked. */
  readonly onChange: (material: TlsMaterial) => void;
  /** Called when the files changed into something that cannot serve; once for the same problem. What was loaded stays. */
  readonly onBroken: (error: unknown) => void;
  /** The net below the file watch, which some file systems do not have. */
  readonly pollSeconds?: number;
}

const defaultPollSeconds = 60;
/** Files are replaced one after the other; this long after the last change they are taken for complete. */
const settleMs = 100;

/**
 * Watches the directories, not the files: renaming a new file over the old one, and the swap of the `..data` link by which
 * Kubernetes updates mounted secrets, show only there.
 */
export function watchTls(options: TlsWatchOptions): TlsWatch {
  const { files } = options;
  const paths = [
    files.certificate,
    files.key,
    ...(files.clientAuthorities === undefined ? [] : [files.clientAuthorities]),
  ];
  let version = options.current.version;
  let lastProblem = '';
  let settling: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  let stopped = false;

  async function look(): Promise<void> {
    if (stopped) return;
    try {
      const material = await loadTls(files);
      lastProblem = '';
      if (stopped || material.version === version) return;
      version = material.version;
      options.onChange(material);
    } catch (error) {
      const problem = String(error);
      if (stopped || problem === lastProblem) return;
      lastProblem = problem;
      options.onBroken(error);
    }
  }
  const reload = (): Promise<void> => {
    looking = looking.then(look);
    return looking;
  };
  const changed = (): void => {
    clearTimeout(settling);
    settling = setTimeout(reload, settleMs).unref();
  };
  const watchers = [...new Set(paths.map((path) => dirname(path)))].flatMap((path) => watchDirectory(path, changed));
  const poll = setInterval(reload, (options.pollSeconds ?? defaultPollSeconds) * 1000).unref();

  return {
    reload,
    stop() {
      stopped = true;
      clearTimeout(settling);
      clearInterval(poll);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** A directory that cannot be watched (too many watches, a network file system) is left to the poll. */
function watchDirectory(path: string, changed: () => void): readonly FSWatcher[] {
  try {
    const watcher = watch(path, { persistent: false }, changed);
    watcher.on('error', () => watcher.close());
    return [watcher];
  } catch {
    return [];
  }
}
