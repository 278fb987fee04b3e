// What the agent shows and trusts when it connects, from wherever it is kept. It may change while the agent runs.
import { readFile } from 'node:fs/promises';
import type { Logger } from '../../kit/log.ts';
import { Secret } from '../../kit/secret.ts';
import { loadTls, watchTls } from '../../kit/tls.ts';

/** In PEM. */
export interface Certificates {
  /** Who may vouch for the other side; the system's authorities unless given. */
  readonly authorities?: string;
  readonly certificate?: string;
  readonly key?: Secret;
}

/** Files, a Key Vault, or whatever else gives certificates. */
export interface CertificateSource {
  /** Those to connect with now. */
  current(): Certificates;
  /** Called when others are to be used from now on; connections made with the old ones are renewed. */
  onChange(listener: () => void): void;
  stop(): void;
}

export interface CertificateFiles {
  readonly authorities?: string;
  /** With `key`, or neither. */
  readonly certificate?: string;
  readonly key?: string;
}

/** From files, read again when they change. Throws for files that cannot be used; later, what was read before stays. */
export async function certificatesFromFiles(files: CertificateFiles, logger: Logger): Promise<CertificateSource> {
  const { authorities, certificate, key } = files;
  const read = async (): Promise<Certificates> => ({
    ...(authorities === undefined ? {} : { authorities: await readFile(authorities, 'utf8') }),
    ...(certificate === undefined ? {} : { certificate: await readFile(certificate, 'utf8') }),
    ...(key === undefined ? {} : { key: new Secret(await readFile(key, 'utf8')) }),
  });
  let current = await read();
  let changed = (): void => {};
  if (certificate === undefined || key === undefined) {
    if (certificate !== key) throw new Error('a client certificate needs its key, and a key its certificate');
    return { current: () => current, onChange: () => {}, stop: () => {} };
  }
  const watched = { certificate, key, ...(authorities === undefined ? {} : { clientAuthorities: authorities }) };
  const watching = watchTls({
    files: watched,
    current: await loadTls(watched),
    onChange: () => {
      read().then(
        (fresh) => {
          current = fresh;
          changed();
        },
        (err: unknown) => logger.error({ err }, 'the changed certificate cannot be read, the one before it stays'),
      );
    },
    onBroken: (err) => logger.error({ err }, 'the changed certificate cannot be used, the one before it stays'),
  });
  return {
    current: () => current,
    onChange(listener) {
      changed = listener;
    },
    stop: watching.stop,
  };
}
