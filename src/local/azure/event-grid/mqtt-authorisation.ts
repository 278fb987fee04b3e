// Who may say and hear what on a namespace's MQTT broker, as its resources declare it. A broker reads this; it is data and pure rules.
import type { X509Certificate } from 'node:crypto';
import { objectOf, textOf } from '../kept-members.ts';
import type { Json, JsonObject, ResourceRecord } from '../kernel/record.ts';
import type { World } from '../kernel/world.ts';
import { type ClientQuery, parseClientQuery } from './client-query.ts';
import type { validationSchemes } from './namespace-children.ts';
import { covers, filterFor } from './topic-templates.ts';

export interface MqttClient {
  readonly name: string;
  readonly authenticationName: string;
  readonly enabled: boolean;
  readonly validationScheme: (typeof validationSchemes)[number];
  /** In upper case. */
  readonly thumbprints: readonly string[];
  /** Topic filters, the client's own names filled in. */
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

export interface MqttAuthorisation {
  /** Where clients connect; undefined while the broker is disabled. */
  readonly hostname: string | undefined;
  readonly sessionsPerClient: number;
  /** PEM or base64 of the authorities that clients' certificates may come from. */
  readonly authorities: readonly string[];
  readonly clients: readonly MqttClient[];
}

/** The model of a namespace by its id; undefined when there is none. */
export async function mqttAuthorisation(
  { resources }: Pick<World, 'resources'>,
  namespace: string,
): Promise<MqttAuthorisation | undefined> {
  const record = (await resources.read(namespace))?.body;
  if (!record) return undefined;
  const children = await resources.list({ parent: namespace });
  const of = (type: string): readonly ResourceRecord[] =>
    children.filter((one) => one.type === `microsoft.eventgrid/namespaces/${type}`);
  const templates = byName(of('topicspaces'), ({ topicTemplates }) => texts(topicTemplates));
  const groups = byName(of('clientgroups'), ({ query }) => queryOf(textOf(query)));
  const bindings = of('permissionbindings').map(({ resource }) => objectOf(resource.properties));
  const configuration = objectOf(record.resource.properties?.topicSpacesConfiguration);

  const clients = of('clients').map(({ resource }): MqttClient => {
    const properties = objectOf(resource.properties);
    const authentication = objectOf(properties.clientCertificateAuthentication);
    const client = {
      authenticationName: textOf(properties.authenticationName) ?? resource.name,
      attributes: objectOf(properties.attributes),
    };
    const filters = (permission: string): readonly string[] =>
      bindings
        .filter((binding) => binding.permission === permission && groups.get(key(binding.clientGroupName))?.(client))
        .flatMap((binding) => templates.get(key(binding.topicSpaceName)) ?? [])
        .map((template) => filterFor(template, client))
        .filter((filter) => filter !== undefined);
    return {
      name: resource.name,
      authenticationName: client.authenticationName,
      enabled: properties.state !== 'Disabled',
      validationScheme: (textOf(authentication.validationScheme) ??
        'SubjectMatchesAuthenticationName') as MqttClient['validationScheme'],
      thumbprints: texts(authentication.allowedThumbprints).map((text) => text.toUpperCase()),
      publish: [...new Set(filters('Publisher'))],
      subscribe: [...new Set(filters('Subscriber'))],
    };
  });
  return {
    hostname: textOf(configuration.hostname),
    sessionsPerClient: Number(configuration.maximumClientSessionsPerAuthenticationName ?? 1),
    authorities: of('cacertificates').map(({ resource }) => textOf(resource.properties?.encodedCertificate) ?? ''),
    clients,
  };
}

/**
 * The client that a certificate is of. `userName` is what the client calls itself in CONNECT, when it does. That the certificate
 * is in force and comes from one of the authorities is for the one who ended TLS to check; by thumbprint it need not come from any.
 */
export function clientOf(
  { clients }: Pick<MqttAuthorisation, 'clients'>,
  certificate: X509Certificate,
  userName?: string,
): MqttClient | undefined {
  return clients.find(
    (client) =>
      client.enabled &&
      (userName === undefined || userName === '' || userName === client.authenticationName) &&
      matches[client.validationScheme](client, certificate),
  );
}

/** Whether a client may publish to a topic, or subscribe to a topic filter. */
export function mayUse(client: MqttClient, permission: 'publish' | 'subscribe', topic: string): boolean {
  return client[permission].some((filter) => covers(filter, topic));
}

type Match = (client: MqttClient, certificate: X509Certificate) => boolean;

const alternative =
  (kind: string): Match =>
  ({ authenticationName }, { subjectAltName = '' }) =>
    subjectAltName.split(', ').includes(`${kind}:${authenticationName}`);

const matches: { readonly [scheme in MqttClient['validationScheme']]: Match } = {
  SubjectMatchesAuthenticationName: ({ authenticationName }, { subject }) =>
    subject.split('\n').includes(`CN=${authenticationName}`),
  DnsMatchesAuthenticationName: alternative('DNS'),
  UriMatchesAuthenticationName: alternative('URI'),
  IpMatchesAuthenticationName: alternative('IP Address'),
  EmailMatchesAuthenticationName: alternative('email'),
  ThumbprintMatch: ({ thumbprints }, { fingerprint, fingerprint256 }) =>
    [fingerprint, fingerprint256].some((text) => thumbprints.includes(text.replaceAll(':', ''))),
};

function byName<T>(records: readonly ResourceRecord[], read: (properties: JsonObject) => T): Map<string, T> {
  return new Map(records.map(({ resource }) => [key(resource.name), read(objectOf(resource.properties))]));
}

function key(name: Json | undefined): string {
  return String(name).toLowerCase();
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** What is kept was checked when it was written. */
function queryOf(text: string | undefined): ClientQuery {
  return parseClientQuery(text ?? 'false');
}
