// The certificates of a connection to a broker, from files that may change, as those that Key Vault rotates do.
import { readFile } from 'node:fs/promises';
import type { Logger } from '../../kit/log.ts';
import { loadTls, watchTls } from '../../kit/tls.ts';

/** PEM files. */
export interface BrokerTls {
  /** Who may vouch for the broker; the system's authorities unless given. */
  readonly authorities?: string;
  /** Both or neither: what this side shows. */
  readonly certificate?: string;
  readonly key?: string;
}

export interface BrokerTlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly minVersion: 'TLSv1.2';
}

export interface BrokerTlsMaterial {
  current(): BrokerTlsOptions;
  /** Called with what the files say when they have changed into something that can be used. */
  onChange(listener: (options: BrokerTlsOptions) => void): void;
  stop(): void;
}

/** Throws PkiError for files that cannot be used. */
export async function loadBrokerTls(files: BrokerTls, logger: Logger): Promise<BrokerTlsMaterial> {
  const { authorities, certificate, key } = files;
  const read = async (): Promise<BrokerTlsOptions> => ({
    minVersion: 'TLSv1.2',
    ...(authorities === undefined ? {} : { ca: await readFile(authorities, 'utf8') }),
    ...(certificate === undefined ? {} : { cert: await readFile(certificate, 'utf8') }),
    ...(key === undefined ? {} : { key: await readFile(key, 'utf8') }),
  });
  let current = await read();
  let changed: (options: BrokerTlsOptions) => void = () => {};
  if (certificate === undefined || key === undefined) {
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
          changed(fresh);
        },
        (err: unknown) => logger.error({ err }, 'the changed certificate for the broker cannot be read'),
      );
    },
    onBroken: (err) =>
      logger.error({ err }, 'the changed certificate for the broker cannot be used, the one before it stays'),
  });
  return {
    current: () => current,
    onChange(listener) {
      changed = listener;
    },
    stop: watching.stop,
  };
}
