// Who may connect to a namespace's MQTT broker and what they may publish and subscribe to.
import { X509Certificate } from 'node:crypto';
import type { Static, TSchema } from 'typebox';
import { foldCase } from '../../../arm/resource-id.ts';
import { Enum } from '../../../arm/schema.ts';
import { Type } from '../../../arm/type.ts';
import { objectOf, sentProperties, textOf } from '../kept-members.ts';
import type { PrepareRequest, ResourceType } from '../kernel/provider.ts';
import type { JsonObject } from '../kernel/record.ts';
import { isGoing } from '../network/going.ts';
import { eventGridVersions } from './api-versions.ts';
import { ClientQueryError, parseClientQuery } from './client-query.ts';
import { badRequest } from './errors.ts';
import { templateProblem } from './topic-templates.ts';

const name = { form: /^(?:\$all|[A-Za-z0-9-]{3,50})$/, rule: 'It has 3 to 50 letters, digits and hyphens.' };
const description = Type.Optional(Type.String({ maxLength: 128 }));
/** The group that every namespace has. */
export const everybody = '$all';

function child(
  type: string,
  properties: TSchema,
  check: (request: PrepareRequest, given: JsonObject) => JsonObject | Promise<JsonObject>,
): ResourceType {
  return {
    type: `namespaces/${type}`,
    apiVersions: eventGridVersions,
    scope: 'resourceGroup',
    location: 'none',
    name,
    etags: false,
    schema: Type.Object({ properties }),
    asynchrony: { create: 'operation', update: 'operation', delete: 'operation' },
    async prepare(request) {
      return {
        resource: { properties: await check(request, sentProperties(request.body)) },
        references: {},
      };
    },
  };
}

export const validationSchemes = [
  'SubjectMatchesAuthenticationName',
  'DnsMatchesAuthenticationName',
  'UriMatchesAuthenticationName',
  'IpMatchesAuthenticationName',
  'EmailMatchesAuthenticationName',
  'ThumbprintMatch',
] as const;

const clientProperties = Type.Object({
  description,
  authenticationName: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  state: Type.Optional(Enum(['Enabled', 'Disabled'])),
  clientCertificateAuthentication: Type.Optional(
    Type.Object({
      validationScheme: Type.Optional(Enum(validationSchemes)),
      allowedThumbprints: Type.Optional(Type.Array(Type.String(), { maxItems: 2 })),
    }),
  ),
  attributes: Type.Optional(Type.Object({})),
});

const thumbprintForm = /^(?:[0-9A-Fa-f]{40}|[0-9A-Fa-f]{64})$/;
const attributeForm = /^[A-Za-z][A-Za-z0-9_]*$/;

const clients = child('clients', clientProperties, async ({ world, id, current }, given) => {
  const { authenticationName = id.name, clientCertificateAuthentication: authentication } = given as Static<
    typeof clientProperties
  >;
  const { validationScheme = 'SubjectMatchesAuthenticationName', allowedThumbprints = [] } = authentication ?? {};
  const byThumbprint = validationScheme === 'ThumbprintMatch';
  if (byThumbprint && !(allowedThumbprints.length > 0 && allowedThumbprints.every((text) => thumbprintForm.test(text))))
    throw badRequest(
      'A client of validation scheme ThumbprintMatch needs one or two thumbprints in allowedThumbprints.',
    );
  if (!byThumbprint && allowedThumbprints.length > 0)
    throw badRequest('Only clients of validation scheme ThumbprintMatch have allowedThumbprints.');
  for (const [attribute, value] of Object.entries(objectOf(given.attributes))) {
    const plain = Array.isArray(value)
      ? value.every((one) => typeof one === 'string')
      : /^(?:string|number)$/.test(typeof value);
    if (!attributeForm.test(attribute) || !plain)
      throw badRequest(`The attribute '${attribute.slice(0, 50)}' must be a text, a whole number or a list of texts.`);
  }
  const before = textOf(current?.resource.properties?.authenticationName);
  if (before !== undefined && before !== authenticationName)
    throw badRequest('The authenticationName of a client cannot be changed.');
  const parent = id.text.slice(0, id.text.lastIndexOf('/clients/'));
  const others = await world.resources.list({ parent, type: 'Microsoft.EventGrid/namespaces/clients' });
  const taken = others.some(
    ({ resource }) =>
      foldCase(resource.id) !== id.key && resource.properties?.authenticationName === authenticationName,
  );
  if (taken) throw badRequest(`Another client of the namespace has the authenticationName '${authenticationName}'.`);
  return {
    state: 'Enabled',
    attributes: {},
    ...given,
    authenticationName,
    clientCertificateAuthentication: { validationScheme, ...(byThumbprint ? { allowedThumbprints } : {}) },
  };
});

const clientGroups: ResourceType = {
  ...child('clientGroups', Type.Object({ description, query: Type.String() }), ({ id, current }, given) => {
    if (id.name === everybody && current) throw badRequest(`The client group ${everybody} cannot be changed.`);
    try {
      parseClientQuery(textOf(given.query) ?? '');
    } catch (error) {
      if (!(error instanceof ClientQueryError)) throw error;
      throw badRequest(`The query of a client group is not valid: ${error.message}.`);
    }
    return given;
  }),
  async beforeDelete(world, { resource }) {
    const namespace = resource.id.split('/').slice(0, -2).join('/');
    if (resource.name === everybody && !(await isGoing(world, namespace)))
      throw badRequest(`The client group ${everybody} cannot be deleted.`);
  },
};

const topicSpaceProperties = Type.Object({
  description,
  topicTemplates: Type.Array(Type.String(), { minItems: 1, maxItems: 10 }),
});

const topicSpaces = child('topicSpaces', topicSpaceProperties, (_request, given) => {
  const { topicTemplates } = given as Static<typeof topicSpaceProperties>;
  for (const template of topicTemplates) {
    const problem = templateProblem(template);
    if (problem !== undefined)
      throw badRequest(`The topic template '${template.slice(0, 256)}' is not valid: ${problem}.`);
  }
  return given;
});

const bindingProperties = Type.Object({
  description,
  clientGroupName: Type.String({ minLength: 1 }),
  topicSpaceName: Type.String({ minLength: 1 }),
  permission: Enum(['Publisher', 'Subscriber']),
});

const permissionBindings = child('permissionBindings', bindingProperties, async ({ world, id }, given) => {
  const { clientGroupName, topicSpaceName } = given as Static<typeof bindingProperties>;
  const parent = id.text.slice(0, id.text.lastIndexOf('/permissionBindings/'));
  for (const [type, wanted] of [
    ['clientGroups', clientGroupName],
    ['topicSpaces', topicSpaceName],
  ] as const) {
    if (!(await world.resources.read(`${parent}/${type}/${wanted}`)))
      throw badRequest(
        `The permission binding names '${wanted.slice(0, 50)}', which is none of the namespace's ${type}.`,
      );
  }
  return given;
});

const certificateProperties = Type.Object({ description, encodedCertificate: Type.String({ maxLength: 65_536 }) });

const caCertificates = child('caCertificates', certificateProperties, (_request, given) => {
  const { encodedCertificate } = given as Static<typeof certificateProperties>;
  const certificate = readCertificate(encodedCertificate);
  if (!certificate?.ca) throw badRequest('The encodedCertificate must be the PEM or base64 of a CA certificate.');
  return {
    ...given,
    issueTimeInUtc: new Date(certificate.validFrom).toISOString(),
    expiryTimeInUtc: new Date(certificate.validTo).toISOString(),
  };
});

/** Undefined for text that is no certificate. */
export function readCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text.includes('-----BEGIN') ? text : Buffer.from(text, 'base64'));
  } catch {
    return undefined;
  }
}

export const namespaceChildren: readonly ResourceType[] = [
  clients,
  clientGroups,
  topicSpaces,
  permissionBindings,
  caCertificates,
];
