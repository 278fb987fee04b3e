// Certificates as clients ask for them: made through a policy, merged, brought in, shown.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { Type } from '../../../arm/type.ts';
import { bodyOf, nameOf, type VaultAnswer, type VaultCall, type VaultRoute, versionOf } from './call.ts';
import { readImport } from './certificate-import.ts';
import { completePolicy, pemType, pkcs12Type, policyOf, policySchema } from './certificate-policy.ts';
import { certificateWrites } from './certificate-writes.ts';
import { badParameter, conflict } from './errors.ts';
import { demandHead, demandVersion, headToWrite, missing } from './find.ts';
import { commit, type HeadBody, type Objects, type Stored } from './objects.ts';
import {
  cancelPending,
  deletePending,
  demandFree,
  demandIssuer,
  getPending,
  noPending,
  pendingShape,
  pendingUrl,
  policyBody,
  policyTimes,
  startPending,
} from './pending-certificate.ts';
import { attributesSchema, checkTags, newVersion, tagsSchema, updateVersion } from './secrets.ts';
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
