// The certificate authority of every cluster and the certificate its server shows: made at first use, kept with its objects.
import { createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { createAuthority, issueServerCertificate } from '../../pki/authority.ts';
import { type KeyedCertificate, notAfter, pair } from '../../pki/certificate.ts';
import { generatePair, type KeyPair, keyPem } from '../../pki/keys.ts';
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
  /** Lets go of a removed cluster, for good: what is under way for it ends without a trace. */
  forget(cluster: AuthorityOwner): void;
}

/** Not among the types that are served: nobody but this file sees it. */
export const authorityStorage = 'server.local/authorities';
const objectName = 'cluster';

/**
 * So many clusters have their certificates at hand, those used last. The rest have theirs made again, from the authority in
 * their objects, in about a millisecond: a TLS context takes more memory than all else of an idle cluster.
 */
const mostAtHand = 256;
const serverLifeSeconds = 365 * 24 * 3600;
/** A certificate is issued again when it has less than this left. */
const renewBeforeMs = 24 * 3600 * 1000;

interface Held {
  authority?: Promise<KeyedCertificate> | undefined;
  server?: ServerCertificate & { readonly expires: number };
  context?: { readonly secure: SecureContext; readonly expires: number };
  issuing?: Promise<SecureContext> | undefined;
}

export function createAuthorities(): Authorities {
  /** In order of last use. */
  const held = new Map<AuthorityOwner, Held>();
  const forgotten = new WeakSet<AuthorityOwner>();
  /** The servers of all clusters are this one process, so their certificates are for one key of its own, never stored. */
  let serving: Promise<{ readonly pair: KeyPair; readonly pem: string }> | undefined;
  const servingKey = async (): Promise<{ readonly pair: KeyPair; readonly pem: string }> => {
    const pair = await generatePair('P-256');
    return { pair, pem: keyPem(pair.key) };
  };

  function holdings(cluster: AuthorityOwner): Held {
    if (forgotten.has(cluster)) return {};
    const found = held.get(cluster) ?? {};
    held.delete(cluster);
    held.set(cluster, found);
    if (held.size > mostAtHand) {
      for (const oldest of held.keys()) {
        held.delete(oldest);
        break;
      }
    }
    return found;
  }

  function of(cluster: AuthorityOwner): Promise<KeyedCertificate> {
    const own = holdings(cluster);
    own.authority ??= load(cluster).catch((error: unknown) => {
      own.authority = undefined;
      throw error;
    });
    return own.authority;
  }

  const isGood = (cluster: AuthorityOwner, { expires }: { readonly expires: number }): boolean =>
    expires - renewBeforeMs > cluster.now();

  async function server(
    cluster: AuthorityOwner,
    address: string,
  ): Promise<ServerCertificate & { readonly expires: number }> {
    const own = holdings(cluster);
    const authority = await of(cluster);
    if (own.server && isGood(cluster, own.server)) return own.server;
    serving ??= servingKey();
    const { pair: servingPair, pem } = await serving;
    const issued = await issueServerCertificate(authority, {
      pair: servingPair,
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
      key: pem,
      ca: authority.certificatePem,
      expires: notAfter(issued.certificate).getTime(),
    };
    return own.server;
  }

  async function issue(cluster: AuthorityOwner, address: string): Promise<SecureContext> {
    const { cert, key, ca, expires } = await server(cluster, address);
    const secure = createSecureContext({ cert, key, ca });
    holdings(cluster).context = { secure, expires };
    return secure;
  }

  return {
    of,
    server,
    tls(cluster, address) {
      const own = holdings(cluster);
      if (own.context && isGood(cluster, own.context)) return own.context.secure;
      own.issuing ??= issue(cluster, address).finally(() => {
        own.issuing = undefined;
      });
      return own.issuing;
    },
    forget(cluster) {
      forgotten.add(cluster);
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
    const entry = kept.get(authorityStorage, '', objectName);
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
      if (!other) transaction.put(authorityStorage, object);
      return other;
    });
    if (!kept) return made;
  }
  return pair(kept.certificate, createPrivateKey(kept.key), `the authority of ${cluster.name}`);
}
