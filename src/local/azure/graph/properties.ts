// The properties that Graph's clients may write, by type: what each must be. Others are refused by name.
import { isRecord } from '../../../arm/record.ts';
import type { ObjectKind } from '../entra/directory-objects.ts';
import type { JsonObject } from '../kernel/record.ts';
import { badRequest } from './graph-error.ts';
import { typeNames } from './shapes.ts';

type Form = 'text' | 'flag' | 'texts' | 'object' | 'objects';

const textMax = 4096;
const itemsMax = 1000;

const forms: Readonly<Record<Form, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string' && value.length <= textMax,
  flag: (value) => typeof value === 'boolean',
  texts: (value) => Array.isArray(value) && value.length <= itemsMax && value.every((one) => forms.text(one)),
  object: isRecord,
  objects: (value) => Array.isArray(value) && value.length <= itemsMax && value.every(isRecord),
};

const writable: Readonly<Record<ObjectKind, Readonly<Record<string, Form>>>> = {
  User: {
    accountEnabled: 'flag',
    businessPhones: 'texts',
    companyName: 'text',
    department: 'text',
    displayName: 'text',
    employeeId: 'text',
    givenName: 'text',
    jobTitle: 'text',
    mail: 'text',
    mailNickname: 'text',
    mobilePhone: 'text',
    officeLocation: 'text',
    onPremisesImmutableId: 'text',
    otherMails: 'texts',
    passwordProfile: 'object',
    preferredLanguage: 'text',
    surname: 'text',
    usageLocation: 'text',
    userPrincipalName: 'text',
    userType: 'text',
  },
  Group: {
    description: 'text',
    displayName: 'text',
    groupTypes: 'texts',
    isAssignableToRole: 'flag',
    mailEnabled: 'flag',
    mailNickname: 'text',
    'members@odata.bind': 'texts',
    'owners@odata.bind': 'texts',
    securityEnabled: 'flag',
    visibility: 'text',
  },
  Application: {
    api: 'object',
    appRoles: 'objects',
    description: 'text',
    displayName: 'text',
    groupMembershipClaims: 'text',
    identifierUris: 'texts',
    info: 'object',
    isDeviceOnlyAuthSupported: 'flag',
    isFallbackPublicClient: 'flag',
    keyCredentials: 'objects',
    notes: 'text',
    optionalClaims: 'object',
    passwordCredentials: 'objects',
    publicClient: 'object',
    requiredResourceAccess: 'objects',
    serviceManagementReference: 'text',
    signInAudience: 'text',
    spa: 'object',
    tags: 'texts',
    uniqueName: 'text',
    web: 'object',
  },
  ServicePrincipal: {
    accountEnabled: 'flag',
    alternativeNames: 'texts',
    appId: 'text',
    appRoleAssignmentRequired: 'flag',
    description: 'text',
    displayName: 'text',
    homepage: 'text',
    loginUrl: 'text',
    notes: 'text',
    preferredSingleSignOnMode: 'text',
    servicePrincipalNames: 'texts',
    tags: 'texts',
  },
};

/** Whether a property can be set to nothing. */
const notNull: ReadonlySet<string> = new Set(['displayName', 'userPrincipalName', 'appId', 'accountEnabled']);

/** Checks the body of a write; members that are null are left out of the answer when null is what they would be anyway. */
export function writeBody(kind: ObjectKind, body: unknown, required: readonly string[] = []): JsonObject {
  if (!isRecord(body)) throw badRequest('The request body must be a JSON object.');
  const table = writable[kind];
  const type = typeNames[kind];
  for (const name of required) {
    if (body[name] === undefined || body[name] === null || body[name] === '') {
      throw badRequest(
        `A value is required for property '${name}' of resource '${type[0]?.toUpperCase()}${type.slice(1)}'.`,
      );
    }
  }
  for (const [name, value] of Object.entries(body)) {
    if (name.startsWith('@odata.')) continue;
    const form = Object.hasOwn(table, name) ? table[name] : undefined;
    if (form === undefined)
      throw badRequest(`Property '${name.slice(0, 64)}' is read-only or does not exist on type '${type}'.`);
    if (value === null && !notNull.has(name)) continue;
    if (!forms[form](value)) throw badRequest(`Invalid value specified for property '${name}' of resource '${type}'.`);
  }
  return body as JsonObject;
}

/** What is kept as it came: all that was written but these members. */
export function rest(body: JsonObject, without: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([name]) => !without.includes(name) && !name.includes('@odata')),
  );
}

export function textOf(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  return typeof value === 'string' ? value : undefined;
}

export function textsOf(value: unknown): readonly string[] | undefined {
  return forms.texts(value) ? (value as readonly string[]) : undefined;
}
