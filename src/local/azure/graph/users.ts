// Users, and the user or application that asks.
import { randomUUID } from 'node:crypto';
import { isRecord } from '../../../arm/record.ts';
import { foldCase } from '../../../arm/resource-id.ts';
import { Secret } from '../../../kit/secret.ts';
import { isStoreError } from '../../../store/errors.ts';
import type { User } from '../entra/directory-objects.ts';
import { hashPassword } from '../entra/passwords.ts';
import type { JsonObject } from '../kernel/record.ts';
import {
  countAnswer,
  demandRoom,
  type GraphCall,
  type Handlers,
  listAnswer,
  noContent,
  objectAnswer,
  objectOf,
} from './call.ts';
import { badRequest, denied } from './graph-error.ts';
import { demandCreate, demandRead, demandWrite, mayWrite } from './permissions.ts';
import { rest, textOf, writeBody } from './properties.ts';

const own = ['displayName', 'userPrincipalName', 'accountEnabled', 'passwordProfile'];
const nameForm = /^[^\s@/\\]{1,64}@[A-Za-z0-9.-]{1,190}$/;
const passwordLengths = { least: 8, most: 256 } as const;

export const userHandlers: Handlers = {
  'GET me': (call) => objectAnswer(call, me(call)),
  'GET users': (call) => listAnswer(call, 'User', call.entra.objects.list('User', call.bearer.tenantId)),
  'GET users/$count': (call) => countAnswer(call, 'User'),
  'GET users/{id}': (call) => {
    const user = objectOf(call, 'User');
    demandRead(call.bearer, 'users', user);
    return objectAnswer(call, user);
  },
  'POST users': async (call) => {
    demandCreate(call.bearer, 'users');
    demandRoom(call);
    const required = ['accountEnabled', 'displayName', 'mailNickname', 'passwordProfile', 'userPrincipalName'];
    const body = writeBody('User', call.body, required);
    const userPrincipalName = checkedName(call, textOf(body, 'userPrincipalName') ?? '');
    const passwordHash = await hashPassword(passwordOf(body) ?? new Secret(''));
    const user: User = {
      kind: 'User',
      id: randomUUID(),
      tenantId: call.bearer.tenantId,
      displayName: textOf(body, 'displayName') ?? '',
      createdDateTime: new Date(call.entra.clock.now()).toISOString(),
      userPrincipalName,
      upnKey: foldCase(userPrincipalName),
      accountEnabled: body.accountEnabled === true,
      directoryRoles: [],
      passwordHash,
      more: rest(body, own),
    };
    await call.entra.objects.create(user.tenantId, [user]).catch(nameTaken);
    return objectAnswer(call, user, 201);
  },
  'PATCH users/{id}': async (call) => {
    const user = objectOf(call, 'User');
    demandWrite(call.bearer, 'users');
    const body = writeBody('User', call.body);
    const password = passwordOf(body);
    const passwordHash = password ? await hashPassword(password) : undefined;
    const name = textOf(body, 'userPrincipalName');
    const userPrincipalName = name === undefined ? undefined : checkedName(call, name);
    const sessionsValidFrom = call.entra.clock.now();
    await call.entra.objects
      .change<'User'>(user, (now) => ({
        ...now,
        displayName: textOf(body, 'displayName') ?? now.displayName,
        ...(typeof body.accountEnabled === 'boolean' ? { accountEnabled: body.accountEnabled } : {}),
        ...(userPrincipalName === undefined ? {} : { userPrincipalName, upnKey: foldCase(userPrincipalName) }),
        // A new password ends what was signed in with the old one.
        ...(passwordHash === undefined ? {} : { passwordHash, sessionsValidFrom }),
        more: { ...now.more, ...rest(body, own) },
      }))
      .catch(nameTaken);
    return noContent;
  },
  'DELETE users/{id}': async (call) => {
    const user = objectOf(call, 'User');
    demandWrite(call.bearer, 'users');
    await call.entra.objects.remove(user.tenantId, [user.id]);
    return noContent;
  },
  'POST users/{id}/revokeSignInSessions': (call) => revoke(call, objectOf(call, 'User')),
  'POST me/revokeSignInSessions': (call) => revoke(call, me(call)),
};

/** The signed-in user. An application has no such thing. */
export function me(call: GraphCall): User {
  const user = call.entra.objects.find('User', call.bearer.objectId);
  if (!user) throw badRequest('/me request is only valid with delegated authentication flow.');
  return user;
}

async function revoke(call: GraphCall, user: User) {
  if (user.id !== call.bearer.objectId && !mayWrite(call.bearer, 'users')) throw denied();
  // Those of this very millisecond are meant too.
  const sessionsValidFrom = call.entra.clock.now() + 1;
  await call.entra.objects.change<'User'>(user, (now) => ({ ...now, sessionsValidFrom }));
  return { status: 200, body: { '@odata.context': `${call.base}/$metadata#Edm.Boolean`, value: true } };
}

function passwordOf(body: JsonObject): Secret<string> | undefined {
  const profile = body.passwordProfile;
  if (!isRecord(profile) || profile.password === undefined) return undefined;
  const { password } = profile;
  const { least, most } = passwordLengths;
  if (typeof password !== 'string' || password.length < least || password.length > most) {
    throw badRequest(
      'The specified password does not comply with password complexity requirements. Please provide a different password.',
    );
  }
  return new Secret(password);
}

function checkedName(call: GraphCall, name: string): string {
  const domain = name.split('@')[1]?.toLowerCase();
  const tenant = call.entra.tenants.find(({ id }) => id === call.bearer.tenantId);
  if (!nameForm.test(name)) throw badRequest('Property userPrincipalName is invalid.');
  if (domain !== tenant?.domain.toLowerCase()) {
    throw badRequest(
      'The domain portion of the userPrincipalName property is invalid. You must use one of the verified domain names in your organization.',
    );
  }
  return name;
}

function nameTaken(error: unknown): never {
  if (isStoreError(error, 'UniqueKey')) {
    throw badRequest('Another object with the same value for property userPrincipalName already exists.');
  }
  throw error;
}
