// Issuers that certificates may name, and the people to be told about certificates.
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import type { Document } from '../../../store/store.ts';
import type { JsonObject } from '../kernel/record.ts';
import { bodyOf, nameOf, nowSeconds, type VaultAnswer, type VaultCall, type VaultRoute } from './call.ts';
import { VaultError } from './errors.ts';
import { nextLink, pageOf } from './lifecycle.ts';
import { type ContactsBody, commit, type IssuerBody, upsert } from './objects.ts';

const text = Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()]));
const issuerSchema = Type.Object({
  provider: text,
  credentials: Type.Optional(
    Type.Object({ account_id: text, pwd: Type.Optional(Type.Union([Type.String({ maxLength: 4096 }), Type.Null()])) }),
  ),
  org_details: Type.Optional(
    Type.Object({
      id: text,
      admin_details: Type.Optional(
        Type.Array(Type.Object({ first_name: text, last_name: text, email: text, phone: text }), { maxItems: 20 }),
      ),
    }),
  ),
  attributes: Type.Optional(Type.Object({ enabled: Type.Optional(Type.Boolean()) })),
});
const contactsSchema = Type.Object({
  contacts: Type.Optional(Type.Array(Type.Object({ email: text, name: text, phone: text }), { maxItems: 50 })),
});

const readIssuers = { permission: ['certificates', 'getissuers'], action: 'certificatecas/read' } as const;
const writeIssuers = { permission: ['certificates', 'setissuers'], action: 'certificatecas/write' } as const;
const manageContacts = { permission: ['certificates', 'managecontacts'], action: 'certificatecontacts/write' } as const;

export const issuerRoutes: readonly VaultRoute[] = [
  {
    method: 'GET',
    path: 'certificates/issuers',
    need: { permission: ['certificates', 'listissuers'], action: 'certificatecas/read' },
    run: list,
  },
  {
    method: 'GET',
    path: 'certificates/issuers/{name}',
    need: readIssuers,
    run: async (call) => ({ body: shape(call, (await demand(call)).body) }),
  },
  { method: 'PUT', path: 'certificates/issuers/{name}', need: writeIssuers, run: (call) => write(call, false) },
  { method: 'PATCH', path: 'certificates/issuers/{name}', need: writeIssuers, run: (call) => write(call, true) },
  {
    method: 'DELETE',
    path: 'certificates/issuers/{name}',
    need: { permission: ['certificates', 'deleteissuers'], action: 'certificatecas/delete' },
    run: remove,
  },
  { method: 'GET', path: 'certificates/contacts', need: manageContacts, run: getContacts },
  { method: 'PUT', path: 'certificates/contacts', need: manageContacts, run: setContacts },
  { method: 'DELETE', path: 'certificates/contacts', need: manageContacts, run: deleteContacts },
];

function issuerId(name: string): string {
  return `issuers/${name.toLowerCase()}`;
}

async function find(call: VaultCall): Promise<Document<IssuerBody> | undefined> {
  const document = await call.objects.read({ partition: call.vault.name, id: issuerId(nameOf(call)) });
  return document?.body.kind === 'issuer' ? { ...document, body: document.body } : undefined;
}

async function demand(call: VaultCall): Promise<Document<IssuerBody>> {
  const found = await find(call);
  if (found !== undefined) return found;
  throw new VaultError(404, 'CertificateIssuerNotFound', `Certificate issuer not found: ${nameOf(call)}`);
}

function shape({ vault }: VaultCall, { name, shown }: IssuerBody): JsonObject {
  return { id: `${vault.uri}certificates/issuers/${name}`, ...shown };
}

async function write(call: VaultCall, isPatch: boolean): Promise<VaultAnswer> {
  const name = nameOf(call);
  const { provider, credentials, org_details: organization, attributes } = bodyOf(call, issuerSchema);
  return commit(call.objects, call.vault.name, async () => {
    const there = isPatch ? await demand(call) : await find(call);
    const before: JsonObject = isPatch ? (there?.body.shown ?? {}) : {};
    const times = (there?.body.shown.attributes ?? {}) as JsonObject;
    const now = nowSeconds(call);
    const password =
      typeof credentials?.pwd === 'string' ? new Secret(credentials.pwd) : isPatch ? there?.body.value : undefined;
    const body: IssuerBody = {
      kind: 'issuer',
      list: 'issuers',
      name: there?.body.name ?? name,
      shown: {
        ...before,
        ...(provider === undefined ? {} : { provider }),
        ...(credentials?.account_id === undefined ? {} : { credentials: { account_id: credentials.account_id } }),
        ...(organization === undefined ? {} : { org_details: organization as unknown as JsonObject }),
        attributes: {
          enabled: attributes?.enabled ?? (isPatch ? times.enabled : undefined) ?? true,
          created: times.created ?? now,
          updated: now,
        },
      },
      ...(password === undefined ? {} : { value: password }),
    };
    return { operations: [upsert(there, issuerId(name), body)], result: { body: shape(call, body) } };
  });
}

async function remove(call: VaultCall): Promise<VaultAnswer> {
  const found = await demand(call);
  await call.objects.delete(found);
  return { body: shape(call, found.body) };
}

async function list(call: VaultCall): Promise<VaultAnswer> {
  const { limit, after } = pageOf(call);
  const { documents } = await call.objects.query({
    partition: call.vault.name,
    filter: {
      op: 'and',
      filters: [
        { op: 'eq', field: ['list'], value: 'issuers' },
        { op: 'gt', field: 'id', value: after ?? 'issuers/' },
      ],
    },
    limit: limit + 1,
  });
  const shown = documents.slice(0, limit);
  const last = documents.length > limit ? shown.at(-1) : undefined;
  return {
    body: {
      value: shown.flatMap(({ body }) =>
        body.kind === 'issuer'
          ? [{ id: `${call.vault.uri}certificates/issuers/${body.name}`, provider: body.shown.provider ?? null }]
          : [],
      ),
      nextLink: last === undefined ? null : nextLink(call, 'certificates/issuers', last.id, limit),
    },
  };
}

async function readContacts(call: VaultCall): Promise<Document<ContactsBody> | undefined> {
  const document = await call.objects.read({ partition: call.vault.name, id: 'contacts' });
  return document?.body.kind === 'contacts' ? { ...document, body: document.body } : undefined;
}

function contactsShape({ vault }: VaultCall, contacts: readonly JsonObject[]): VaultAnswer {
  return { body: { id: `${vault.uri}certificates/contacts`, contacts: [...contacts] } };
}

async function demandContacts(call: VaultCall): Promise<Document<ContactsBody>> {
  const found = await readContacts(call);
  if (found !== undefined) return found;
  throw new VaultError(404, 'ContactsNotFound', 'Contacts not found');
}

async function getContacts(call: VaultCall): Promise<VaultAnswer> {
  return contactsShape(call, (await demandContacts(call)).body.contacts);
}

async function setContacts(call: VaultCall): Promise<VaultAnswer> {
  const { contacts = [] } = bodyOf(call, contactsSchema);
  const list = contacts as unknown as readonly JsonObject[];
  return commit(call.objects, call.vault.name, async () => ({
    operations: [upsert(await readContacts(call), 'contacts', { kind: 'contacts', list: 'contacts', contacts: list })],
    result: contactsShape(call, list),
  }));
}

async function deleteContacts(call: VaultCall): Promise<VaultAnswer> {
  const found = await demandContacts(call);
  await call.objects.delete(found);
  return contactsShape(call, found.body.contacts);
}
