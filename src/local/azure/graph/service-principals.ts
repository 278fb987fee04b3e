// Service principals: applications as the tenant knows them, and managed identities.

import { randomUUID } from 'node:crypto';
import { isStoreError } from '../../../store/errors.ts';
import type { ServicePrincipal } from '../entra/directory-objects.ts';
import { firstParty } from '../entra/first-party.ts';
import { servicePrincipal } from '../entra/seed.ts';
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
import { badRequest, conflict, denied } from './graph-error.ts';
import { existing } from './groups.ts';
import { demandCreate, demandRead, demandWrite } from './permissions.ts';
import { rest, textOf, writeBody } from './properties.ts';

const own = ['accountEnabled', 'appId', 'displayName', 'servicePrincipalNames'];

export const servicePrincipalHandlers: Handlers = {
  'GET servicePrincipals': (call) =>
    listAnswer(call, 'ServicePrincipal', call.entra.objects.list('ServicePrincipal', call.bearer.tenantId)),
  'GET servicePrincipals/$count': (call) => countAnswer(call, 'ServicePrincipal'),
  'GET servicePrincipals/{id}': (call) => objectAnswer(call, readable(call)),
  'POST servicePrincipals': async (call) => {
    demandCreate(call.bearer, 'applications');
    demandRoom(call);
    const body = writeBody('ServicePrincipal', call.body, ['appId']);
    const { objects, clock } = call.entra;
    const { tenantId } = call.bearer;
    const appId = textOf(body, 'appId') ?? '';
    const application = objects.application(appId);
    if (!application || application.tenantId !== tenantId) {
      throw badRequest(
        `When using this permission, the backing application of the service principal being created must in the local tenant. The appId '${appId.slice(0, 64)}' of the service principal does not reference a valid application object.`,
      );
    }
    // Making a principal of somebody else's application would let it act.
    demandWrite(call.bearer, 'applications', application);
    const made: ServicePrincipal = {
      ...servicePrincipal({
        id: randomUUID(),
        tenantId,
        appId: application.appId,
        displayName: application.displayName,
        createdDateTime: new Date(clock.now()).toISOString(),
        names: [application.appId, ...application.identifierUris],
        owners: [call.bearer.objectId],
      }),
      accountEnabled: body.accountEnabled !== false,
      more: rest(body, own),
    };
    try {
      await objects.create(tenantId, [made]);
    } catch (error) {
      if (!isStoreError(error, 'UniqueKey')) throw error;
      throw conflict(
        `The service principal cannot be created, updated, or restored because the service principal name ${application.appId} is already in use.`,
      );
    }
    return objectAnswer(call, made, 201);
  },
  'PATCH servicePrincipals/{id}': async (call) => {
    const principal = writable(call);
    const body = writeBody('ServicePrincipal', call.body);
    await call.entra.objects.change<'ServicePrincipal'>(principal, (now) => ({
      ...now,
      ...(typeof body.accountEnabled === 'boolean' ? { accountEnabled: body.accountEnabled } : {}),
      more: { ...now.more, ...rest(body, own) },
    }));
    return noContent;
  },
  'DELETE servicePrincipals/{id}': async (call) => {
    const principal = writable(call);
    await call.entra.objects.remove(principal.tenantId, [principal.id]);
    return noContent;
  },
  'GET servicePrincipals/{id}/owners': (call) => mixedAnswer(call, existing(call, readable(call).owners)),
};

function readable(call: GraphCall): ServicePrincipal {
  const principal = objectOf(call, 'ServicePrincipal');
  demandRead(call.bearer, 'applications', principal);
  return principal;
}

/** First-party principals and managed identities are not changed here: the one by nobody, the others by their resources. */
function writable(call: GraphCall): ServicePrincipal {
  const principal = objectOf(call, 'ServicePrincipal');
  demandWrite(call.bearer, 'applications', principal);
  if (principal.resourceId !== undefined || firstParty(principal.appId)) throw denied();
  return principal;
}
