// What happens to certificates by themselves: pending ones are signed, those about to expire are made anew.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Document } from '../../../store/store.ts';
import type { VaultPlace } from './call.ts';
import { type Policy, policyOf, renewAt } from './certificate-policy.ts';
import { certificateWrites } from './certificate-writes.ts';
import { demandHead } from './find.ts';
import { commit, type HeadBody, readVersion } from './objects.ts';
import { demandIssuer, startPending } from './pending-certificate.ts';

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
