import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createRequest } from '../../../pki/csr.ts';
import { contextOf, decoded } from './hands.ts';
import { certificateRequests } from './kinds.ts';
import { conditionOf } from './pods.ts';
import { type Controlled, controlled } from './testing/controlled.ts';

async function ask(
  one: Controlled,
  name: string,
  spec: { readonly signerName: string; readonly usages: string[] },
  subject: Parameters<typeof createRequest>[0],
  user: { readonly name: string; readonly groups: readonly string[] },
): Promise<void> {
  const { requestPem } = await createRequest(subject);
  const context = { ...contextOf(one.cluster, { name: 'client' }), user };
  const object = decoded(certificateRequests.type, {
    metadata: { name },
    spec: { ...spec, request: Buffer.from(requestPem).toString('base64') },
  });
  await one.cluster.registry.create(context, certificateRequests.type, '', object);
  await one.settle();
}

const client = 'kubernetes.io/kube-apiserver-client';
const kubelet = 'kubernetes.io/kube-apiserver-client-kubelet';
const admin = { name: 'ann', groups: ['system:masters', 'system:authenticated'] };
const bootstrapper = { name: 'system:bootstrap:abc', groups: ['system:bootstrappers', 'system:masters'] };

const approve = (one: Controlled, name: string): Promise<unknown> => {
  const entry = one.cluster.objects.get(certificateRequests.type.storage, '', name);
  assert.ok(entry);
  const request = structuredClone(one.hands.read(certificateRequests, entry));
  request.status = { conditions: [{ type: 'Approved', status: 'True', reason: 'Seen', message: 'fine' }] };
  const context = { ...one.hands.context, user: admin };
  return one.cluster.registry
    .update(context, certificateRequests.type, { namespace: '', name }, request, 'approval')
    .then(() => one.settle());
};

test('a request is signed once somebody approves it', async (t) => {
  const one = await controlled(t);
  await ask(
    one,
    'ann',
    { signerName: client, usages: ['client auth'] },
    { commonName: 'joe', organizations: ['team'] },
    admin,
  );
  assert.equal(one.read(certificateRequests, '', 'ann').status?.certificate, undefined);
  await approve(one, 'ann');
  const { certificate = '' } = one.read(certificateRequests, '', 'ann').status ?? {};
  const issued = new X509Certificate(Buffer.from(certificate, 'base64'));
  assert.equal(issued.subject, 'O=team\nCN=joe');
  assert.ok(issued.checkIssued(new X509Certificate(await one.cluster.ca())));
});

test('a kubelet that may ask for its client certificate gets it unasked', async (t) => {
  const one = await controlled(t);
  const subject = { commonName: 'system:node:a', organizations: ['system:nodes'] };
  const usages = ['client auth', 'digital signature'];
  await ask(one, 'node', { signerName: kubelet, usages }, subject, bootstrapper);
  const { status } = one.read(certificateRequests, '', 'node');
  assert.equal(conditionOf(status?.conditions, 'Approved')?.reason, 'AutoApproved');
  assert.ok(status?.certificate);
  await ask(one, 'stranger', { signerName: kubelet, usages }, subject, {
    name: 'joe',
    groups: ['system:authenticated'],
  });
  assert.equal(one.read(certificateRequests, '', 'stranger').status?.conditions, undefined);
});

test('an approved request that its signer cannot honour fails', async (t) => {
  const one = await controlled(t);
  await ask(one, 'odd', { signerName: client, usages: ['server auth'] }, { commonName: 'joe' }, admin);
  await approve(one, 'odd');
  const { status } = one.read(certificateRequests, '', 'odd');
  assert.equal(conditionOf(status?.conditions, 'Failed')?.reason, 'SignerValidationFailure');
  assert.equal(status?.certificate, undefined);
});
