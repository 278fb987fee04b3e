// Every scenario of the matrix, on whichever server and agent.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IPublishPacket } from 'mqtt';
import type { KubeObject } from '../../../src/kube/object.ts';
import { resource } from '../../../src/kube/resource.ts';
import type { ManifestBundleStatus } from '../../../src/maestro/protocol/manifest-bundle.ts';
import { PublishError } from '../../../src/maestro/protocol/publish-error.ts';
import { manifestWorks } from '../../../src/manifestwork/work.ts';
import { bundleOf, configMaps, consumer, isApplied, openWorld, type Peers, saysGone, type World } from './world.ts';

const namespaces = resource<KubeObject>('v1', 'Namespace', 'namespaces', 'Cluster');
const key = (name: string) => ({ namespace: 'default', name });
const userProperty = (packet: IPublishPacket, name: string): unknown => packet.properties?.userProperties?.[name];

export interface ScenarioOptions {
  /** In the scenario with many. */
  readonly many: number;
}

export async function scenarios(t: TestContext, peers: Peers, { many }: ScenarioOptions): Promise<void> {
  const world = await openWorld(t, peers);
  const { source, cluster } = world;
  const data = async (name: string) => (await cluster.find(configMaps, key(name)))?.data;

  await t.test('create: the objects are on the cluster, and the status says so', async () => {
    const id = await created(world, 'created', { a: '1' });
    assert.deepEqual(await data('created'), { a: '1' });
    const { body } = await world.get(`resource-bundles/${id}`);
    assert.equal(body.version, 1);
    const status = body.status as { ObservedVersion: number; SequenceID: string; conditions: { type: string }[] };
    assert.equal(status.ObservedVersion, 1);
    assert.match(status.SequenceID, /^\d+$/);
    assert.deepEqual(
      status.conditions.map(({ type }) => type),
      ['Applied', 'Available'],
    );
  });

  await t.test('update: the objects follow', async () => {
    const id = await created(world, 'updated', { a: '1' });
    await source.update({ consumer, resourceId: id, bundle: bundleOf('updated', { a: '2' }) });
    await world.status(id, isApplied(2));
    assert.deepEqual(await data('updated'), { a: '2' });
  });

  await t.test('stale update: refused, and nothing changes', async () => {
    const id = await created(world, 'stale', { a: '1' });
    await source.update({ consumer, resourceId: id, version: 1, bundle: bundleOf('stale', { a: '2' }) });
    await assert.rejects(
      source.update({ consumer, resourceId: id, version: 1, bundle: bundleOf('stale', { a: '3' }) }),
      (error) => error instanceof PublishError && error.failure === 'conflict',
    );
    await world.status(id, isApplied(2));
    assert.deepEqual(await data('stale'), { a: '2' });
  });

  await t.test('status: what changes on the cluster is fed back', async () => {
    const id = await created(world, 'status', { a: '1' });
    await cluster.patch(configMaps, key('status'), 'merge', { data: { b: 'theirs' } });
    const { status } = await world.status(id, ({ status }) => JSON.stringify(status).includes('theirs'));
    const [value] = status.resourceStatus[0]?.statusFeedback.values ?? [];
    assert.equal(value?.fieldValue.type, 'JsonRaw');
  });

  await t.test('nested: the status of a ManifestWork inside a bundle comes back as feedback', async () => {
    const inner = { namespace: 'local-cluster', name: 'hosted' };
    await cluster.create(namespaces, { metadata: { name: inner.namespace } });
    const id = randomUUID();
    const work = {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: inner,
      spec: { workload: { manifests: bundleOf('inner', {}).manifests } },
    };
    const resourceIdentifier = { group: 'work.open-cluster-management.io', resource: 'manifestworks', ...inner };
    const feedbackRules = [{ type: 'JSONPaths', jsonPaths: [{ name: 'status', path: '.status' }] }];
    const manifestConfigs = [{ resourceIdentifier, updateStrategy: { type: 'ServerSideApply' }, feedbackRules }];
    await source.create({ consumer, resourceId: id, bundle: { manifests: [work], manifestConfigs } });
    await world.status(id, isApplied(1));
    // What the work agent of the cluster would write.
    const values = [{ name: 'phase', fieldValue: { type: 'String', string: 'Ready' } }];
    const resourceMeta = { ordinal: 0, version: 'v1', kind: 'ConfigMap', resource: 'configmaps', name: 'inner' };
    const manifests = [{ resourceMeta, statusFeedback: { values }, conditions: [] }];
    const status = { conditions: [], resourceStatus: { manifests } };
    await cluster.patch(manifestWorks, inner, 'merge', { status }, { subresource: 'status' });
    await world.status(id, (message) => JSON.stringify(message.status).includes('Ready'));
    const { body } = await world.get(`resource-bundles/${id}`);
    const shown = body.status as Pick<ManifestBundleStatus, 'resourceStatus'>;
    const [value] = shown.resourceStatus[0]?.statusFeedback.values ?? [];
    assert.ok(value?.fieldValue.type === 'JsonRaw');
    const parsed = JSON.parse(value.fieldValue.jsonRaw) as typeof status;
    assert.deepEqual(parsed.resourceStatus.manifests[0]?.statusFeedback, { values });
  });

  await t.test('delete: the objects go, then the bundle', async () => {
    const id = await created(world, 'deleted', { a: '1' });
    await source.delete({ consumer, resourceId: id });
    await world.status(id, saysGone);
    assert.equal(await data('deleted'), undefined);
    await gone(world, id);
  });

  await t.test('a partition: what happens on either side is there after it', async () => {
    const [kept, changed, removed] = [
      await created(world, 'kept', { a: '1' }),
      await created(world, 'changed', { a: '1' }),
      await created(world, 'removed', { a: '1' }),
    ];
    world.network.cut();
    const added = randomUUID();
    await source.create({ consumer, resourceId: added, bundle: bundleOf('added', { a: '1' }) });
    await source.update({ consumer, resourceId: changed, bundle: bundleOf('changed', { a: '2' }) });
    await source.delete({ consumer, resourceId: removed });
    await cluster.patch(configMaps, key('kept'), 'merge', { data: { b: 'meanwhile' } });
    world.network.heal();
    await world.status(added, isApplied(1));
    await world.status(changed, isApplied(2));
    await world.status(removed, saysGone);
    await world.status(kept, ({ status }) => JSON.stringify(status).includes('meanwhile'));
    assert.deepEqual(await data('added'), { a: '1' });
    assert.deepEqual(await data('changed'), { a: '2' });
    assert.equal(await data('removed'), undefined);
  });

  await t.test('an agent that starts again: what happened meanwhile is done', async () => {
    const [kept, removed] = [
      await created(world, 'agent-kept', { a: '1' }),
      await created(world, 'agent-removed', { a: '1' }),
    ];
    const before = await cluster.get(configMaps, key('agent-kept'));
    await source.delete({ consumer, resourceId: removed });
    await world.restartAgent();
    await world.status(removed, saysGone);
    await source.update({ consumer, resourceId: kept, bundle: bundleOf('agent-kept', { a: '2' }) });
    await world.status(kept, isApplied(2));
    const after = await cluster.get(configMaps, key('agent-kept'));
    assert.equal(after.metadata.uid, before.metadata.uid);
  });

  await t.test('messages that come twice or late change nothing', async (t) => {
    const spy = await world.spy();
    if (spy === undefined) return t.diagnostic('without a broker nobody can send them');
    const id = randomUUID();
    const of = (type: string) => (packet: IPublishPacket) =>
      userProperty(packet, 'ce-resourceid') === id && String(userProperty(packet, 'ce-type')).endsWith(type);
    await source.create({ consumer, resourceId: id, bundle: bundleOf('twice', { a: '1' }) });
    const create = await spy.find(of('spec.create_request'));
    await world.status(id, isApplied(1));
    const early = await spy.find(of('status.update_request'));
    await source.update({ consumer, resourceId: id, bundle: bundleOf('twice', { a: '2' }) });
    const update = await spy.find(of('spec.update_request'));
    await world.status(id, isApplied(2));
    const { resourceVersion } = (await cluster.get(configMaps, key('twice'))).metadata;

    for (const packet of [update, create, create, update, early]) await spy.publishAgain(packet);
    // Whatever these did, it was done before what is sent after them.
    const mark = await created(world, 'after-twice', { a: '1' });
    assert.ok(mark);
    assert.equal((await cluster.get(configMaps, key('twice'))).metadata.resourceVersion, resourceVersion);
    const { body } = await world.get(`resource-bundles/${id}`);
    assert.equal((body.status as { ObservedVersion: number }).ObservedVersion, 2);

    await source.delete({ consumer, resourceId: id });
    await world.status(id, saysGone);
    for (const packet of [create, update]) await spy.publishAgain(packet);
    assert.ok(await created(world, 'after-gone', { a: '1' }));
    assert.equal(await data('twice'), undefined);
  });

  await t.test(`${many} bundles`, async () => {
    const ids = Array.from({ length: many }, () => randomUUID());
    const send = async (id: string, at: number): Promise<void> => {
      await source.create({ consumer, resourceId: id, bundle: bundleOf(`many-${at}`, { at: `${at}` }) });
      await world.status(id, isApplied(1));
    };
    await Promise.all(ids.map(send));
    const { items } = await cluster.list(configMaps, { namespace: 'default' });
    assert.equal(items.filter(({ metadata }) => metadata.name?.startsWith('many-')).length, many);
    await Promise.all(ids.map((resourceId) => source.delete({ consumer, resourceId })));
    await Promise.all(ids.map((id) => world.status(id, saysGone)));
    const left = await cluster.list(configMaps, { namespace: 'default' });
    assert.equal(left.items.filter(({ metadata }) => metadata.name?.startsWith('many-')).length, 0);
  });
}

/** A bundle that has been applied; its id. */
async function created(world: World, name: string, data: Record<string, string>): Promise<string> {
  const id = randomUUID();
  await world.source.create({ consumer, resourceId: id, bundle: bundleOf(name, data) });
  await world.status(id, isApplied(1));
  return id;
}

/** The last status is told before the row is removed. */
async function gone(world: World, id: string): Promise<void> {
  while ((await world.get(`resource-bundles/${id}`)).status !== 404) await sleep(10);
}
