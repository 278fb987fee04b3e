import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod } from './pod.ts';
import { type AdmittedCluster, admittedCluster, pods, refusal, simplePod } from './testing/admitted-cluster.ts';

async function withAccount(account: object = {}): Promise<AdmittedCluster> {
  const made = await admittedCluster();
  await made.create('/v1/serviceaccounts', 'default', { metadata: { name: 'default' }, ...account });
  return made;
}

test('a pod runs as the default account, with its token and its pull secrets', async () => {
  const { create } = await withAccount({ imagePullSecrets: [{ name: 'pull' }] });
  const { spec } = (await create(
    pods,
    'default',
    simplePod('p', { initContainers: [{ name: 'ic', image: 'i' }] }),
  )) as Pod;
  assert.equal(spec.serviceAccountName, 'default');
  assert.equal(spec.serviceAccount, 'default');
  assert.deepEqual(spec.imagePullSecrets, [{ name: 'pull' }]);
  const [volume] = spec.volumes ?? [];
  assert.match(volume?.name ?? '', /^kube-api-access-[a-z0-9]{5}$/);
  assert.deepEqual(volume?.projected, {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 420,
  });
  for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
    assert.deepEqual(container.volumeMounts, [
      { name: volume?.name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ]);
  }
});

test('a pod or its account may do without the token', async () => {
  const { create } = await withAccount();
  const bare = (await create(pods, 'default', simplePod('p', { automountServiceAccountToken: false }))) as Pod;
  assert.equal(bare.spec.volumes, undefined);
  await create('/v1/serviceaccounts', 'default', { metadata: { name: 'quiet' }, automountServiceAccountToken: false });
  const quiet = (await create(pods, 'default', simplePod('q', { serviceAccountName: 'quiet' }))) as Pod;
  assert.equal(quiet.spec.volumes, undefined);
});

test('a pod of an account that is not there is refused', async () => {
  const { create } = await withAccount();
  assert.equal(
    await refusal(create(pods, 'default', simplePod('p1', { serviceAccountName: 'zz' }))),
    '403 pods "p1" is forbidden: error looking up service account default/zz: serviceaccount "zz" not found',
  );
});

test('a pod in a new namespace waits for the default account to come', async () => {
  const { create } = await admittedCluster();
  const waiting = create(pods, 'default', simplePod('p'));
  await create('/v1/serviceaccounts', 'default', { metadata: { name: 'default' } });
  assert.equal(((await waiting) as Pod).spec.serviceAccountName, 'default');
});

test('priority classes become numbers', async () => {
  const { create } = await withAccount();
  const plain = (await create(pods, 'default', simplePod('p0'))) as Pod;
  assert.deepEqual([plain.spec.priority, plain.spec.preemptionPolicy], [0, 'PreemptLowerPriority']);
  assert.equal(
    await refusal(create(pods, 'default', simplePod('p1', { priorityClassName: 'zz' }))),
    '403 pods "p1" is forbidden: no PriorityClass with name zz was found',
  );
  assert.equal(
    await refusal(create(pods, 'default', simplePod('p1', { priority: 5 }))),
    '403 pods "p1" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
  );
  const classes = 'scheduling.k8s.io/v1/priorityclasses';
  await create(classes, '', { metadata: { name: 'hi' }, value: 1000, globalDefault: true, preemptionPolicy: 'Never' });
  const { spec } = (await create(pods, 'default', simplePod('p2'))) as Pod;
  assert.deepEqual([spec.priorityClassName, spec.priority, spec.preemptionPolicy], ['hi', 1000, 'Never']);
  assert.equal(
    await refusal(create(classes, '', { metadata: { name: 'hi2' }, value: 1000, globalDefault: true })),
    '403 priorityclasses.scheduling.k8s.io "hi2" is forbidden: PriorityClass hi is already marked as default. Only one default can exist',
  );
});

test('tolerations of troubled nodes are added unless the pod has its own', async () => {
  const { create } = await withAccount();
  const own = [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }];
  const { spec } = (await create(pods, 'default', simplePod('p', { tolerations: own }))) as Pod;
  assert.deepEqual(spec.tolerations, [
    ...own,
    { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  ]);
});

const limitRange = {
  metadata: { name: 'l1' },
  spec: {
    limits: [
      {
        type: 'Container',
        default: { cpu: '500m', memory: '256Mi' },
        defaultRequest: { cpu: '100m', memory: '256Mi' },
        max: { cpu: '1', memory: '1Gi' },
        min: { cpu: '50m' },
        maxLimitRequestRatio: { cpu: '10' },
      },
      { type: 'Pod', max: { cpu: '2' } },
      { type: 'PersistentVolumeClaim', max: { storage: '2Gi' }, min: { storage: '1Gi' } },
    ],
  },
};

const container = (name: string, requests: object, limits: object): object => ({
  name,
  image: 'i',
  resources: { requests, limits },
});

test('a limit range fills what containers leave open', async () => {
  const { create } = await withAccount();
  await create('/v1/limitranges', 'default', limitRange);
  const sent = simplePod('p1', {
    containers: [
      { name: 'c', image: 'i' },
      { name: 'd', image: 'i', resources: { limits: { cpu: '200m' } } },
    ],
  });
  const made = (await create(pods, 'default', sent)) as Pod;
  assert.deepEqual(
    made.spec.containers.map(({ resources }: Container) => resources),
    [
      { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '256Mi' } },
      { limits: { cpu: '200m', memory: '256Mi' }, requests: { cpu: '200m', memory: '256Mi' } },
    ],
  );
  assert.equal(
    made.metadata.annotations?.['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c; memory request for container d; memory limit for container d',
  );
});

test('a limit range refuses what is out of it, with every reason', async () => {
  const { create } = await withAccount();
  await create('/v1/limitranges', 'default', limitRange);
  const pod = (...containers: object[]): Promise<string> =>
    refusal(create(pods, 'default', simplePod('p2', { containers: containers as never })));
  assert.equal(
    await pod(container('c', { cpu: '10m' }, { cpu: '3', memory: '2Gi' })),
    '403 pods "p2" is forbidden: [minimum cpu usage per Container is 50m, but request is 10m, maximum cpu usage per Container is 1, but limit is 3, maximum memory usage per Container is 1Gi, but limit is 2Gi, cpu max limit to request ratio per Container is 10, but provided ratio is 300.000000, maximum cpu usage per Pod is 2, but limit is 3]',
  );
  assert.equal(
    await pod(
      container('c', { cpu: '60m' }, { cpu: '900m' }),
      container('d', { cpu: '600m' }, { cpu: '900m' }),
      container('e', { cpu: '600m' }, { cpu: '900m' }),
    ),
    '403 pods "p2" is forbidden: [cpu max limit to request ratio per Container is 10, but provided ratio is 15.000000, maximum cpu usage per Pod is 2, but limit is 2700m]',
  );
  const claim = (storage: string): Promise<string> =>
    refusal(
      create('/v1/persistentvolumeclaims', 'default', {
        metadata: { name: 'p2' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
      }),
    );
  assert.equal(
    await claim('3Gi'),
    '403 persistentvolumeclaims "p2" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi',
  );
  assert.equal(
    await claim('5Mi'),
    '403 persistentvolumeclaims "p2" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Mi',
  );
});

test('the classes of the system are there from the start', async () => {
  const { create } = await withAccount();
  const { spec } = (await create(
    pods,
    'default',
    simplePod('p', { priorityClassName: 'system-node-critical' }),
  )) as Pod;
  assert.equal(spec.priority, 2_000_001_000);
});
