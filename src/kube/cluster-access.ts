// How a cluster is reached and as whom: what kubeconfig files and the in-cluster configuration both come down to.
import type { Secret } from '../kit/secret.ts';

/** A client certificate and its key, in PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: Secret;
}

/** What a request proves its sender by; with neither, it is anonymous. */
export interface Credential {
  readonly token?: Secret;
  readonly certificate?: ClientCertificate;
}

/** Where credentials come from: files, an exec plugin, or fixed data. */
export interface CredentialSource {
  /** The credential to use now. Cheap to call before every request: sources keep what is still good. */
  current(): Promise<Credential>;
  /** The server answered 401 to this credential: what was kept of it is to be thrown away. */
  refused(credential: Credential): void;
}

/** Acts as somebody else, where the identity may do so. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ClusterAccess {
  /** `https://host:port`, with a path where the API is below one. */
  readonly server: string;
  /** The name to ask for and to check in the server's certificate; that of `server` unless given. */
  readonly serverName?: string;
  /** PEM of the authorities to trust, read again when their file changes; the system's unless given. */
  readonly authorities?: () => Promise<string>;
  /** Accepts any server certificate. */
  readonly insecure?: boolean;
  /** An HTTP proxy that takes CONNECT. A secret because it may hold a password. */
  readonly proxy?: Secret;
  readonly credentials: CredentialSource;
  readonly impersonate?: Impersonation;
  /** Where the configuration puts objects that name no namespace. */
  readonly namespace: string;
  /** Where this comes from, for messages: a file and context. */
  readonly origin: string;
}

/** A configuration that cannot be used. The message names the file and entry and what is wrong with it. */
export class AccessError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AccessError';
  }
}

/** A credential that never changes. */
export function fixedCredential(credential: Credential): CredentialSource {
  return { current: async () => credential, refused: () => undefined };
}
