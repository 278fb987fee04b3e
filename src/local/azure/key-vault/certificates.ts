// Certificates: made through a policy, signed by themselves or by an issuer, merged, brought in, renewed.
import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
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
import { readImport } from './certificate-import.ts';
import {
  completePolicy,
  type Policy,
  pemType,
  pkcs12Type,
  policyOf,
  policySchema,
  renewAt,
} from './certificate-policy.ts';
import { certificateWrites } from './certificate-writes.ts';
import { badParameter, conflict, VaultError } from './errors.ts';
import { demandHead, demandVersion, headToWrite, missing } from './find.ts';
import { makeKey } from './key-material.ts';
import { commit, type HeadBody, headId, type Objects, readVersion, type Stored, upsert } from './objects.ts';
import { attributesSchema, checkTags, newAttributes, newVersion, tagsSchema, updateVersion } from './secrets.ts';
import { attributesOf, bundleOf, objectUrl, policyShape } from './shapes.ts';

const createSchema = Type.Object({
  policy: Type.Optional(policySchema),
  attributes: Type.Optional(attributesSchema),
  tags: Type.Optional(tagsSchema),
});
const mergeSchema = Type.Object({
  x5c: Type.Array(Type.String({ maxLength: 20_000 }), { minItems: 1, maxItems: 10 }),
  attributes: Type.Optional(attributesSchema),
  tags: Type.Optional(tagsSchema),
});
const importSchema = Type.Object({
  value: Type.String({ minLength: 1, maxLength: 200_000 }),
  pwd: Type.Optional(Type.Union([Type.String({ maxLength: 1024 }), Type.Null()])),
  policy: Type.Optional(policySchema),
  attributes: Type.Optional(attributesSchema),
  tags: Type.Optional(tagsSchema),
});
const updateSchema = Type.Object({ policy: Type.Optional(policySchema) });
const cancelSchema = Type.Object({ cancellation_requested: Type.Boolean() });

const read = { permission: ['certificates', 'get'], action: 'certificates/read' } as const;
const update = { permission: ['certificates', 'update'], action: 'certificates/update/action' } as const;
const make = { permission: ['certificates', 'create'], action: 'certificates/create/action' } as const;

/** `wake`: something is due now. */
export function certificateRoutes(wake: () => void): readonly VaultRoute[] {
  return [
    {
      method: 'POST',
      path: 'certificates/{name}/create',
      need: make,
      async run(call) {
        const answer = await create(call);
        wake();
        return answer;
      },
    },
    {
      method: 'POST',
      path: 'certificates/{name}/import',
      need: { permission: ['certificates', 'import'], action: 'certificates/import/action' },
      async run(call) {
        const answer = await bringIn(call);
        wake();
        return answer;
      },
    },
    {
      method: 'POST',
      path: 'certificates/{name}/pending/merge',
      need: make,
      run: merge,
    },
    { method: 'GET', path: 'certificates/{name}/pending', need: read, run: getPending },
    { method: 'PATCH', path: 'certificates/{name}/pending', need: update, run: cancelPending },
    { method: 'DELETE', path: 'certificates/{name}/pending', need: update, run: deletePending },
    { method: 'GET', path: 'certificates/{name}/policy', need: read, run: getPolicy },
    {
      method: 'PATCH',
      path: 'certificates/{name}/policy',
      need: update,
      async run(call) {
        const head = await changePolicy(call, call.body);
        wake();
        return { body: policyShape(call.vault, head) };
      },
    },
    { method: 'GET', path: 'certificates/{name}', need: read, run: get },
    { method: 'GET', path: 'certificates/{name}/{version}', need: read, run: get },
    ...['certificates/{name}', 'certificates/{name}/{version}'].map(
      (path): VaultRoute => ({
        method: 'PATCH',
        path,
        need: update,
        async run(call) {
          const { policy } = bodyOf(call, updateSchema);
          if (policy !== undefined) await changePolicy(call, policy);
          return updateVersion(call, 'certificates');
        },
      }),
    ),
  ];
}

async function create(call: VaultCall): Promise<VaultAnswer> {
  const name = nameOf(call);
  const { policy: given, attributes, tags } = bodyOf(call, createSchema);
  checkTags(tags);
  const head = await headToWrite(call, 'certificates', name);
  if (given === undefined && head?.body.policy === undefined)
    throw badParameter('A policy is required for the first version of a certificate.');
  const policy = given === undefined ? policyOf(head?.body.policy) : completePolicy(given);
  const { subject, sans } = policy.x509_props;
  if (subject === '' && Object.values(sans ?? {}).every((names) => names.length === 0))
    throw badParameter('The policy needs a subject or a subject alternative name.');
  const issuer = await demandIssuer(call, policy);
  const started = await startPending(call, name, policy, {
    issuer,
    enabled: attributes?.enabled ?? true,
    ...(tags === undefined ? {} : { tags }),
  });
  return {
    status: 202,
    headers: {
      location: `${pendingUrl(call, name)}?api-version=${call.apiVersion}&request_id=${started.pending?.requestId}`,
    },
    body: pendingShape(call, started),
  };
}

async function demandIssuer(call: VaultPlace, policy: Policy): Promise<string> {
  const { name } = policy.issuer;
  const known = ['self', 'unknown'].find((word) => word === name.toLowerCase());
  if (known !== undefined) return known === 'self' ? 'Self' : 'Unknown';
  const issuer = await call.objects.read({ partition: call.vault.name, id: `issuers/${name.toLowerCase()}` });
  if (issuer?.body.kind === 'issuer') return issuer.body.name;
  throw badParameter(`The issuer '${name}' of the certificate's policy was not found in this key vault.`);
}

interface Start {
  readonly issuer: string;
  readonly enabled: boolean;
  readonly tags?: { readonly [name: string]: string };
}

/** Writes the request down; what signs it follows by itself, unless the issuer is `Unknown`. */
async function startPending(call: VaultPlace, name: string, policy: Policy, start: Start): Promise<HeadBody> {
  const key = await keyFor(call, name, policy);
  const { makeRequest } = await import('./certificate-issue.ts');
  const csr = await makeRequest(policy, key);
  const version = newVersion();
  return commit(call.objects, call.vault.name, async () => {
    const head = await headToWrite(call, 'certificates', name);
    if (head?.body.pending?.status === 'inProgress')
      throw conflict(
        `A new key vault certificate can not be created or imported while a pending key vault certificate's status is inProgress.`,
      );
    await demandFree(call, name, head?.body);
    const next: HeadBody = {
      ...(head?.body ?? {
        kind: 'head',
        list: 'certificates',
        type: 'certificates',
        name,
        attributes: newAttributes(call, { enabled: false }),
      }),
      policy: { ...policyBody(policy), attributes: policyTimes(call, head?.body) },
      pending: {
        requestId: randomUUID().replaceAll('-', ''),
        version,
        status: 'inProgress',
        csr: csr.toString('base64'),
        cancellationRequested: false,
        ...start,
      },
      value: new Secret(key.export({ type: 'pkcs8', format: 'pem' }).toString()),
    };
    const { dueAt: _dueAt, ...rest } = next;
    const body: HeadBody = start.issuer === 'Unknown' ? rest : { ...rest, dueAt: call.world.clock.now() };
    return { operations: [upsert(head, headId('certificates', name), body)], result: body };
  });
}

async function keyFor(call: VaultPlace, name: string, policy: Policy) {
  const { kty, key_size: size, crv, reuse_key: reuse } = policy.key_props;
  if (reuse) {
    const version = await currentKey(call, name);
    if (version !== undefined) return createPrivateKey(version);
  }
  const made = await makeKey({ kty, ...(size === undefined ? {} : { size }), ...(crv === undefined ? {} : { crv }) });
  return createPrivateKey(made.value.reveal());
}

async function currentKey(call: VaultPlace, name: string): Promise<string | undefined> {
  const head = await headToWrite(call, 'keys', name);
  if (head?.body.current === undefined) return undefined;
  return (await readVersion(call.objects, call.vault.name, 'keys', name, head.body.current))?.body.value?.reveal();
}

/** The names of the key and the secret are the certificate's. */
async function demandFree(call: VaultPlace, name: string, head: HeadBody | undefined): Promise<void> {
  if (head?.current !== undefined) return;
  for (const type of ['keys', 'secrets'] as const) {
    const there = await headToWrite(call, type, name);
    if (there !== undefined && there.body.managed !== true)
      throw conflict(
        `A ${type.slice(0, -1)} with the name ${name} exists already and does not belong to a certificate.`,
      );
  }
}

function policyBody(policy: Policy): JsonObject {
  return policy as unknown as JsonObject;
}

function policyTimes(call: VaultPlace, before: HeadBody | undefined): JsonObject {
  const now = nowSeconds(call);
  const attributes = before?.policy?.attributes as JsonObject | undefined;
  return { enabled: true, created: attributes?.created ?? now, updated: now };
}

/** Signs what is pending, or starts the renewal of what is about to expire. Does nothing when neither is due any more. */
export async function bringOn(place: VaultPlace, head: Document<HeadBody>): Promise<void> {
  const { pending, policy, name, current } = head.body;
  if (pending?.status === 'inProgress' && pending.issuer !== 'Unknown') return sign(place, head);
  if (current === undefined || policy === undefined) return;
  const version = await readVersion(place.objects, place.vault.name, 'certificates', name, current);
  const due = version === undefined ? undefined : dueOf(policyOf(policy), version.body.cer);
  if (due !== undefined && due <= place.world.clock.now()) {
    const issuer = await demandIssuer(place, policyOf(policy));
    await startPending(place, name, policyOf(policy), {
      issuer,
      enabled: true,
      ...(head.body.tags === undefined ? {} : { tags: head.body.tags }),
    });
    return;
  }
  const { dueAt: _dueAt, ...rest } = head.body;
  await place.objects.replace(head, due === undefined ? rest : { ...rest, dueAt: due });
}

function dueOf(policy: Policy, cer: string | undefined): number | undefined {
  if (cer === undefined) return undefined;
  const certificate = new X509Certificate(Buffer.from(cer, 'base64'));
  return renewTime(policy, certificate);
}

function renewTime(policy: Policy, { validFrom, validTo }: X509Certificate): number | undefined {
  return renewAt(policy, new Date(validFrom).getTime(), new Date(validTo).getTime());
}

async function sign(place: VaultPlace, head: Document<HeadBody>): Promise<void> {
  const { pending, value, name } = head.body;
  if (pending === undefined || value === undefined) return;
  const { authority } = place.world;
  if (pending.issuer !== 'Self' && authority === undefined) {
    const { dueAt: _dueAt, ...rest } = head.body;
    const error = { code: 'IssuerUnavailable', message: 'This cloud has no authority that could sign for issuers.' };
    await place.objects.replace(head, { ...rest, pending: { ...pending, status: 'failed', error } });
    return;
  }
  const policy = policyOf(head.body.policy);
  const key = createPrivateKey(value.reveal());
  const { issue } = await import('./certificate-issue.ts');
  const now = new Date(place.world.clock.now());
  const isOwn = pending.issuer === 'Self' || authority === undefined;
  const leaf = await issue(policy, key, { now, ...(isOwn ? {} : { authority }) });
  const chain = isOwn ? [leaf] : [leaf, authority.certificate.raw];
  await commit(place.objects, place.vault.name, async () => {
    const latest = await demandHead(place, 'certificates', name);
    if (latest.body.pending?.requestId !== pending.requestId || latest.body.pending.status !== 'inProgress')
      return { operations: [], result: undefined };
    const { operations } = await certificateWrites(place, name, latest, {
      version: pending.version,
      key,
      certificates: chain,
      policy,
      enabled: pending.enabled,
      pending: { ...pending, status: 'completed' },
      ...(pending.tags === undefined ? {} : { tags: pending.tags }),
    });
    return { operations, result: undefined };
  });
}

async function merge(call: VaultCall): Promise<VaultAnswer> {
  const name = nameOf(call);
  const { x5c, attributes, tags } = bodyOf(call, mergeSchema);
  checkTags(tags);
  const certificates = x5c.map((der) => Buffer.from(der, 'base64'));
  const leaf = parsed(certificates[0]);
  for (const der of certificates.slice(1)) parsed(der);
  return commit(call.objects, call.vault.name, async () => {
    const head = await demandHead(call, 'certificates', name);
    const { pending, value } = head.body;
    if (pending?.status !== 'inProgress' || value === undefined) throw noPending(name);
    const key = createPrivateKey(value.reveal());
    if (!leaf.checkPrivateKey(key)) {
      throw badParameter("Public key from x509 certificate and key of this instance doesn't match.");
    }
    const {
      operations,
      version,
      head: next,
    } = await certificateWrites(call, name, head, {
      version: pending.version,
      key,
      certificates,
      policy: policyOf(head.body.policy),
      enabled: attributes?.enabled ?? pending.enabled,
      ...((tags ?? pending.tags) === undefined ? {} : { tags: tags ?? pending.tags }),
      pending: { ...pending, status: 'completed' },
    });
    return { operations, result: { status: 201, body: bundleOf(call.vault, version, next) } };
  });
}

function parsed(der: Buffer | undefined): X509Certificate {
  try {
    return new X509Certificate(der ?? Buffer.alloc(0));
  } catch {
    throw badParameter('Property x5c has invalid X.509 certificates.');
  }
}

async function bringIn(call: VaultCall): Promise<VaultAnswer> {
  const name = nameOf(call);
  const { value, pwd, policy: given, attributes, tags } = bodyOf(call, importSchema);
  checkTags(tags);
  const wanted = given?.secret_props?.contentType;
  const { key, certificates, isPem } = await readImport(
    value,
    pwd ?? '',
    wanted === undefined ? undefined : wanted === pemType,
  );
  const [leaf] = certificates;
  const certificate = parsed(leaf);
  const details = key.asymmetricKeyDetails;
  const kty = key.asymmetricKeyType === 'ec' ? 'EC' : 'RSA';
  const policy = completePolicy({
    ...given,
    key_props: {
      kty,
      exportable: given?.key_props?.exportable ?? true,
      ...(given?.key_props?.reuse_key === undefined ? {} : { reuse_key: given.key_props.reuse_key }),
      ...(kty === 'RSA'
        ? { key_size: details?.modulusLength ?? 2048 }
        : { crv: key.export({ format: 'jwk' }).crv ?? 'P-256' }),
    },
    secret_props: { contentType: isPem ? pemType : pkcs12Type },
    x509_props: { ...given?.x509_props, subject: certificate.subject.split('\n').reverse().join(', ') },
    issuer: given?.issuer ?? { name: 'Unknown' },
  });
  return commit(call.objects, call.vault.name, async () => {
    const head = await headToWrite(call, 'certificates', name);
    if (head?.body.pending?.status === 'inProgress')
      throw conflict(
        `A new key vault certificate can not be created or imported while a pending key vault certificate's status is inProgress.`,
      );
    await demandFree(call, name, head?.body);
    const {
      operations,
      version,
      head: next,
    } = await certificateWrites(call, name, head, {
      version: newVersion(),
      key,
      certificates,
      policy,
      enabled: attributes?.enabled ?? true,
      ...(tags === undefined ? {} : { tags }),
    });
    return { operations, result: { body: bundleOf(call.vault, version, next) } };
  });
}

async function get(call: VaultCall): Promise<VaultAnswer> {
  const name = nameOf(call);
  const asked = versionOf(call);
  const head = await demandHead(call, 'certificates', name);
  const { pending } = head.body;
  // While the first version is being made there is nothing but that to show.
  if (pending !== undefined && (asked === pending.version || asked === undefined) && head.body.current === undefined) {
    return {
      body: {
        id: objectUrl(call.vault, 'certificates', head.body.name, pending.version),
        attributes: attributesOf(call.vault, head.body.attributes),
        policy: policyShape(call.vault, head.body),
        pending: { id: pendingUrl(call, head.body.name) },
      },
    };
  }
  const { version } = await demandVersion(call, 'certificates', name, asked);
  return { body: bundleOf(call.vault, version.body, head.body) };
}

function pendingUrl({ vault }: VaultPlace, name: string): string {
  return `${objectUrl(vault, 'certificates', name)}/pending`;
}

function noPending(name: string): VaultError {
  return new VaultError(404, 'PendingCertificateNotFound', `Pending certificate not found: ${name}`);
}

function pendingShape(call: VaultPlace, { name, pending, policy }: HeadBody): JsonObject {
  if (pending === undefined) throw noPending(name);
  const { status, csr, cancellationRequested, requestId, error, issuer } = pending;
  const details =
    issuer === 'Unknown' && status === 'inProgress'
      ? 'Pending certificate created. Please Perform Merge to complete the request.'
      : status === 'inProgress'
        ? 'Pending certificate created. Certificate request is in progress. This may take some time based on the issuer provider. Please check again later.'
        : undefined;
  return {
    id: pendingUrl(call, name),
    issuer: { ...(policy?.issuer as JsonObject | undefined), name: issuer },
    csr,
    cancellation_requested: cancellationRequested,
    status,
    ...(details === undefined ? {} : { status_details: details }),
    ...(error === undefined ? {} : { error: { ...error } }),
    ...(status === 'completed' ? { target: objectUrl(call.vault, 'certificates', name) } : {}),
    request_id: requestId,
  };
}

async function getPending(call: VaultCall): Promise<VaultAnswer> {
  const { body } = await demandHead(call, 'certificates', nameOf(call));
  return { body: pendingShape(call, body) };
}

async function cancelPending(call: VaultCall): Promise<VaultAnswer> {
  const name = nameOf(call);
  const { cancellation_requested: isCancelled } = bodyOf(call, cancelSchema);
  return commit(call.objects, call.vault.name, async () => {
    const head = await demandHead(call, 'certificates', name);
    const { pending } = head.body;
    if (pending === undefined) throw noPending(name);
    if (pending.status !== 'inProgress' || !isCancelled)
      return { operations: [], result: { body: pendingShape(call, head.body) } };
    const { dueAt: _dueAt, ...rest } = head.body;
    const next: HeadBody = { ...rest, pending: { ...pending, status: 'cancelled', cancellationRequested: true } };
    return { operations: [{ kind: 'replace', version: head, body: next }], result: { body: pendingShape(call, next) } };
  });
}

async function deletePending(call: VaultCall): Promise<VaultAnswer> {
  const name = nameOf(call);
  return commit(call.objects, call.vault.name, async () => {
    const head = await demandHead(call, 'certificates', name);
    const result = { body: pendingShape(call, head.body) };
    const { pending: _pending, value: _value, dueAt: _dueAt, ...rest } = head.body;
    const isEmpty = head.body.current === undefined;
    return {
      operations: [
        isEmpty
          ? { kind: 'delete', version: head }
          : { kind: 'replace', version: head, body: { ...rest, dueAt: call.world.clock.now() } },
      ],
      result,
    };
  });
}

async function getPolicy(call: VaultCall): Promise<VaultAnswer> {
  const name = nameOf(call);
  const { body } = await demandHead(call, 'certificates', name);
  if (body.policy === undefined) throw missing('certificates', name);
  return { body: policyShape(call.vault, body) };
}

async function changePolicy(call: VaultCall, given: unknown): Promise<HeadBody> {
  const name = nameOf(call);
  const asked = bodyOf({ ...call, body: given }, policySchema);
  return commit<HeadBody>(call.objects as Objects, call.vault.name, async () => {
    const head = await demandHead(call, 'certificates', name);
    const before = policyOf(head.body.policy);
    const policy = completePolicy({
      ...(before as unknown as typeof asked),
      ...asked,
      key_props: { ...before.key_props, ...asked.key_props },
      x509_props: { ...(before.x509_props as unknown as NonNullable<typeof asked.x509_props>), ...asked.x509_props },
    });
    const body: Stored = {
      ...head.body,
      policy: { ...policyBody(policy), attributes: policyTimes(call, head.body) },
      dueAt: call.world.clock.now(),
    };
    return { operations: [{ kind: 'replace', version: head, body }], result: body };
  });
}
