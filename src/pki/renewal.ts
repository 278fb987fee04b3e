// Renewing certificates before they end.
import type { X509Certificate } from 'node:crypto';
import { type KeyedCertificate, notAfter, notBefore } from './certificate.ts';
import { PkiError } from './errors.ts';
import { type CertificateFiles, loadCertificate, writeCertificate } from './files.ts';

/** A certificate is due when two thirds of its life are over: a failing authority then has the last third to recover. */
export function needsRenewal(certificate: X509Certificate, now: Date): boolean {
  const start = notBefore(certificate).getTime();
  const end = notAfter(certificate).getTime();
  return now.getTime() >= start + ((end - start) * 2) / 3;
}

export interface KeepOptions {
  readonly files: CertificateFiles;
  /** Gets a new certificate, from an authority at hand or over the wire. */
  readonly issue: () => Promise<KeyedCertificate>;
  /** Whether what is on disk is still the right one, besides its age: its names, its authority. True when left out. */
  readonly stillRight?: (certificate: X509Certificate) => boolean;
  /** Called after a new certificate is on disk, also the first one. The listener's `reload` goes here. */
  readonly onRenewed?: (keyed: KeyedCertificate) => void | Promise<void>;
  /** Called when renewing failed; the one in use stays and the next check tries again. */
  readonly onFailure?: (error: unknown) => void;
  readonly checkSeconds?: number;
  /** The clock, for tests. */
  readonly now?: () => Date;
}

/** A certificate on disk that is renewed in time. */
export interface CertificateKeeper {
  readonly current: KeyedCertificate;
  /** Looks now instead of at the next interval. Never rejects: failures go to `onFailure`. */
  check(): Promise<void>;
  /** Ends the checks and waits for one that is under way. */
  stop(): Promise<void>;
}

const defaultCheckSeconds = 600;

/**
 * Makes sure that a good certificate is on disk – issues one when the files are missing, unreadable, not a pair or no
 * longer right – and keeps it so. The age is judged by the wall clock at every check, so a sleep or a clock that jumps
 * delays a renewal by one interval at most. One keeper per pair of files.
 */
export async function keepCertificate(options: KeepOptions): Promise<CertificateKeeper> {
  const now = options.now ?? (() => new Date());
  const stillRight = options.stillRight ?? (() => true);
  let checking: Promise<void> | undefined;
  let current = await first();

  /** What is on disk if it will do, else a new one. */
  async function good(): Promise<KeyedCertificate> {
    const found = await onDisk(options.files);
    const right = found !== undefined && stillRight(found.certificate);
    if (right && !needsRenewal(found.certificate, now())) return found;
    const fresh = await options.issue();
    if (right) checkLivesLonger(fresh.certificate, found.certificate);
    await writeCertificate(options.files, fresh);
    await options.onRenewed?.(fresh);
    return fresh;
  }

  /** A certificate that is due but still valid will do to start with when the authority does not answer. */
  async function first(): Promise<KeyedCertificate> {
    try {
      return await good();
    } catch (error) {
      const found = await onDisk(options.files);
      if (!found || !stillRight(found.certificate) || now() >= notAfter(found.certificate)) throw error;
      options.onFailure?.(error);
      return found;
    }
  }

  async function look(): Promise<void> {
    try {
      current = await good();
    } catch (error) {
      options.onFailure?.(error);
    }
  }

  const check = (): Promise<void> => {
    checking ??= look().finally(() => {
      checking = undefined;
    });
    return checking;
  };
  const timer = setInterval(check, (options.checkSeconds ?? defaultCheckSeconds) * 1000).unref();

  return {
    get current() {
      return current;
    },
    check,
    async stop() {
      clearInterval(timer);
      await checking;
    },
  };
}

/** The pair on disk, or undefined when there is none that can be used. */
async function onDisk(files: CertificateFiles): Promise<KeyedCertificate | undefined> {
  try {
    return await loadCertificate(files);
  } catch (error) {
    if (error instanceof PkiError) return undefined;
    throw error;
  }
}

/** A leaf is cut to its authority's life: near the end of that, renewing gains nothing and the authority is what is due. */
function checkLivesLonger(fresh: X509Certificate, old: X509Certificate): void {
  if (notAfter(fresh) > notAfter(old)) return;
  throw new PkiError(
    'expired',
    `a new certificate would also end on ${notAfter(old).toISOString()}, with its authority: renew the authority`,
  );
}
