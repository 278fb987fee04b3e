import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployments, endpointSlices, endpoints, pods, services } from './kinds.ts';
import { type Controlled, controlled, deploymentOf } from './testing/controlled.ts';

const service = (name: string, spec: Record<string, unknown> = {}) => ({
  metadata: { name },
  spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
});

const addresses = ({ hands }: Controlled, name = 'web') => {
  const subsets = hands.get(endpoints, 'default', name)?.subsets ?? [];
  return subsets.flatMap(({ addresses: ready = [] }) => ready.map(({ ip }) => ip)).sort();
};

test('a service gets an address that is its own, and keeps it', async (t) => {
  const one = await controlled(t);
  const first = await one.create(services, 'default', service('first'));
  const second = await one.create(services, 'default', service('second'));
  assert.match(first.spec.clusterIP ?? '', /^10\.0\.\d+\.\d+$/);
  assert.deepEqual(first.spec.clusterIPs, [first.spec.clusterIP]);
  assert.notEqual(first.spec.clusterIP, second.spec.clusterIP);
  await assert.rejects(one.create(services, 'default', service('third', { clusterIP: first.spec.clusterIP })), {
    message: `Service "third" is invalid: spec.clusterIPs: Invalid value: ["${first.spec.clusterIP}"]: failed to allocate IP ${first.spec.clusterIP}: provided IP is already allocated`,
  });
  const changed = await one.change(services, 'default', 'first', ({ spec }) => {
    spec.ports = [{ port: 81 }];
  });
  assert.equal(changed.spec.clusterIP, first.spec.clusterIP);
  const headless = await one.create(services, 'default', service('headless', { clusterIP: 'None' }));
  assert.equal(headless.spec.clusterIP, 'None');
});

test('node ports are given out, unique and in their range, and given back', async (t) => {
  const one = await controlled(t);
  const first = await one.create(services, 'default', service('first', { type: 'NodePort' }));
  const port = first.spec.ports?.[0]?.nodePort ?? 0;
  assert.ok(port >= 30_000 && port <= 32_767);
  await assert.rejects(
    one.create(services, 'default', service('second', { type: 'NodePort', ports: [{ port: 80, nodePort: port }] })),
    {
      message: `Service "second" is invalid: spec.ports[0].nodePort: Invalid value: ${port}: provided port is already allocated`,
    },
  );
  await assert.rejects(
    one.create(services, 'default', service('third', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] })),
    /provided port is not in the valid range. The range of valid ports is 30000-32767/,
  );
  const inner = await one.change(services, 'default', 'first', ({ spec }) => {
    spec.type = 'ClusterIP';
    delete spec.externalTrafficPolicy;
  });
  assert.equal(inner.spec.ports?.[0]?.nodePort, undefined);
  const again = await one.create(
    services,
    'default',
    service('second', { type: 'NodePort', ports: [{ port: 80, nodePort: port }] }),
  );
  assert.equal(again.spec.ports?.[0]?.nodePort, port);
});

test('endpoints and slices follow the pods of a service', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(services, 'default', service('web'));
  assert.deepEqual(addresses(one), []);
  await one.create(deployments, 'default', deploymentOf('web', 3));
  const ips = one.hands
    .list(pods, 'default')
    .map(({ status }) => status?.podIP)
    .sort();
  assert.deepEqual(addresses(one), ips);
  const [slice] = one.hands
    .list(endpointSlices, 'default')
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web');
  assert.deepEqual(slice?.endpoints?.flatMap((each) => each.addresses).sort(), ips);
  assert.deepEqual(slice?.ports, [{ name: '', port: 8080, protocol: 'TCP' }]);
  assert.ok(
    slice?.endpoints?.every(({ conditions }) => conditions.ready && conditions.serving && !conditions.terminating),
  );
  await one.change(deployments, 'default', 'web', ({ spec }) => {
    spec.replicas = 1;
  });
  assert.equal(addresses(one).length, 1);
  await one.remove(services, 'default', 'web');
  assert.equal(one.hands.get(endpoints, 'default', 'web'), undefined);
  assert.ok(!one.hands.list(endpointSlices, 'default').some(({ metadata }) => metadata.name === slice?.metadata.name));
});

test('pods that are not ready are told apart', async (t) => {
  const one = await controlled(t, { nodes: ['a'] });
  await one.create(services, 'default', service('web'));
  await one.create(pods, 'default', {
    metadata: {
      name: 'web',
      labels: { app: 'web' },
      annotations: { 'simulation.kubernetes.local/outcome': 'never-ready' },
    },
    spec: { containers: [{ name: 'main', image: 'registry.local/web:1' }] },
  });
  const [subset] = one.read(endpoints, 'default', 'web').subsets ?? [];
  assert.equal(subset?.addresses, undefined);
  assert.equal(subset?.notReadyAddresses?.length, 1);
});

test('services of type LoadBalancer are pending, unless something answers for them', async (t) => {
  const balanced = { ...service('web'), spec: { ...service('web').spec, type: 'LoadBalancer' } };
  const alone = await controlled(t);
  await alone.create(services, 'default', balanced);
  assert.deepEqual(alone.read(services, 'default', 'web').status?.loadBalancer, {});
  const kept = new Map([['web', '192.0.2.7']]);
  const one = await controlled(t, {
    config: { controllers: { loadBalancerAddress: (_, { metadata }) => kept.get(metadata.name ?? '') } },
  });
  await one.create(services, 'default', balanced);
  await one.create(services, 'default', { ...balanced, metadata: { name: 'other' } });
  await one.create(services, 'default', service('inside'));
  const ingress = (name: string) => one.read(services, 'default', name).status?.loadBalancer?.ingress;
  assert.deepEqual(ingress('web'), [{ ip: '192.0.2.7', ipMode: 'VIP' }]);
  assert.equal(ingress('other'), undefined);
  assert.equal(ingress('inside'), undefined);
  await one.change(services, 'default', 'web', ({ spec }) => {
    spec.type = 'ClusterIP';
  });
  assert.equal(ingress('web'), undefined);
});
