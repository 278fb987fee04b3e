// The certificate authority of every cluster and the certificate its server shows: made at first use, kept with its objects.
import { createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { createAuthority, issueServerCertificate } from '../../pki/authority.ts';
import { type KeyedCertificate, notAfter, pair } from '../../pki/certificate.ts';
import { keyPem } from '../../pki/keys.ts';
import type { KubeObject } from './object.ts';
import type { Objects } from './objects/objects.ts';

interface AuthorityOwner {
  readonly name: string;
  readonly hostName: string;
  /** Names beside it under which the server is known. */
  readonly otherNames: readonly string[];
  readonly objects: Objects;
  now(): number;
}

export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface Authorities {
  of(cluster: AuthorityOwner): Promise<KeyedCertificate>;
  /** A server certificate for the cluster's host name and this address, with the authority that client certificates need. */
  server(cluster: AuthorityOwner, address: string): Promise<ServerCertificate>;
  /** A TLS context with a server certificate for the cluster's host name and this address. */
  tls(cluster: AuthorityOwner, address: string): SecureContext | Promise<SecureContext>;
  forget(cluster: AuthorityOwner): void;
}

/** Not among the types that are served: nobody but this file sees it. */
const storage = 'server.local/authorities';
const objectName = 'cluster';

/** TLS contexts live outside the heap and are large; the certificates they are made of are not. */
const mostContexts = 500;
const serverLifeSeconds = 365 * 24 * 3600;
/** A certificate is issued again when it has less than this left. */
const renewBeforeMs = 24 * 3600 * 1000;

interface Held {
  authority: Promise<KeyedCertificate> | undefined;
  server: (ServerCertificate & { readonly expires: number }) | undefined;
  issuing: Promise<SecureContext> | undefined;
}

export function createAuthorities(): Authorities {
  const held = new WeakMap<AuthorityOwner, Held>();
  /** In order of last use. */
  const contexts = new Map<AuthorityOwner, { readonly context: SecureContext; readonly expires: number }>();

  const holdings = (cluster: AuthorityOwner): Held => {
    let found = held.get(cluster);
    if (!found) {
      found = { authority: undefined, server: undefined, issuing: undefined };
      held.set(cluster, found);
    }
    return found;
  };

  function of(cluster: AuthorityOwner): Promise<KeyedCertificate> {
    const own = holdings(cluster);
    own.authority ??= load(cluster).catch((error: unknown) => {
      own.authority = undefined;
      throw error;
    });
    return own.authority;
  }

  function remember(cluster: AuthorityOwner, context: SecureContext, expires: number): SecureContext {
    contexts.set(cluster, { context, expires });
    if (contexts.size > mostContexts) {
      for (const oldest of contexts.keys()) {
        contexts.delete(oldest);
        break;
      }
    }
    return context;
  }

  async function server(
    cluster: AuthorityOwner,
    address: string,
  ): Promise<ServerCertificate & { readonly expires: number }> {
    const own = holdings(cluster);
    const authority = await of(cluster);
    if (own.server && own.server.expires - renewBeforeMs > cluster.now()) return own.server;
    const issued = await issueServerCertificate(authority, {
      dnsNames: [
        cluster.hostName,
        ...cluster.otherNames,
        'localhost',
        'kubernetes',
        'kubernetes.default',
        'kubernetes.default.svc',
        'kubernetes.default.svc.cluster.local',
      ],
      ipAddresses: [...new Set(['127.0.0.1', '::1', ...(isIP(address) ? [address] : [])])],
      lifeSeconds: serverLifeSeconds,
    });
    own.server = {
      cert: issued.certificatePem,
      key: keyPem(issued.key),
      ca: authority.certificatePem,
      expires: notAfter(issued.certificate).getTime(),
    };
    return own.server;
  }

  async function issue(cluster: AuthorityOwner, address: string): Promise<SecureContext> {
    const { cert, key, ca, expires } = await server(cluster, address);
    return remember(cluster, createSecureContext({ cert, key, ca }), expires);
  }

  return {
    of,
    server,
    tls(cluster, address) {
      const known = contexts.get(cluster);
      if (known && known.expires - renewBeforeMs > cluster.now()) {
        contexts.delete(cluster);
        contexts.set(cluster, known);
        return known.context;
      }
      const own = holdings(cluster);
      own.issuing ??= issue(cluster, address).finally(() => {
        own.issuing = undefined;
      });
      return own.issuing;
    },
    forget(cluster) {
      contexts.delete(cluster);
      held.delete(cluster);
    },
  };
}

interface KeptAuthority extends KubeObject {
  readonly certificate: string;
  readonly key: string;
}

async function load(cluster: AuthorityOwner): Promise<KeyedCertificate> {
  const read = (kept: Objects | Parameters<Parameters<Objects['commit']>[0]>[0]): KeptAuthority | undefined => {
    const entry = kept.get(storage, '', objectName);
    return entry && (JSON.parse(entry.bytes.toString()) as KeptAuthority);
  };
  let kept = read(cluster.objects);
  if (!kept) {
    const made = await createAuthority({ name: `kubernetes ${cluster.name}`.slice(0, 64) });
    const object: KeptAuthority = {
      apiVersion: 'server.local/v1',
      kind: 'Authority',
      metadata: { name: objectName },
      certificate: made.certificatePem,
      key: keyPem(made.key),
    };
    kept = await cluster.objects.commit((transaction) => {
      const other = read(transaction);
      if (!other) transaction.put(storage, object);
      return other ?? object;
    });
  }
  return pair(kept.certificate, createPrivateKey(kept.key), `the authority of ${cluster.name}`);
}
