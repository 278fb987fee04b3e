// Who may do what in one cluster: authentication, impersonation and authorisation together, as the server asks for them.
import { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '../../../kit/secret.ts';
import type { Objects } from '../objects/objects.ts';
import { unauthorized } from '../status.ts';
import { type CertificateUser, certificateUser } from './certificate-user.ts';
import { clusterSigningKey } from './cluster-key.ts';
import { accessForbidden } from './forbidden.ts';
import { impersonated } from './impersonation.ts';
import type { OidcIssuer, OidcKeys } from './oidc.ts';
import { type Authorizer, createAuthorizer } from './rbac.ts';
import { createServiceAccountTokens, type ServiceAccountTokens } from './service-account-tokens.ts';
import { staticTokenUser } from './static-tokens.ts';
import type { AccessAnswer, AccessQuestion, User } from './user.ts';

/** What a request shows of its sender. */
export interface Credentials {
  /** The connection; its certificate is looked at once and remembered for as long as the connection lives. */
  readonly connection: { getPeerX509Certificate?(): X509Certificate | undefined };
  readonly headers: IncomingHttpHeaders;
}

export interface AccessOptions {
  readonly cluster: string;
  /** With the default roles among them. */
  readonly objects: Objects;
  /** PEM of the authority that signs client certificates. */
  readonly ca: () => Promise<string>;
  /** What the keys of all clusters are derived from. */
  readonly hostKey: Secret<Buffer>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Of service-account tokens; {@link defaultIssuer} unless given. */
  readonly issuer?: string;
  /** Issuers this cluster trusts, read at every token so that a change counts at once. */
  readonly oidc?: () => readonly OidcIssuer[];
  /** Shared by the clusters of a host; needed where `oidc` is given. */
  readonly oidcKeys?: OidcKeys;
}

export interface Access {
  readonly authorizer: Authorizer;
  readonly tokens: ServiceAccountTokens;
  /**
   * Who sends a request, by certificate or bearer token. Throws (or rejects with) StatusError 401 for everybody else; nobody is
   * anonymous. A promise only for the first request of a connection with a certificate, and for tokens of OIDC issuers.
   */
  authenticate(credentials: Credentials): User | Promise<User>;
  /** The user of a bearer token for these audiences (left out: the API server's own), as TokenReview asks. */
  tokenUser(
    token: string,
    audiences?: readonly string[],
  ): Promise<{ user: User; audiences: readonly string[] } | undefined>;
  /** Whom the request acts as: the user, or the one its Impersonate headers name. Throws StatusError 403. */
  actingUser(user: User, rawHeaders: readonly string[], path: string): User;
  mayDo(user: User, question: AccessQuestion): AccessAnswer;
  /** Throws StatusError 403, in the server's words, for what is not allowed. */
  require(user: User, question: AccessQuestion): AccessAnswer;
}

export const defaultIssuer = 'https://kubernetes.default.svc';

interface ConnectionUser {
  readonly access: Access;
  /** Undefined for a connection whose certificate does not count here. */
  readonly found: CertificateUser | undefined;
}

const connectionUsers = new WeakMap<object, ConnectionUser>();

const bearerForm = /^bearer +([^ ]+) *$/i;
const webSocketToken = 'base64url.bearer.authorization.k8s.io.';

export function createAccess(options: AccessOptions): Access {
  const { cluster, objects, now, issuer = defaultIssuer } = options;
  const authorizer = createAuthorizer(objects);
  const tokens = createServiceAccountTokens({
    issuer,
    objects,
    key: () => clusterSigningKey(options.hostKey, cluster),
    now,
  });
  const ownAudiences = [issuer];

  async function issuerUser(token: string): Promise<User | undefined> {
    for (const trusted of options.oidc?.() ?? []) {
      const user = await options.oidcKeys?.check(token, trusted, now());
      if (user) return user;
    }
    return undefined;
  }

  async function byOtherToken(token: string, checking: ReturnType<ServiceAccountTokens['check']>): Promise<User> {
    const user = (await checking)?.user ?? (await issuerUser(token));
    if (!user) throw unauthorized();
    return user;
  }

  function byToken(headers: IncomingHttpHeaders): User | Promise<User> {
    const token = tokenIn(headers);
    if (token === undefined) throw unauthorized();
    const user = staticTokenUser(objects, token, now());
    if (user) return user;
    const checked = tokens.check(token, ownAudiences);
    return checked && 'user' in checked ? checked.user : byOtherToken(token, checked);
  }

  function current(found: CertificateUser | undefined): User | undefined {
    const time = now();
    return found && time >= found.notBefore && time < found.notAfter ? found.user : undefined;
  }

  const access: Access = {
    authorizer,
    tokens,
    authenticate({ connection, headers }) {
      const known = connectionUsers.get(connection);
      if (known?.access === access) return current(known.found) ?? byToken(headers);
      const certificate = connection.getPeerX509Certificate?.();
      if (!certificate) {
        connectionUsers.set(connection, { access, found: undefined });
        return byToken(headers);
      }
      return options.ca().then((pem) => {
        const found = certificateUser(certificate, new X509Certificate(pem));
        connectionUsers.set(connection, { access, found });
        return current(found) ?? byToken(headers);
      });
    },
    async tokenUser(token, audiences = ownAudiences) {
      const checked = await tokens.check(token, audiences);
      if (checked) return checked;
      if (!audiences.includes(issuer)) return undefined;
      const user = staticTokenUser(objects, token, now()) ?? (await issuerUser(token));
      return user && { user, audiences: [issuer] };
    },
    actingUser(user, rawHeaders, path) {
      return impersonated(user, rawHeaders, path, authorizer.mayDo) ?? user;
    },
    mayDo: authorizer.mayDo,
    require(user, question) {
      const answer = authorizer.mayDo(user, question);
      if (!answer.allowed) throw accessForbidden(user, question, answer.reason);
      return answer;
    },
  };
  return access;
}

/** A bearer token, in its header or – for browsers, which cannot set that on a WebSocket – among the subprotocols. */
function tokenIn(headers: IncomingHttpHeaders): string | undefined {
  if (headers.authorization !== undefined) return bearerForm.exec(headers.authorization)?.[1];
  const offered = headers['sec-websocket-protocol']?.split(',') ?? [];
  const encoded = offered.map((text) => text.trim()).find((text) => text.startsWith(webSocketToken));
  if (encoded === undefined) return undefined;
  return Buffer.from(encoded.slice(webSocketToken.length), 'base64url').toString() || undefined;
}
