import { Secret } from '../../kit/secret.ts';
import { StoreError } from '../errors.ts';
import type { ServerSettings } from './connection.ts';

/** The settings that an address gives. Throws Invalid; the text may hold a password, so no error shows it. */
export function settingsOf(address: string): ServerSettings {
  const url = /^postgres(ql)?:\/\//.test(address) ? URL.parse(address) : null;
  const user = url && decoded(url.username);
  if (!url?.hostname || !user)
    throw new StoreError('Invalid', 'the PostgreSQL address must read postgres://user:password@host:port/database');
  const password = decoded(url.password);
  const tls = tlsOf(url.searchParams);
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    ...(url.port ? { port: Number(url.port) } : {}),
    database: decoded(url.pathname.slice(1)) || user,
    user,
    ...(password ? { password: new Secret(password) } : {}),
    ...(tls ? { tls } : {}),
  };
}

/** Other parameters could undo what the store relies on, such as the isolation of transactions, so there are none. */
function tlsOf(parameters: URLSearchParams): ServerSettings['tls'] {
  for (const name of parameters.keys()) {
    if (name !== 'sslmode')
      throw new StoreError(
        'Invalid',
        `the PostgreSQL address has the parameter ${name}; the only one it takes is sslmode`,
      );
  }
  const mode = parameters.get('sslmode') ?? 'disable';
  if (mode === 'disable') return undefined;
  if (mode === 'verify-full') return {};
  throw new StoreError('Invalid', `the PostgreSQL address has sslmode=${mode}; it takes disable and verify-full`);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new StoreError('Invalid', 'the PostgreSQL address has a % that begins no encoded character: write %25');
  }
}
