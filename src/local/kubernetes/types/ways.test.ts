// The ways of changing an object that are not its own PUT: status, approval, finalize, and what deletes wait for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, KubeObject } from '../object.ts';
import type { RequestContext } from '../request-context.ts';
import type { ResourceType, Subresource } from './resource-type.ts';
import { createTypeTable } from './table.ts';

const table = createTypeTable();
const context = { cluster: { now: () => Date.UTC(2024, 0, 1) } } as unknown as RequestContext;

function typeOf(group: string, plural: string): ResourceType {
  const type = table.find(group, 'v1', plural);
  assert.ok(type);
  return type;
}

function wayOf(type: ResourceType, name: string): Extract<Subresource, { kind: 'status' }> {
  const way = type.subresources[name];
  assert.ok(way?.kind === 'status');
  return way;
}

function decoded(type: ResourceType, body: JsonObject): KubeObject {
  const object = type.strategy.decode?.(body).object;
  assert.ok(object);
  type.strategy.defaults?.(object);
  return object;
}

const podBody = (more: JsonObject = {}, status: JsonObject = {}): JsonObject => ({
  metadata: { name: 'p', namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...more },
  status,
});

test('a status keeps the spec, a spec keeps the status', () => {
  const type = typeOf('apps', 'deployments');
  const body: JsonObject = {
    metadata: { name: 'd', labels: { a: 'b' } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [] } },
    },
    status: { replicas: 1 },
  };
  const old = decoded(type, body);
  const changed = decoded(type, {
    ...body,
    metadata: { name: 'd', labels: { c: 'd' } },
    spec: { ...(body.spec as JsonObject), replicas: 5 },
    status: { replicas: 7 },
  });
  const byStatus = structuredClone(changed);
  wayOf(type, 'status').prepareUpdate?.(byStatus, old, context);
  assert.equal((byStatus.spec as JsonObject).replicas, 1);
  assert.deepEqual(byStatus.status, { replicas: 7 });
  assert.deepEqual(byStatus.metadata.labels, { a: 'b' }, 'a deployment’s labels are not its controller’s to change');
  type.strategy.prepareUpdate?.(changed, old, context);
  assert.equal((changed.spec as JsonObject).replicas, 5);
  assert.deepEqual(changed.status, { replicas: 1 });
});

test('a pod waits for its grace only where somebody runs it', () => {
  const type = typeOf('', 'pods');
  const grace = (body: JsonObject, asked?: number): number | undefined =>
    type.strategy.grace?.(decoded(type, body), asked);
  assert.equal(grace(podBody()), 0, 'not scheduled');
  assert.equal(grace(podBody({ nodeName: 'n' })), 30);
  assert.equal(grace(podBody({ nodeName: 'n', terminationGracePeriodSeconds: 5 })), 5);
  assert.equal(grace(podBody({ nodeName: 'n' }), 7), 7);
  assert.equal(grace(podBody({ nodeName: 'n' }), -1), 1);
  assert.equal(grace(podBody({ nodeName: 'n' }, { phase: 'Succeeded' }), 7), 0, 'it has ended');
});

test('ephemeral containers are added by their own way and stay', () => {
  const type = typeOf('', 'pods');
  const way = wayOf(type, 'ephemeralcontainers');
  const ephemeral: JsonObject = { name: 'debug', image: 'busybox' };
  const old = decoded(type, podBody());
  const added = decoded(type, podBody({ ephemeralContainers: [ephemeral], nodeName: 'other' }));
  way.prepareUpdate?.(added, old, context);
  assert.equal((added.spec as JsonObject).nodeName, undefined);
  assert.deepEqual(way.validateUpdate?.(added, old), []);
  const removed = structuredClone(old);
  way.prepareUpdate?.(removed, added, context);
  assert.match(way.validateUpdate?.(removed, added)[0]?.message ?? '', /may not be removed/);
});

test('a signing request is approved by one way and signed by another', () => {
  const type = typeOf('certificates.k8s.io', 'certificatesigningrequests');
  const spec: JsonObject = { request: 'YQ==', signerName: 'example.com/s', usages: ['client auth'] };
  const old = decoded(type, { metadata: { name: 'r' }, spec });
  const approved = decoded(type, {
    metadata: { name: 'r' },
    spec: { ...spec, signerName: 'example.com/other' },
    status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'YQ==' },
  });
  wayOf(type, 'approval').prepareUpdate?.(approved, old, context);
  assert.deepEqual(approved.spec, old.spec);
  const time = '2024-01-01T00:00:00Z';
  assert.deepEqual(approved.status, {
    conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: time, lastTransitionTime: time }],
  });
  const signed = structuredClone(approved);
  signed.status = { certificate: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t' };
  const way = wayOf(type, 'status');
  way.prepareUpdate?.(signed, approved, context);
  assert.deepEqual((signed.status as JsonObject).conditions, (approved.status as JsonObject).conditions);
  assert.deepEqual(way.validateUpdate?.(signed, approved), []);
  const withdrawn = structuredClone(approved);
  withdrawn.status = {};
  wayOf(type, 'approval').prepareUpdate?.(withdrawn, approved, context);
  assert.match(
    wayOf(type, 'approval').validateUpdate?.(withdrawn, approved)[0]?.message ?? '',
    /may not remove a condition of type "Approved"/,
  );
});

test('a namespace’s finalizers change by finalize alone', () => {
  const type = typeOf('', 'namespaces');
  const old = decoded(type, { metadata: { name: 'n' } });
  type.strategy.prepareCreate?.(old, context);
  assert.deepEqual(old.spec, { finalizers: ['kubernetes'] });
  const wanted = decoded(type, { metadata: { name: 'n' }, spec: {} });
  type.strategy.prepareUpdate?.(wanted, old, context);
  assert.deepEqual(wanted.spec, { finalizers: ['kubernetes'] });
  const finalized = decoded(type, { metadata: { name: 'n' }, spec: {} });
  wayOf(type, 'finalize').prepareUpdate?.(finalized, old, context);
  assert.deepEqual(finalized.spec, {});
});

test('an event is the same object in both groups', () => {
  const type = typeOf('events.k8s.io', 'events');
  const stored = decoded(typeOf('', 'events'), {
    metadata: { name: 'e', namespace: 'default' },
    involvedObject: { kind: 'Pod', name: 'p' },
    message: 'm',
    source: { component: 'c' },
    firstTimestamp: '2024-01-01T00:00:00Z',
    count: 2,
  });
  const served = type.convert?.toServed(stored);
  assert.equal(served?.apiVersion, 'events.k8s.io/v1');
  assert.deepEqual(served?.regarding, { kind: 'Pod', name: 'p' });
  assert.equal(served?.note, 'm');
  assert.equal(served?.deprecatedCount, 2);
  assert.deepEqual(served && type.convert?.toStored(served), stored);
  assert.equal(type.strategy.fields?.(served ?? stored)['involvedObject.name'], 'p');
});

test('a service keeps the address and node ports it was given', () => {
  const type = typeOf('', 'services');
  const old = decoded(type, {
    metadata: { name: 's' },
    spec: { type: 'NodePort', clusterIP: '10.0.0.9', ports: [{ port: 80, nodePort: 30080 }] },
  });
  const wanted = decoded(type, {
    metadata: { name: 's' },
    spec: { type: 'NodePort', ports: [{ port: 80 }, { port: 81, name: 'b' }] },
  });
  type.strategy.prepareUpdate?.(wanted, old, context);
  const spec = wanted.spec as { clusterIP: string; clusterIPs: string[]; ports: { nodePort?: number }[] };
  assert.equal(spec.clusterIP, '10.0.0.9');
  assert.deepEqual(spec.clusterIPs, ['10.0.0.9']);
  assert.deepEqual(
    spec.ports.map(({ nodePort }) => nodePort),
    [30080, undefined],
  );
});

test('pods are warned of what is likely a mistake', () => {
  const type = typeOf('', 'pods');
  const warnings = type.strategy.warnings?.(
    decoded(
      type,
      podBody({
        nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
        containers: [
          {
            name: 'c',
            image: 'i',
            env: [
              { name: 'A', value: '1' },
              { name: 'A', value: '2' },
            ],
            ports: [{ containerPort: 80 }, { containerPort: 80 }],
          },
        ],
      }),
    ),
  );
  assert.deepEqual(warnings, [
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    'spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]',
  ]);
});
