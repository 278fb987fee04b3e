// Objects of a vault on the wire.
import type { Json, JsonObject } from '../kernel/record.ts';
import type { Vault } from './call.ts';
import type { Attributes, HeadBody, ObjectType, Summary, VersionBody } from './objects.ts';

/** Whether, and for how long, something deleted can be got back. */
export function recovery({ retentionDays, purgeProtection }: Vault): JsonObject {
  const level = retentionDays < 90 ? 'CustomizedRecoverable' : 'Recoverable';
  return { recoveryLevel: purgeProtection ? level : `${level}+Purgeable`, recoverableDays: retentionDays };
}

export function attributesOf(vault: Vault, attributes: Attributes): JsonObject {
  return { ...attributes, ...recovery(vault) };
}

export function objectUrl(vault: Vault, type: ObjectType, name: string, version?: string): string {
  return `${vault.uri}${type}/${name}${version === undefined ? '' : `/${version}`}`;
}

function common({ tags, managed }: Summary): JsonObject {
  return { ...(tags === undefined ? {} : { tags: { ...tags } }), ...(managed === undefined ? {} : { managed }) };
}

type Bundle = (vault: Vault, version: VersionBody, head: HeadBody) => JsonObject;

const bundles: { readonly [type in ObjectType]: Bundle } = {
  secrets: (vault, { name, version, attributes, contentType, managed, ...rest }) => ({
    ...(contentType === undefined ? {} : { contentType }),
    id: objectUrl(vault, 'secrets', name, version),
    ...(managed ? { kid: objectUrl(vault, 'keys', name, version) } : {}),
    attributes: attributesOf(vault, attributes),
    ...common({ attributes, ...(managed === undefined ? {} : { managed }), ...rest }),
  }),
  keys: (vault, { name, version, attributes, jwk, ops, exportable, ...rest }) => ({
    key: { kid: objectUrl(vault, 'keys', name, version), ...jwk, key_ops: [...(ops ?? [])] },
    attributes: { ...attributesOf(vault, attributes), exportable: exportable === true },
    ...common({ attributes, ...rest }),
  }),
  certificates: (vault, { name, version, attributes, x5t, cer, contentType, tags }, head) => ({
    id: objectUrl(vault, 'certificates', name, version),
    kid: objectUrl(vault, 'keys', name, version),
    sid: objectUrl(vault, 'secrets', name, version),
    ...(x5t === undefined ? {} : { x5t }),
    ...(cer === undefined ? {} : { cer }),
    ...(contentType === undefined ? {} : { contentType }),
    attributes: attributesOf(vault, attributes),
    ...(tags === undefined ? {} : { tags: { ...tags } }),
    ...(head.policy === undefined ? {} : { policy: policyShape(vault, head) }),
    ...(head.pending?.version === version || head.pending?.status === 'inProgress'
      ? { pending: { id: `${objectUrl(vault, 'certificates', head.name)}/pending` } }
      : {}),
  }),
};

export function policyShape(vault: Vault, head: HeadBody): JsonObject {
  return { id: `${objectUrl(vault, 'certificates', head.name)}/policy`, ...head.policy };
}

export function bundleOf(vault: Vault, version: VersionBody, head: HeadBody): JsonObject {
  return bundles[version.type](vault, version, head);
}

/** A line of a list: of a head without version, of a version with it. */
export function itemOf(vault: Vault, item: HeadBody | VersionBody): JsonObject {
  const url = objectUrl(vault, item.type, item.name, item.kind === 'version' ? item.version : undefined);
  const named: JsonObject = item.type === 'keys' ? { kid: url } : { id: url };
  const more: JsonObject =
    item.type === 'certificates'
      ? {
          ...(item.x5t === undefined ? {} : { x5t: item.x5t }),
          ...(item.subject === undefined ? {} : { subject: item.subject }),
        }
      : item.type === 'secrets' && item.contentType !== undefined
        ? { contentType: item.contentType }
        : {};
  return { ...named, ...more, attributes: attributesOf(vault, item.attributes), ...common(item) };
}

/** What deleted objects show beyond their bundle or line. */
export function deletedMembers(vault: Vault, { type, name, deleted }: HeadBody): { readonly [member: string]: Json } {
  return {
    recoveryId: `${vault.uri}deleted${type}/${name}`,
    deletedDate: deleted?.at ?? 0,
    scheduledPurgeDate: deleted?.purgeAt ?? 0,
  };
}
