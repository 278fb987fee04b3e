// Secrets: texts with versions.
import { randomBytes } from 'node:crypto';
import type { Static } from 'typebox';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import type { Operation } from '../../../store/store.ts';
import {
  bodyOf,
  nameOf,
  nowSeconds,
  type VaultAnswer,
  type VaultCall,
  type VaultPlace,
  type VaultRoute,
  versionOf,
} from './call.ts';
import { badParameter, forbidden } from './errors.ts';
import { demandVersion, headToWrite } from './find.ts';
import {
  type Attributes,
  commit,
  type HeadBody,
  headId,
  headOf,
  type ObjectType,
  type Stored,
  upsert,
  type VersionBody,
  versionId,
} from './objects.ts';
import { bundleOf } from './shapes.ts';

export const attributesSchema = Type.Object({
  enabled: Type.Optional(Type.Boolean()),
  nbf: Type.Optional(Type.Integer()),
  exp: Type.Optional(Type.Integer()),
});
export const tagsSchema = Type.Record(Type.String({ maxLength: 256 }), Type.String({ maxLength: 256 }));
const maxTags = 15;

const setSchema = Type.Object({
  value: Type.String({ maxLength: 25_600 }),
  contentType: Type.Optional(Type.String({ maxLength: 255 })),
  attributes: Type.Optional(attributesSchema),
  tags: Type.Optional(tagsSchema),
});

const updateSchema = Type.Object({
  contentType: Type.Optional(Type.String({ maxLength: 255 })),
  attributes: Type.Optional(attributesSchema),
  tags: Type.Optional(tagsSchema),
});

export const secretRoutes: readonly VaultRoute[] = [
  {
    method: 'PUT',
    path: 'secrets/{name}',
    need: { permission: ['secrets', 'set'], action: 'secrets/setSecret/action' },
    run: setSecret,
  },
  {
    method: 'GET',
    path: 'secrets/{name}',
    need: { permission: ['secrets', 'get'], action: 'secrets/getSecret/action' },
    run: getSecret,
  },
  {
    method: 'GET',
    path: 'secrets/{name}/{version}',
    need: { permission: ['secrets', 'get'], action: 'secrets/getSecret/action' },
    run: getSecret,
  },
  {
    method: 'PATCH',
    path: 'secrets/{name}/{version}',
    need: { permission: ['secrets', 'set'], action: 'secrets/update/action' },
    run: (call) => updateVersion(call, 'secrets'),
  },
  {
    method: 'PATCH',
    path: 'secrets/{name}',
    need: { permission: ['secrets', 'set'], action: 'secrets/update/action' },
    run: (call) => updateVersion(call, 'secrets'),
  },
];

export function newVersion(): string {
  return randomBytes(16).toString('hex');
}

/** Attributes of something new. */
export function newAttributes(
  call: Pick<VaultPlace, 'world'>,
  given: Static<typeof attributesSchema> = {},
): Attributes {
  const now = nowSeconds(call);
  return {
    enabled: given.enabled ?? true,
    ...(given.nbf === undefined ? {} : { nbf: given.nbf }),
    ...(given.exp === undefined ? {} : { exp: given.exp }),
    created: now,
    updated: now,
  };
}

export function checkTags(tags: { readonly [name: string]: string } | undefined): void {
  if (tags !== undefined && Object.keys(tags).length > maxTags)
    throw badParameter(`The number of tags is over the maximum of ${maxTags}.`);
}

async function setSecret(call: VaultCall): Promise<VaultAnswer> {
  const name = nameOf(call);
  const { value, contentType, attributes, tags } = bodyOf(call, setSchema);
  checkTags(tags);
  const version: VersionBody = {
    kind: 'version',
    list: headId('secrets', name),
    type: 'secrets',
    name,
    version: newVersion(),
    attributes: newAttributes(call, attributes),
    ...(contentType === undefined ? {} : { contentType }),
    ...(tags === undefined ? {} : { tags }),
    value: new Secret(value),
  };
  return commit(call.objects, call.vault.name, async () => {
    const head = await headToWrite(call, 'secrets', name);
    if (head?.body.managed) throw managedRefusal('secret', name);
    const named = { ...version, name: head?.body.name ?? name };
    const next = headOf(named, head?.body);
    return {
      operations: [
        upsert(head, headId('secrets', name), next),
        { kind: 'create', id: versionId('secrets', name, version.version), body: named },
      ],
      result: { body: { value, ...bundleOf(call.vault, named, next) } },
    };
  });
}

export function managedRefusal(what: string, name: string) {
  return forbidden(`Operation is not allowed on the ${what} ${name}, which is managed by a certificate.`);
}

async function getSecret(call: VaultCall): Promise<VaultAnswer> {
  const { head, version } = await demandVersion(call, 'secrets', nameOf(call), versionOf(call));
  if (!version.body.attributes.enabled)
    throw forbidden('Operation get is not allowed on a disabled secret.', 'SecretDisabled');
  const value = version.body.value?.reveal() ?? '';
  return { body: { value, ...bundleOf(call.vault, version.body, head.body) } };
}

/** PATCH of a version: attributes, tags and, for secrets, the content type. */
export async function updateVersion(
  call: VaultCall,
  type: ObjectType,
  more: Partial<VersionBody> = {},
): Promise<VaultAnswer> {
  const name = nameOf(call);
  const asked = versionOf(call);
  const { contentType, attributes, tags } = bodyOf(call, updateSchema);
  checkTags(tags);
  return commit(call.objects, call.vault.name, async () => {
    const { head, version } = await demandVersion(call, type, name, asked);
    const body: VersionBody = {
      ...version.body,
      ...more,
      ...(contentType === undefined || type !== 'secrets' ? {} : { contentType }),
      ...(tags === undefined ? {} : { tags }),
      attributes: { ...version.body.attributes, ...attributes, updated: nowSeconds(call) },
    };
    const { current, list: _list, attributes: _attributes, tags: _tags, ...rest } = head.body;
    const isCurrent = current === version.body.version;
    const next = isCurrent ? headOf(body, head.body, pick(rest)) : head.body;
    const operations: Operation<Stored>[] = [{ kind: 'replace', version, body }];
    if (isCurrent) operations.push({ kind: 'replace', version: head, body: next });
    return { operations, result: { body: bundleOf(call.vault, body, next) } };
  });
}

/** What of a head no version decides. */
function pick(head: Partial<HeadBody>): Partial<HeadBody> {
  const { dueAt, pending, value } = head;
  return {
    ...(dueAt === undefined ? {} : { dueAt }),
    ...(pending === undefined ? {} : { pending }),
    ...(value === undefined ? {} : { value }),
  };
}
