// Applications, their credentials and their owners.
import { randomUUID } from 'node:crypto';
import { isRecord } from '../../../arm/record.ts';
import { isGuid } from '../../../arm/resource-id.ts';
import type { Application, KeyCredential, PasswordCredential } from '../entra/directory-objects.ts';
import { hashSecret, newSecret } from '../entra/passwords.ts';
import { keyCredential } from '../entra/seed.ts';
import type { JsonObject } from '../kernel/record.ts';
import {
  countAnswer,
  demandRoom,
  type GraphCall,
  type Handlers,
  listAnswer,
  mixedAnswer,
  noContent,
  objectAnswer,
  objectOf,
} from './call.ts';
import { badRequest, notFound } from './graph-error.ts';
import { bodyReference, existing } from './groups.ts';
import { demandCreate, demandRead, demandWrite } from './permissions.ts';
import { rest, textOf, textsOf, writeBody } from './properties.ts';
import { passwordShape } from './shapes.ts';

const own = [
  'displayName',
  'identifierUris',
  'isFallbackPublicClient',
  'keyCredentials',
  'passwordCredentials',
  'publicClient',
  'spa',
];
const credentialsMax = 100;
const secretLifeYears = 2;

export const applicationHandlers: Handlers = {
  'GET applications': (call) =>
    listAnswer(call, 'Application', call.entra.objects.list('Application', call.bearer.tenantId)),
  'GET applications/$count': (call) => countAnswer(call, 'Application'),
  'GET applications/{id}': (call) => objectAnswer(call, readable(call)),
  'POST applications': async (call) => {
    demandCreate(call.bearer, 'applications');
    demandRoom(call);
    const body = writeBody('Application', call.body, ['displayName']);
    const appId = randomUUID();
    const application = written(
      call,
      {
        kind: 'Application',
        id: randomUUID(),
        tenantId: call.bearer.tenantId,
        displayName: '',
        createdDateTime: new Date(call.entra.clock.now()).toISOString(),
        appId,
        identifierUris: [],
        redirectUris: { web: [], spa: [], publicClient: [] },
        isFallbackPublicClient: false,
        accessTokenVersion: 1,
        passwordCredentials: [],
        keyCredentials: [],
        federatedIdentityCredentials: [],
        owners: [call.bearer.objectId],
      },
      body,
    );
    const made = (Array.isArray(body.passwordCredentials) ? body.passwordCredentials : []).map((given) =>
      newPassword(call, given),
    );
    const passwordCredentials = made.map(({ credential }) => credential);
    await call.entra.objects.create(application.tenantId, [{ ...application, passwordCredentials }]);
    const answer = objectAnswer(call, { ...application, passwordCredentials }, 201);
    if (made.length === 0 || typeof answer.body !== 'object') return answer;
    return { ...answer, body: { ...answer.body, passwordCredentials: made.map(({ shown }) => shown) } };
  },
  'PATCH applications/{id}': async (call) => {
    const application = owned(call);
    const body = writeBody('Application', call.body);
    await call.entra.objects.change<'Application'>(application, (now) => written(call, now, body));
    const principal = call.entra.objects.servicePrincipal(application.tenantId, application.appId);
    const changed = objectOf(call, 'Application', application.id);
    if (principal) {
      const servicePrincipalNames = [application.appId, ...changed.identifierUris];
      await call.entra.objects.change<'ServicePrincipal'>(principal, (now) => ({
        ...now,
        servicePrincipalNames,
        displayName: changed.displayName,
      }));
    }
    return noContent;
  },
  'DELETE applications/{id}': async (call) => {
    const application = owned(call);
    const { objects } = call.entra;
    const principal = objects.servicePrincipal(application.tenantId, application.appId);
    await objects.remove(application.tenantId, [application.id, ...(principal ? [principal.id] : [])]);
    return noContent;
  },
  'POST applications/{id}/addPassword': async (call) => {
    const application = owned(call);
    const given = isRecord(call.body) ? call.body.passwordCredential : undefined;
    const { credential, shown } = newPassword(call, given);
    await call.entra.objects.change<'Application'>(application, (now) => {
      if (now.passwordCredentials.length >= credentialsMax) {
        throw badRequest(`An application can have ${credentialsMax} passwords.`);
      }
      return { ...now, passwordCredentials: [...now.passwordCredentials, credential] };
    });
    return {
      status: 200,
      body: { '@odata.context': `${call.base}/$metadata#microsoft.graph.passwordCredential`, ...shown },
    };
  },
  'POST applications/{id}/removePassword': async (call) => {
    const application = owned(call);
    const keyId = isRecord(call.body) ? call.body.keyId : undefined;
    if (typeof keyId !== 'string' || !isGuid(keyId)) throw badRequest("A value is required for property 'keyId'.");
    const kept = (one: PasswordCredential): boolean => one.keyId !== keyId.toLowerCase();
    if (application.passwordCredentials.every(kept)) throw badRequest('No password credential found with keyId.');
    await call.entra.objects.change<'Application'>(application, (now) => ({
      ...now,
      passwordCredentials: now.passwordCredentials.filter(kept),
    }));
    return noContent;
  },
  'GET applications/{id}/owners': (call) => mixedAnswer(call, existing(call, readable(call).owners)),
  'POST applications/{id}/owners/$ref': async (call) => {
    const application = owned(call);
    const owner = bodyReference(call);
    await call.entra.objects.change<'Application'>(application, (now) => ({
      ...now,
      owners: [...new Set([...now.owners, owner.id])],
    }));
    return noContent;
  },
  'DELETE applications/{id}/owners/{owner}/$ref': async (call) => {
    const application = owned(call);
    const owner = (call.parameters.owner ?? '').toLowerCase();
    if (!application.owners.includes(owner)) throw notFound(owner);
    await call.entra.objects.change<'Application'>(application, (now) => ({
      ...now,
      owners: now.owners.filter((id) => id !== owner),
    }));
    return noContent;
  },
};

export function readable(call: GraphCall): Application {
  const application = objectOf(call, 'Application');
  demandRead(call.bearer, 'applications', application);
  return application;
}

/** The application of the path, which the caller may change. */
export function owned(call: GraphCall): Application {
  const application = objectOf(call, 'Application');
  demandWrite(call.bearer, 'applications', application);
  return application;
}

/** What an application is after a body was written to it. */
function written(call: GraphCall, now: Application, body: JsonObject): Application {
  const uris = (name: string, kept: readonly string[]): readonly string[] => {
    const part = body[name];
    if (!isRecord(part) || part.redirectUris === undefined) return kept;
    const list = textsOf(part.redirectUris);
    if (!list?.every((uri) => URL.canParse(uri) && !/[\s\\#*]/.test(uri))) {
      throw badRequest(`One of the redirect URIs of property '${name}' is not a valid one.`);
    }
    return list;
  };
  const version = isRecord(body.api) ? body.api.requestedAccessTokenVersion : undefined;
  if (version !== undefined && version !== null && version !== 1 && version !== 2) {
    throw badRequest("Invalid value specified for property 'requestedAccessTokenVersion' of resource 'application'.");
  }
  const identifierUris = textsOf(body.identifierUris);
  if (identifierUris) checkIdentifiers(call, now, identifierUris);
  return {
    ...now,
    displayName: textOf(body, 'displayName') ?? now.displayName,
    identifierUris: identifierUris ?? now.identifierUris,
    redirectUris: {
      web: uris('web', now.redirectUris.web),
      spa: uris('spa', now.redirectUris.spa),
      publicClient: uris('publicClient', now.redirectUris.publicClient),
    },
    isFallbackPublicClient:
      body.isFallbackPublicClient === undefined ? now.isFallbackPublicClient : body.isFallbackPublicClient === true,
    accessTokenVersion: version === undefined ? now.accessTokenVersion : version === 2 ? 2 : 1,
    keyCredentials: Array.isArray(body.keyCredentials) ? keysOf(body.keyCredentials, now) : now.keyCredentials,
    more: { ...now.more, ...rest(body, own) },
  };
}

/** A name of a resource belongs to one application; those of Azure's own services to none of the directory's. */
function checkIdentifiers(call: GraphCall, application: Application, uris: readonly string[]): void {
  for (const uri of uris) {
    const valid = /^(api|https|urn|ms-appx):/i.test(uri) && !/\s/.test(uri) && uri.length <= 255;
    if (!valid) throw badRequest('Values of identifierUris property must be URIs of the schemes api, https or urn.');
    const holder = call.entra.audiences.ownerOf(uri, call.bearer.tenantId);
    if (holder !== undefined && holder !== application.appId) {
      throw badRequest('Another object with the same value for property identifierUris already exists.');
    }
  }
}

/** New certificates come with their key, those that stay with their keyId. */
function keysOf(given: readonly unknown[], now: Application): readonly KeyCredential[] {
  if (given.length > credentialsMax) throw badRequest(`An application can have ${credentialsMax} certificates.`);
  return given.map((one) => {
    if (!isRecord(one)) throw badRequest("Invalid value specified for property 'keyCredentials'.");
    const { key, keyId, displayName } = one;
    if (typeof key !== 'string') {
      const known = now.keyCredentials.find((credential) => credential.keyId === keyId);
      if (!known) throw badRequest('New key credentials must have the certificate in property key.');
      return known;
    }
    try {
      return keyCredential(Buffer.from(key, 'base64'), typeof displayName === 'string' ? displayName : undefined);
    } catch {
      throw badRequest('Key credential is not a valid X.509 certificate in DER, base64.');
    }
  });
}

function newPassword(
  call: GraphCall,
  given: unknown,
): { readonly credential: PasswordCredential; readonly shown: JsonObject } {
  if (given !== undefined && given !== null && !isRecord(given)) {
    throw badRequest("Invalid value specified for property 'passwordCredential'.");
  }
  const now = call.entra.clock.now();
  const time = (name: string, otherwise: number): string => {
    const value = given?.[name];
    if (value === undefined || value === null) return new Date(otherwise).toISOString();
    const parsed = typeof value === 'string' ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(parsed))
      throw badRequest(`Invalid value specified for property '${name}' of resource 'passwordCredential'.`);
    return new Date(parsed).toISOString();
  };
  const startDateTime = time('startDateTime', now);
  const end = new Date(startDateTime);
  end.setUTCFullYear(end.getUTCFullYear() + secretLifeYears);
  const endDateTime = time('endDateTime', end.getTime());
  if (endDateTime <= startDateTime) throw badRequest('The end date of a password must be after its start date.');
  const displayName = given?.displayName;
  const secret = newSecret();
  const credential: PasswordCredential = {
    keyId: randomUUID(),
    ...(typeof displayName === 'string' ? { displayName: displayName.slice(0, 256) } : {}),
    hint: secret.reveal().slice(0, 3),
    startDateTime,
    endDateTime,
    hash: hashSecret(secret),
  };
  return { credential, shown: { ...passwordShape(credential), secretText: secret.reveal() } };
}
