// Who may connect, and publish and subscribe where, in the terms of an Event Grid namespace: clients are in groups, topics are in
// topic spaces, and bindings say which group may do what in which space. What no binding allows is refused.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { CertificateCaller } from '../../kit/caller.ts';
import type { Secret } from '../../kit/secret.ts';
import { covers, isFilter, isLevel } from './topic-filter.ts';

export interface BrokerClient {
  /** Unique. Clients with a certificate are found by it, others give it as their user name. */
  readonly authenticationName: string;
  readonly authentication: ClientAuthentication;
  /** For `${client.attributes.<name>}` in topic templates. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Names of groups. Every client is also in `$all`. */
  readonly groups?: readonly string[];
}

export type ClientAuthentication =
  /** A name of this kind in its certificate, which the broker's authorities have signed, is its authentication name. */
  { readonly certificate: 'commonName' | 'dns' | 'uri' } | { readonly password: Secret };

export interface TopicSpace {
  readonly name: string;
  /** Filters, in which `${client.authenticationName}` and `${client.attributes.<name>}` stand for the client's own. */
  readonly topicTemplates: readonly string[];
}

export interface PermissionBinding {
  readonly clientGroup: string;
  readonly topicSpace: string;
  readonly permission: 'Publisher' | 'Subscriber';
}

export interface BrokerAccess {
  readonly clients: readonly BrokerClient[];
  readonly topicSpaces: readonly TopicSpace[];
  readonly permissionBindings: readonly PermissionBinding[];
}

/** What a client shows when it connects. */
export interface Shown {
  /** Verified by TLS. */
  readonly certificate?: CertificateCaller;
  readonly username?: string;
  readonly password?: Uint8Array;
}

/** A client that has shown who it is. */
export interface KnownClient {
  readonly authenticationName: string;
  mayPublish(topic: string): boolean;
  /** Whether all that the filter matches is granted. */
  maySubscribe(filter: string): boolean;
}

export interface Permissions {
  /** Undefined for whoever is not known. */
  identify(shown: Shown): KnownClient | undefined;
}

export const allClients = '$all';

/** In a topic template: `authenticationName` or `attributes.<name>` of the client. */
export function clientsOwn(name: string): string {
  return `\${client.${name}}`;
}

/** Throws TypeError for data that contradict themselves. */
export function createPermissions(access: BrokerAccess): Permissions {
  const spaces = new Map(access.topicSpaces.map((space) => [space.name, space]));
  for (const { topicSpace } of access.permissionBindings) {
    if (!spaces.has(topicSpace)) throw new TypeError(`a permission binding names no topic space: ${topicSpace}`);
  }

  function grants(client: BrokerClient, permission: PermissionBinding['permission']): readonly string[] {
    const own = new Set([allClients, ...(client.groups ?? [])]);
    return access.permissionBindings
      .filter((binding) => binding.permission === permission && own.has(binding.clientGroup))
      .flatMap(({ topicSpace }) => spaces.get(topicSpace)?.topicTemplates ?? [])
      .map((template) => filled(template, client));
  }

  const known = new Map<string, { readonly client: BrokerClient; readonly access: KnownClient }>();
  for (const client of access.clients) {
    const { authenticationName } = client;
    if (known.has(authenticationName)) throw new TypeError(`two clients are called ${authenticationName}`);
    const [publishes, subscribes] = [grants(client, 'Publisher'), grants(client, 'Subscriber')];
    known.set(authenticationName, {
      client,
      access: {
        authenticationName,
        mayPublish: (topic) => publishes.some((filter) => covers(filter, topic)),
        maySubscribe: (filter) => isFilter(filter) && subscribes.some((grant) => covers(grant, filter)),
      },
    });
  }

  return {
    identify({ certificate, username, password }) {
      const names = certificate === undefined ? [] : certificateNames(certificate);
      for (const [kind, name] of names) {
        const found = known.get(name);
        if (found === undefined || (username !== undefined && username !== '' && username !== name)) continue;
        const { authentication } = found.client;
        if ('certificate' in authentication && authentication.certificate === kind) return found.access;
      }
      const found = username === undefined ? undefined : known.get(username);
      if (found === undefined || password === undefined || !('password' in found.client.authentication)) {
        return undefined;
      }
      return isSame(password, found.client.authentication.password) ? found.access : undefined;
    },
  };
}

type NameKind = 'commonName' | 'dns' | 'uri';

function certificateNames({ commonName, names }: CertificateCaller): readonly (readonly [NameKind, string])[] {
  return [
    ...names.uri.map((name) => ['uri', name] as const),
    ...names.dns.map((name) => ['dns', name] as const),
    ...(commonName === '' ? [] : [['commonName', commonName] as const]),
  ];
}

/** A value is put in only where it is one level: it must not become further levels or wildcards. */
function filled(template: string, client: BrokerClient): string {
  const filter = template.replaceAll(/\$\{client\.([^}]*)\}/g, (_, name: string) => {
    const value =
      name === 'authenticationName'
        ? client.authenticationName
        : name.startsWith('attributes.')
          ? client.attributes?.[name.slice('attributes.'.length)]
          : undefined;
    if (value === undefined || !isLevel(value)) {
      throw new TypeError(
        `${client.authenticationName} has no ${name} that can stand in the topic template ${template}`,
      );
    }
    return value;
  });
  if (!isFilter(filter)) throw new TypeError(`the topic template ${template} is not a filter`);
  return filter;
}

function isSame(given: Uint8Array, expected: Secret): boolean {
  const digest = (of: Uint8Array | string): Buffer => createHash('sha256').update(of).digest();
  return timingSafeEqual(digest(given), digest(expected.reveal()));
}
