// The issuers that an application trusts.
import { randomUUID } from 'node:crypto';
import { isRecord } from '../../../arm/record.ts';
import type { FederatedCredential } from '../entra/directory-objects.ts';
import { owned, readable } from './applications.ts';
import { type GraphCall, type Handlers, noContent, pageAnswer } from './call.ts';
import { badRequest, conflict, notFound } from './graph-error.ts';
import { textsOf } from './properties.ts';
import { federatedShape } from './shapes.ts';

/** Entra's limit. */
const most = 20;
const textMax = 600;
const nameForm = /^[A-Za-z0-9][A-Za-z0-9_-]{0,119}$/;
const properties: ReadonlySet<string> = new Set(['id', 'name', 'issuer', 'subject', 'audiences', 'description']);

export const federatedHandlers: Handlers = {
  'GET applications/{id}/federatedIdentityCredentials': (call) => {
    const { federatedIdentityCredentials: all, id } = readable(call);
    const context = `applications('${id}')/federatedIdentityCredentials`;
    return pageAnswer(call, 'federatedIdentityCredential', context, all.map(federatedShape), properties);
  },
  'GET applications/{id}/federatedIdentityCredentials/{credential}': (call) => ({
    status: 200,
    body: federatedShape(found(call, readable(call).federatedIdentityCredentials)),
  }),
  'POST applications/{id}/federatedIdentityCredentials': async (call) => {
    const application = owned(call);
    const made: FederatedCredential = { id: randomUUID(), ...checked(call.body) };
    await call.entra.objects.change<'Application'>(application, (now) => {
      const all = now.federatedIdentityCredentials;
      if (all.length >= most) throw badRequest(`An application can have ${most} federated identity credentials.`);
      if (all.some((one) => one.name === made.name)) {
        throw conflict(`FederatedIdentityCredential with name ${made.name} already exists.`);
      }
      if (all.some((one) => one.issuer === made.issuer && one.subject === made.subject)) {
        throw conflict('FederatedIdentityCredential with this issuer and subject already exists.');
      }
      return { ...now, federatedIdentityCredentials: [...all, made] };
    });
    const context = `${call.base}/$metadata#applications('${application.id}')/federatedIdentityCredentials/$entity`;
    return { status: 201, body: { '@odata.context': context, ...federatedShape(made) } };
  },
  'PATCH applications/{id}/federatedIdentityCredentials/{credential}': async (call) => {
    const application = owned(call);
    const { id, ...current } = found(call, application.federatedIdentityCredentials);
    if (!isRecord(call.body)) throw badRequest('The request body must be a JSON object.');
    const next = { id, ...checked({ ...current, ...call.body, name: current.name }) };
    await call.entra.objects.change<'Application'>(application, (now) => ({
      ...now,
      federatedIdentityCredentials: now.federatedIdentityCredentials.map((one) => (one.id === id ? next : one)),
    }));
    return noContent;
  },
  'DELETE applications/{id}/federatedIdentityCredentials/{credential}': async (call) => {
    const application = owned(call);
    const { id } = found(call, application.federatedIdentityCredentials);
    await call.entra.objects.change<'Application'>(application, (now) => ({
      ...now,
      federatedIdentityCredentials: now.federatedIdentityCredentials.filter((one) => one.id !== id),
    }));
    return noContent;
  },
};

/** By id or by name. */
function found(call: GraphCall, all: readonly FederatedCredential[]): FederatedCredential {
  const wanted = call.parameters.credential ?? '';
  const one = all.find((credential) => credential.id === wanted.toLowerCase() || credential.name === wanted);
  if (!one) throw notFound(wanted);
  return one;
}

function checked(body: unknown): Omit<FederatedCredential, 'id'> {
  if (!isRecord(body)) throw badRequest('The request body must be a JSON object.');
  const { name, issuer, subject, description } = body;
  const audiences = textsOf(body.audiences);
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && value !== '' && value.length <= textMax;
  if (typeof name !== 'string' || !nameForm.test(name)) throw wrong('name');
  if (!isText(issuer) || !URL.canParse(issuer) || !issuer.startsWith('https://')) throw wrong('issuer');
  if (!isText(subject)) throw wrong('subject');
  if (audiences?.length !== 1 || !audiences.every(isText)) throw wrong('audiences');
  if (description !== undefined && description !== null && !isText(description)) throw wrong('description');
  return { name, issuer, subject, audiences, ...(typeof description === 'string' ? { description } : {}) };
}

function wrong(property: string): Error {
  return badRequest(`Invalid value specified for property '${property}' of resource 'FederatedIdentityCredential'.`);
}
