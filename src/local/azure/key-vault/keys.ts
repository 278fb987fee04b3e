// Keys: made in the vault or brought into it, used there, rotated.
import type { Static } from 'typebox';
import { Type } from '../../../arm/type.ts';
import type { Document } from '../../../store/store.ts';
import type { JsonObject } from '../kernel/record.ts';
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
import { shift } from './durations.ts';
import { badParameter, forbidden } from './errors.ts';
import { demandHead, demandVersion, headToWrite } from './find.ts';
import { decrypt, encrypt, type Sealed, sign, verify } from './key-crypto.ts';
import { defaultOps, importKey, type KeyMaterial, makeKey, plainType } from './key-material.ts';
import { commit, type HeadBody, headId, headOf, upsert, type VersionBody, versionId } from './objects.ts';
import {
  attributesSchema,
  checkTags,
  managedRefusal,
  newAttributes,
  newVersion,
  tagsSchema,
  updateVersion,
} from './secrets.ts';
import { bundleOf, objectUrl } from './shapes.ts';

const opsSchema = Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 });
const createSchema = Type.Object({
  kty: Type.String({ maxLength: 32 }),
  key_size: Type.Optional(Type.Integer()),
  crv: Type.Optional(Type.String({ maxLength: 32 })),
  key_ops: Type.Optional(opsSchema),
  attributes: Type.Optional(attributesSchema),
  tags: Type.Optional(tagsSchema),
});
const importSchema = Type.Object({
  key: Type.Object({ key_ops: Type.Optional(opsSchema) }),
  attributes: Type.Optional(attributesSchema),
  tags: Type.Optional(tagsSchema),
});
const opsUpdateSchema = Type.Object({ key_ops: Type.Optional(opsSchema) });
const bytes = Type.String({ pattern: '^[A-Za-z0-9_=+/-]*$', maxLength: 100_000 });
const cryptoSchema = Type.Object({
  alg: Type.String({ maxLength: 64 }),
  value: Type.Optional(bytes),
  digest: Type.Optional(bytes),
  iv: Type.Optional(bytes),
  tag: Type.Optional(bytes),
  aad: Type.Optional(bytes),
});
const knownOps = ['encrypt', 'decrypt', 'sign', 'verify', 'wrapKey', 'unwrapKey', 'import', 'export'];

const read = { permission: ['keys', 'get'], action: 'keys/read' } as const;

export const keyRoutes: readonly VaultRoute[] = [
  {
    method: 'POST',
    path: 'keys/{name}/create',
    need: { permission: ['keys', 'create'], action: 'keys/create/action' },
    run: create,
  },
  {
    method: 'PUT',
    path: 'keys/{name}',
    need: { permission: ['keys', 'import'], action: 'keys/import/action' },
    run: bringIn,
  },
  {
    method: 'GET',
    path: 'keys/{name}/rotationpolicy',
    need: { permission: ['keys', 'getrotationpolicy'], action: 'keyrotationpolicies/read' },
    run: getRotation,
  },
  {
    method: 'PUT',
    path: 'keys/{name}/rotationpolicy',
    need: { permission: ['keys', 'setrotationpolicy'], action: 'keyrotationpolicies/write' },
    run: setRotation,
  },
  {
    method: 'POST',
    path: 'keys/{name}/rotate',
    need: { permission: ['keys', 'rotate'], action: 'keys/rotate/action' },
    run: (call) => rotateKey(call, nameOf(call)),
  },
  { method: 'GET', path: 'keys/{name}', need: read, run: get },
  { method: 'GET', path: 'keys/{name}/{version}', need: read, run: get },
  ...['keys/{name}', 'keys/{name}/{version}'].map(
    (path): VaultRoute => ({
      method: 'PATCH',
      path,
      need: { permission: ['keys', 'update'], action: 'keys/update/action' },
      run(call) {
        const { key_ops: ops } = bodyOf(call, opsUpdateSchema);
        return updateVersion(call, 'keys', ops === undefined ? {} : { ops: checkOps(ops) });
      },
    }),
  ),
  ...(
    [
      ['encrypt', 'encrypt'],
      ['decrypt', 'decrypt'],
      ['sign', 'sign'],
      ['verify', 'verify'],
      ['wrapkey', 'wrapKey'],
      ['unwrapkey', 'unwrapKey'],
    ] as const
  ).flatMap(([word, operation]) =>
    ['keys/{name}', 'keys/{name}/{version}'].map(
      (path): VaultRoute => ({
        method: 'POST',
        path: `${path}/${word}`,
        need: { permission: ['keys', operation], action: `keys/${operation.replace('Key', '')}/action` },
        run: (call) => use(call, operation),
      }),
    ),
  ),
  ...['keys/{name}/release', 'keys/{name}/{version}/release'].map(
    (path): VaultRoute => ({
      method: 'POST',
      path,
      need: { permission: ['keys', 'release'], action: 'keys/release/action' },
      async run() {
        throw forbidden('Keys of this cloud are not exportable: there is no attestation service to release them to.');
      },
    }),
  ),
];

function checkOps(ops: readonly string[]): readonly string[] {
  const unknown = ops.find((op) => !knownOps.includes(op));
  if (unknown !== undefined) throw badParameter(`Property 'key_ops' has an unknown value: ${unknown}`);
  return ops;
}

async function create(call: VaultCall): Promise<VaultAnswer> {
  const { kty, key_size: size, crv, key_ops: ops, attributes, tags } = bodyOf(call, createSchema);
  const name = nameOf(call);
  if (kty.endsWith('-HSM')) demandPremium(call);
  // A name that cannot be used should not cost a key.
  await headToWrite(call, 'keys', name);
  const material = await makeKey({
    kty,
    ...(size === undefined ? {} : { size }),
    ...(crv === undefined ? {} : { crv }),
  });
  return addVersion(call, name, material, { ops, attributes, tags });
}

async function bringIn(call: VaultCall): Promise<VaultAnswer> {
  const { key, attributes, tags } = bodyOf(call, importSchema);
  const material = importKey(key);
  return addVersion(call, nameOf(call), material, { ops: key.key_ops, attributes, tags });
}

function demandPremium({ vault }: VaultCall): void {
  const sku = vault.properties.sku as JsonObject | undefined;
  if (String(sku?.name ?? 'standard').toLowerCase() !== 'premium')
    throw forbidden('Keys in hardware are available in vaults of SKU premium only.');
}

interface Wishes {
  readonly ops: readonly string[] | undefined;
  readonly attributes: Static<typeof attributesSchema> | undefined;
  readonly tags: { readonly [name: string]: string } | undefined;
}

async function addVersion(
  call: VaultPlace,
  name: string,
  { jwk, value }: KeyMaterial,
  { ops, attributes, tags }: Wishes,
): Promise<VaultAnswer> {
  checkTags(tags);
  const version: VersionBody = {
    kind: 'version',
    list: headId('keys', name),
    type: 'keys',
    name,
    version: newVersion(),
    attributes: newAttributes(call, attributes),
    ...(tags === undefined ? {} : { tags }),
    jwk,
    ops: ops === undefined ? (defaultOps[plainType(String(jwk.kty))] ?? []) : checkOps(ops),
    value,
  };
  return commit(call.objects, call.vault.name, async () => {
    const head = await headToWrite(call, 'keys', name);
    if (head?.body.managed) throw managedRefusal('key', name);
    const named = withExpiry({ ...version, name: head?.body.name ?? name }, head?.body.rotation);
    const next = headOf(named, head?.body, rotationDue(named, head?.body.rotation));
    return {
      operations: [
        upsert(head, headId('keys', name), next),
        { kind: 'create', id: versionId('keys', name, version.version), body: named },
      ],
      result: { body: bundleOf(call.vault, named, next) },
    };
  });
}

async function get(call: VaultCall): Promise<VaultAnswer> {
  const { head, version } = await demandVersion(call, 'keys', nameOf(call), versionOf(call));
  return { body: bundleOf(call.vault, version.body, head.body) };
}

type Use = 'encrypt' | 'decrypt' | 'sign' | 'verify' | 'wrapKey' | 'unwrapKey';

async function use(call: VaultCall, operation: Use): Promise<VaultAnswer> {
  const name = nameOf(call);
  const request = bodyOf(call, cryptoSchema);
  const { version } = await demandVersion(call, 'keys', name, versionOf(call));
  demandUsable(call, version, operation);
  const kid = objectUrl(call.vault, 'keys', version.body.name, version.body.version);
  const value = decoded(request.value);
  const sealed: Sealed = {
    value: value ?? Buffer.alloc(0),
    ...optional('iv', decoded(request.iv)),
    ...optional('tag', decoded(request.tag)),
    ...optional('aad', decoded(request.aad)),
  };
  if (operation === 'verify') {
    const digest = decoded(request.digest);
    if (digest === undefined || value === undefined) throw badParameter('Property digest and value are required.');
    return { body: { value: verify(version.body, request.alg, digest, value) } };
  }
  if (value === undefined) throw badParameter('Property value is required.');
  if (operation === 'sign')
    return { body: { kid, value: sign(version.body, request.alg, value).toString('base64url') } };
  if (operation === 'encrypt' || operation === 'wrapKey') {
    const { value: result, iv, tag, aad } = encrypt(version.body, request.alg, sealed);
    return {
      body: {
        kid,
        value: result.toString('base64url'),
        ...optional('iv', iv?.toString('base64url')),
        ...optional('tag', tag?.toString('base64url')),
        ...optional('aad', aad?.toString('base64url')),
      },
    };
  }
  return { body: { kid, value: decrypt(version.body, request.alg, sealed).toString('base64url') } };
}

function optional<N extends string, T>(name: N, value: T | undefined): { readonly [member in N]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [member in N]?: T };
}

function decoded(text: string | undefined): Buffer | undefined {
  return text === undefined ? undefined : Buffer.from(text, 'base64url');
}

const makesNew: ReadonlySet<Use> = new Set(['encrypt', 'sign', 'wrapKey']);

function demandUsable(call: VaultCall, { body }: Document<VersionBody>, operation: Use): void {
  const { enabled, nbf, exp } = body.attributes;
  if (!enabled) throw forbidden(`Operation ${operation} is not allowed on a disabled key.`, 'KeyDisabled');
  const now = nowSeconds(call);
  if (makesNew.has(operation)) {
    if (nbf !== undefined && now < nbf)
      throw forbidden(`Operation ${operation} is not allowed on a key that is not yet valid.`, 'KeyNotYetValid');
    if (exp !== undefined && now >= exp)
      throw forbidden(`Operation ${operation} is not allowed on an expired key.`, 'KeyExpired');
  }
  if (!(body.ops ?? []).includes(operation)) throw forbidden(`Operation ${operation} is not permitted on this key.`);
}

const rotationSchema = Type.Object({
  lifetimeActions: Type.Optional(
    Type.Array(
      Type.Object({
        trigger: Type.Optional(
          Type.Object({
            timeAfterCreate: Type.Optional(Type.Union([Type.String({ maxLength: 32 }), Type.Null()])),
            timeBeforeExpiry: Type.Optional(Type.Union([Type.String({ maxLength: 32 }), Type.Null()])),
          }),
        ),
        action: Type.Optional(Type.Object({ type: Type.String({ maxLength: 16 }) })),
      }),
      { maxItems: 4 },
    ),
  ),
  attributes: Type.Optional(
    Type.Object({ expiryTime: Type.Optional(Type.Union([Type.String({ maxLength: 32 }), Type.Null()])) }),
  ),
});

const noRotation: JsonObject = {
  lifetimeActions: [{ trigger: { timeBeforeExpiry: 'P30D' }, action: { type: 'Notify' } }],
};

async function getRotation(call: VaultCall): Promise<VaultAnswer> {
  const { body } = await demandHead(call, 'keys', nameOf(call));
  return { body: rotationShape(call, body) };
}

function rotationShape({ vault }: VaultCall, { name, rotation, attributes }: HeadBody): JsonObject {
  const policy = rotation ?? {
    ...noRotation,
    attributes: { created: attributes.created, updated: attributes.created },
  };
  return { id: `${objectUrl(vault, 'keys', name)}/rotationpolicy`, ...policy };
}

async function setRotation(call: VaultCall): Promise<VaultAnswer> {
  const { lifetimeActions, attributes } = bodyOf(call, rotationSchema);
  const name = nameOf(call);
  const durations = [
    attributes?.expiryTime,
    ...(lifetimeActions ?? []).flatMap(({ trigger }) => [trigger?.timeAfterCreate, trigger?.timeBeforeExpiry]),
  ];
  for (const duration of durations) {
    if (typeof duration === 'string' && shift(0, duration) === undefined)
      throw badParameter(`The rotation policy has a duration that is not valid: ${duration}`);
  }
  return commit(call.objects, call.vault.name, async () => {
    const { head, version } = await demandVersion(call, 'keys', name, undefined);
    const now = nowSeconds(call);
    const before = head.body.rotation?.attributes as JsonObject | undefined;
    const rotation: JsonObject = {
      lifetimeActions: (lifetimeActions ?? []) as unknown as readonly JsonObject[],
      attributes: {
        ...(typeof attributes?.expiryTime === 'string' ? { expiryTime: attributes.expiryTime } : {}),
        created: before?.created ?? now,
        updated: now,
      },
    };
    const { dueAt: _dueAt, ...rest } = head.body;
    const next: HeadBody = { ...rest, rotation, ...rotationDue(version.body, rotation) };
    return {
      operations: [{ kind: 'replace', version: head, body: next }],
      result: { body: rotationShape(call, next) },
    };
  });
}

function withExpiry(version: VersionBody, rotation: JsonObject | undefined): VersionBody {
  const expiry = (rotation?.attributes as JsonObject | undefined)?.expiryTime;
  const { attributes } = version;
  if (typeof expiry !== 'string' || attributes.exp !== undefined) return version;
  const exp = shift(attributes.created * 1000, expiry);
  return exp === undefined ? version : { ...version, attributes: { ...attributes, exp: Math.floor(exp / 1000) } };
}

/** When the newest version is to be followed by another one. */
export function rotationDue(
  { attributes }: VersionBody,
  rotation: JsonObject | undefined,
): { readonly dueAt?: number } {
  const actions = Array.isArray(rotation?.lifetimeActions) ? (rotation.lifetimeActions as readonly JsonObject[]) : [];
  const times = actions.flatMap(({ trigger, action }) => {
    if (String((action as JsonObject | undefined)?.type).toLowerCase() !== 'rotate') return [];
    const { timeAfterCreate, timeBeforeExpiry } = (trigger ?? {}) as JsonObject;
    const time =
      typeof timeAfterCreate === 'string'
        ? shift(attributes.created * 1000, timeAfterCreate)
        : typeof timeBeforeExpiry === 'string' && attributes.exp !== undefined
          ? shift(attributes.exp * 1000, timeBeforeExpiry, -1)
          : undefined;
    return time === undefined ? [] : [time];
  });
  return times.length === 0 ? {} : { dueAt: Math.min(...times) };
}

/** A new version with new material of the same kind. */
export async function rotateKey(call: VaultPlace, name: string): Promise<VaultAnswer> {
  const { version } = await demandVersion(call, 'keys', name, undefined);
  const { jwk, ops, tags, attributes, value } = version.body;
  const kty = String(jwk?.kty ?? '');
  const size =
    typeof jwk?.n === 'string'
      ? Buffer.from(jwk.n, 'base64url').length * 8
      : plainType(kty) === 'oct'
        ? Buffer.from(value?.reveal() ?? '', 'base64url').length * 8
        : undefined;
  const material = await makeKey({
    kty,
    ...(size === undefined ? {} : { size }),
    ...(typeof jwk?.crv === 'string' ? { crv: jwk.crv } : {}),
  });
  return addVersion(call, name, material, { ops, tags, attributes: { enabled: attributes.enabled } });
}
