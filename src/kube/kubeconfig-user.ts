// The user half of a kubeconfig: what a request proves its sender by.
import { dirname } from 'node:path';
import { createSecureContext } from 'node:tls';
import { Secret } from '../kit/secret.ts';
import {
  AccessError,
  type Credential,
  type CredentialSource,
  fixedCredential,
  type Impersonation,
} from './cluster-access.ts';
import { type ExecPlugin, execCredentials } from './exec-credential.ts';
import { freshFile } from './fresh-file.ts';
import { checkReadable, decoded, type Entry, pathOf } from './kubeconfig-entry.ts';

export interface KubeconfigUser {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly username?: string;
  readonly password?: string;
  readonly exec?: ExecPlugin | null;
  readonly 'auth-provider'?: { readonly name?: string } | null;
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
}

export interface UserPart {
  readonly credentials: CredentialSource;
  readonly impersonate?: Impersonation;
  /** Whether requests carry something that must not be read on the way. */
  readonly sendsSecrets: boolean;
}

export function userPart(
  entry: Entry<KubeconfigUser> | undefined,
  pluginInfo: Readonly<Record<string, unknown>>,
  origin: string,
): UserPart {
  if (!entry) return { credentials: fixedCredential({}), sendsSecrets: false };
  const user = entry.value;
  if (user.username || user.password) {
    throw new AccessError(
      `${origin}: user name and password are not accepted by Kubernetes any more; use a token, certificate or exec plugin`,
    );
  }
  if (user['auth-provider']) {
    throw new AccessError(
      `${origin}: the auth-provider ${user['auth-provider'].name ?? ''} is gone from Kubernetes; use an exec plugin`,
    );
  }
  const certificate = certificateSource(user, entry, origin);
  const token = tokenSource(user, entry, origin);
  if (user.exec && (certificate || token)) {
    throw new AccessError(`${origin}: the user has an exec plugin and another credential; keep one of them`);
  }
  const impersonate = impersonation(user, origin);
  return {
    credentials: user.exec
      ? execCredentials(user.exec, { directory: dirname(entry.file), cluster: pluginInfo, origin })
      : combined(certificate, token),
    ...(impersonate ? { impersonate } : {}),
    sendsSecrets: Boolean(user.exec || token),
  };
}

/** One kind of credential, read anew where it comes from a file. */
interface Source {
  current(): Promise<Credential>;
  forget(): void;
}

/** A user may have both: the certificate shows at the handshake, the token with each request. */
function combined(...sources: readonly (Source | undefined)[]): CredentialSource {
  const given = sources.filter((source) => source !== undefined);
  return {
    current: async () => Object.assign({}, ...(await Promise.all(given.map((source) => source.current())))),
    refused: () => {
      for (const source of given) source.forget();
    },
  };
}

function tokenSource(user: KubeconfigUser, entry: Entry<unknown>, origin: string): Source | undefined {
  if (user.tokenFile) {
    // A file that is renewed takes precedence over a token that is not.
    const path = pathOf(user.tokenFile, entry);
    checkReadable(path, 'tokenFile', origin);
    const file = freshFile(path);
    return { current: async () => ({ token: new Secret((await file.text()).trim()) }), forget: file.forget };
  }
  if (!user.token) return undefined;
  const token = new Secret(user.token);
  return { current: async () => ({ token }), forget: () => undefined };
}

function certificateSource(user: KubeconfigUser, entry: Entry<unknown>, origin: string): Source | undefined {
  const certificate = pemSource(
    user['client-certificate-data'],
    user['client-certificate'],
    'client-certificate',
    entry,
    origin,
  );
  const key = pemSource(user['client-key-data'], user['client-key'], 'client-key', entry, origin);
  if (!certificate && !key) return undefined;
  if (!certificate || !key) {
    throw new AccessError(
      `${origin}: the user has a ${certificate ? 'client-certificate' : 'client-key'} without the other half`,
    );
  }
  try {
    createSecureContext({ cert: certificate.now, key: key.now });
  } catch (cause) {
    throw new AccessError(`${origin}: client-certificate and client-key are not a usable pair in PEM`, { cause });
  }
  return {
    current: async () => ({
      certificate: { certificate: await certificate.text(), key: new Secret(await key.text()) },
    }),
    forget() {
      certificate.forget();
      key.forget();
    },
  };
}

interface Pem {
  readonly now: string;
  text(): Promise<string>;
  forget(): void;
}

function pemSource(
  data: string | undefined,
  file: string | undefined,
  what: string,
  entry: Entry<unknown>,
  origin: string,
): Pem | undefined {
  if (data) {
    const now = decoded(data, `${what}-data`, origin);
    return { now, text: async () => now, forget: () => undefined };
  }
  if (!file) return undefined;
  const path = pathOf(file, entry);
  const fresh = freshFile(path);
  return { now: checkReadable(path, what, origin), text: fresh.text, forget: fresh.forget };
}

function impersonation(user: KubeconfigUser, origin: string): Impersonation | undefined {
  if (!user.as) {
    if (user['as-uid'] || user['as-groups']?.length || user['as-user-extra']) {
      throw new AccessError(`${origin}: as-uid, as-groups and as-user-extra need "as"`);
    }
    return undefined;
  }
  return {
    user: user.as,
    ...(user['as-uid'] ? { uid: user['as-uid'] } : {}),
    ...(user['as-groups'] ? { groups: user['as-groups'] } : {}),
    ...(user['as-user-extra'] ? { extra: user['as-user-extra'] } : {}),
  };
}
