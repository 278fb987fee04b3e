// A new version of a certificate, with its key and its secret, as one batch.
import { createHash, type KeyObject, X509Certificate } from 'node:crypto';
import { Secret } from '../../../kit/secret.ts';
import type { Document, Operation } from '../../../store/store.ts';
import type { JsonObject } from '../kernel/record.ts';
import { nowSeconds, type VaultPlace } from './call.ts';
import { type Policy, pemType, renewAt } from './certificate-policy.ts';
import { defaultOps, materialOf } from './key-material.ts';
import {
  type Attributes,
  type HeadBody,
  headId,
  headOf,
  type ObjectType,
  type Pending,
  readHead,
  type Stored,
  upsert,
  type VersionBody,
  versionId,
} from './objects.ts';
import { writePkcs12 } from './pkcs12.ts';

export interface NewCertificate {
  readonly version: string;
  readonly key: KeyObject;
  /** DER; the leaf first. */
  readonly certificates: readonly Buffer[];
  readonly policy: Policy;
  readonly enabled: boolean;
  readonly tags?: { readonly [name: string]: string } | undefined;
  readonly pending?: Pending;
}

export interface CertificateWrites {
  readonly operations: readonly Operation<Stored>[];
  readonly version: VersionBody;
  readonly head: HeadBody;
}

export async function certificateWrites(
  place: VaultPlace,
  name: string,
  head: Document<HeadBody> | undefined,
  made: NewCertificate,
): Promise<CertificateWrites> {
  const { policy, key, certificates, tags } = made;
  const [leaf = Buffer.alloc(0)] = certificates;
  const certificate = new X509Certificate(leaf);
  const [from, until] = [new Date(certificate.validFrom).getTime(), new Date(certificate.validTo).getTime()];
  const now = nowSeconds(place);
  const attributes: Attributes = {
    enabled: made.enabled,
    nbf: Math.floor(from / 1000),
    exp: Math.floor(until / 1000),
    created: now,
    updated: now,
  };
  const shown = head?.body.name ?? name;
  const common = (type: ObjectType) => ({
    kind: 'version' as const,
    list: headId(type, name),
    type,
    name: shown,
    version: made.version,
    attributes,
    ...(tags === undefined ? {} : { tags }),
  });
  const { contentType } = policy.secret_props;
  const { jwk, value } = materialOf(key, policy.key_props.kty);
  const version: VersionBody = {
    ...common('certificates'),
    contentType,
    cer: leaf.toString('base64'),
    x5t: createHash('sha1').update(leaf).digest('base64url'),
    subject: certificate.subject.split('\n').reverse().join(', '),
  };
  const keyVersion: VersionBody = {
    ...common('keys'),
    managed: true,
    jwk,
    ops: defaultOps[policy.key_props.kty.replace(/-HSM$/, '')] ?? [],
    exportable: policy.key_props.exportable,
    value,
  };
  const secretVersion: VersionBody = {
    ...common('secrets'),
    managed: true,
    contentType,
    value: new Secret(secretText(contentType, policy.key_props.exportable ? key : undefined, certificates)),
  };
  const due = renewAt(policy, from, until);
  const isNew = head?.body.policy === undefined;
  const kept: JsonObject = isNew
    ? { ...(policy as unknown as JsonObject), attributes: { enabled: true, created: now, updated: now } }
    : (head.body.policy ?? {});
  const next = headOf(version, head?.body, {
    policy: kept,
    ...(made.pending === undefined ? {} : { pending: made.pending }),
    ...(due === undefined ? {} : { dueAt: due }),
  });
  const companions = await Promise.all(
    [keyVersion, secretVersion].map(async (one): Promise<readonly Operation<Stored>[]> => {
      const there = await readHead(place.objects, place.vault.name, one.type, name);
      return [
        upsert(there, headId(one.type, name), headOf(one, there?.body)),
        { kind: 'create', id: versionId(one.type, name, made.version), body: one },
      ];
    }),
  );
  return {
    operations: [
      upsert(head, headId('certificates', name), next),
      { kind: 'create', id: versionId('certificates', name, made.version), body: version },
      ...companions.flat(),
    ],
    version,
    head: next,
  };
}

function secretText(contentType: string, key: KeyObject | undefined, certificates: readonly Buffer[]): string {
  if (contentType !== pemType)
    return writePkcs12({ certificates, ...(key === undefined ? {} : { key }) }).toString('base64');
  const pem = certificates.map((der) => new X509Certificate(der).toString());
  return [...(key === undefined ? [] : [key.export({ type: 'pkcs8', format: 'pem' }).toString()]), ...pem].join('');
}
