// A certificate that is being made: its request, what it waits for, how it is given up.
import { createPrivateKey, randomUUID } from 'node:crypto';
import { Type } from '../../../arm/type.ts';
import { Secret } from '../../../kit/secret.ts';
import type { JsonObject } from '../kernel/record.ts';
import { bodyOf, nameOf, nowSeconds, type VaultAnswer, type VaultCall, type VaultPlace } from './call.ts';
import type { Policy } from './certificate-policy.ts';
import { badParameter, conflict, VaultError } from './errors.ts';
import { demandHead, headToWrite } from './find.ts';
import { makeKey } from './key-material.ts';
import { commit, type HeadBody, headId, readVersion, upsert } from './objects.ts';
import { newAttributes, newVersion } from './secrets.ts';
import { objectUrl } from './shapes.ts';

const cancelSchema = Type.Object({ cancellation_requested: Type.Boolean() });

/** The policy's issuer as the vault spells it. Throws when there is none of that name. */
export async function demandIssuer(call: VaultPlace, policy: Policy): Promise<string> {
  const { name } = policy.issuer;
  const known = ['self', 'unknown'].find((word) => word === name.toLowerCase());
  if (known !== undefined) return known === 'self' ? 'Self' : 'Unknown';
  const issuer = await call.objects.read({ partition: call.vault.name, id: `issuers/${name.toLowerCase()}` });
  if (issuer?.body.kind === 'issuer') return issuer.body.name;
  throw badParameter(`The issuer '${name}' of the certificate's policy was not found in this key vault.`);
}

/** What a request is started with. */
interface Start {
  readonly issuer: string;
  readonly enabled: boolean;
  readonly tags?: { readonly [name: string]: string };
}

/** Writes the request down; what signs it follows by itself, unless the issuer is `Unknown`. */
export async function startPending(call: VaultPlace, name: string, policy: Policy, start: Start): Promise<HeadBody> {
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
export async function demandFree(call: VaultPlace, name: string, head: HeadBody | undefined): Promise<void> {
  if (head?.current !== undefined) return;
  for (const type of ['keys', 'secrets'] as const) {
    const there = await headToWrite(call, type, name);
    if (there !== undefined && there.body.managed !== true)
      throw conflict(
        `A ${type.slice(0, -1)} with the name ${name} exists already and does not belong to a certificate.`,
      );
  }
}

export function policyBody(policy: Policy): JsonObject {
  return policy as unknown as JsonObject;
}

/** When a policy was made and changed, for one that is written now. */
export function policyTimes(call: VaultPlace, before: HeadBody | undefined): JsonObject {
  const now = nowSeconds(call);
  const attributes = before?.policy?.attributes as JsonObject | undefined;
  return { enabled: true, created: attributes?.created ?? now, updated: now };
}

export function pendingUrl({ vault }: VaultPlace, name: string): string {
  return `${objectUrl(vault, 'certificates', name)}/pending`;
}

export function noPending(name: string): VaultError {
  return new VaultError(404, 'PendingCertificateNotFound', `Pending certificate not found: ${name}`);
}

/** As clients see it. Throws a 404 when nothing is pending. */
export function pendingShape(call: VaultPlace, { name, pending, policy }: HeadBody): JsonObject {
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

export async function getPending(call: VaultCall): Promise<VaultAnswer> {
  const { body } = await demandHead(call, 'certificates', nameOf(call));
  return { body: pendingShape(call, body) };
}

export async function cancelPending(call: VaultCall): Promise<VaultAnswer> {
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

export async function deletePending(call: VaultCall): Promise<VaultAnswer> {
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
