import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createRequest } from '../../../pki/csr.ts';
import { binding, clusterRole, person, user } from '../access/testing/cluster-access.ts';
import { admittedCluster, refusal } from './testing/admitted-cluster.ts';

const claims = '/v1/persistentvolumeclaims';
const requests = 'certificates.k8s.io/v1/certificatesigningrequests';
const rbac = 'rbac.authorization.k8s.io/v1';

test('claims and ingresses get the newest default class, and claims the finalizer that protects them', async () => {
  const { create } = await admittedCluster();
  const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '3Gi' } } } };
  const without = await create(claims, 'default', { metadata: { name: 'c0' }, ...claim });
  assert.equal((without.spec as { storageClassName?: string }).storageClassName, undefined);
  assert.deepEqual(without.metadata.finalizers, ['kubernetes.io/pvc-protection']);
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  await create('storage.k8s.io/v1/storageclasses', '', { metadata: { name: 'sc1', annotations }, provisioner: 'x' });
  const given = await create(claims, 'default', { metadata: { name: 'c1' }, ...claim });
  assert.equal((given.spec as { storageClassName?: string }).storageClassName, 'sc1');
  const none = { ...claim.spec, storageClassName: '' };
  const asked = await create(claims, 'default', { metadata: { name: 'c2' }, spec: none });
  assert.equal((asked.spec as { storageClassName?: string }).storageClassName, '');
  await create('networking.k8s.io/v1/ingressclasses', '', {
    metadata: { name: 'ic1', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
    spec: { controller: 'a/b' },
  });
  const ingress = await create('networking.k8s.io/v1/ingresses', 'default', {
    metadata: { name: 'i1' },
    spec: { defaultBackend: { service: { name: 'x', port: { number: 80 } } } },
  });
  assert.equal((ingress.spec as { ingressClassName?: string }).ingressClassName, 'ic1');
});

test('certificates: nobody becomes a master, approvers and signers need the right to the signer', async () => {
  const { create, patch } = await admittedCluster();
  const bob = person('bob');
  const request = async (name: string, organization: string): Promise<string> => {
    const { requestPem } = await createRequest({ commonName: 'eve', organizations: [organization] });
    return refusal(
      create(
        requests,
        '',
        {
          metadata: { name },
          spec: {
            signerName: 'kubernetes.io/kube-apiserver-client',
            usages: ['client auth'],
            request: Buffer.from(requestPem).toString('base64'),
          },
        },
        { user: bob },
      ),
    );
  };
  assert.equal(
    await request('k1', 'system:masters'),
    '403 certificatesigningrequests.certificates.k8s.io "k1" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
  );
  assert.match(await request('k2', 'devs'), /^not refused/);
  const status = { conditions: [{ type: 'Approved', status: 'True', reason: 'x', message: 'y' }] };
  const approve = (): Promise<unknown> => patch(requests, '', 'k2', { status }, { user: bob, subresource: 'approval' });
  assert.equal(
    await refusal(approve()),
    '403 certificatesigningrequests.certificates.k8s.io "k2" is forbidden: user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"',
  );
  const rules = [
    {
      verbs: ['approve'],
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      resourceNames: ['kubernetes.io/*'],
    },
  ];
  await create(`${rbac}/clusterroles`, '', clusterRole('approver', { rules }));
  await create(`${rbac}/clusterrolebindings`, '', binding('approver', 'approver', user('bob')));
  assert.match(await refusal(approve()), /^not refused/);
});

test('writing a role is held against what the writer holds', async () => {
  const { create } = await admittedCluster();
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }];
  assert.match(
    await refusal(create(`${rbac}/clusterroles`, '', clusterRole('r', { rules }), { user: person('bob') })),
    /^403 clusterroles.rbac.authorization.k8s.io "r" is forbidden: user "bob" .* not currently held:\n\{APIGroups:\[""\]/,
  );
  assert.match(await refusal(create(`${rbac}/clusterroles`, '', clusterRole('r', { rules }))), /^not refused/);
});

test('a role made of others shows the rules of those that come and go', async () => {
  const { create, get, remove } = await admittedCluster();
  const shown = (name: string): string => JSON.stringify(get(`${rbac}/clusterroles`, '', name)?.rules);
  const rules = [{ verbs: ['get'], apiGroups: ['x.io'], resources: ['widgets'] }];
  const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
  await create(`${rbac}/clusterroles`, '', clusterRole('widget-view', { rules }, labels));
  for (const name of ['view', 'edit', 'admin']) assert.match(shown(name), /widgets/);
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: labels }] };
  await create(`${rbac}/clusterroles`, '', clusterRole('mine', { aggregationRule }));
  assert.equal(shown('mine'), shown('view'));
  await remove(`${rbac}/clusterroles`, '', 'widget-view');
  await turn();
  await turn();
  for (const name of ['view', 'edit', 'admin', 'mine']) assert.doesNotMatch(shown(name), /widgets/);
});
