// What the client and the controller runtime have to do on every server: the same on the embedded one and on a real one.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createLogger } from '../../kit/log.ts';
import { applyOwned, applyStatus } from '../apply.ts';
import type { ClientOptions, KubeClient } from '../client.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { type Condition, withCondition } from '../conditions.ts';
import { type EventObject, events } from '../event-object.ts';
import { createEventRecorder } from '../events.ts';
import { addFinalizer, hasFinalizer, isBeingDeleted, removeFinalizer } from '../finalizer.ts';
import { createInformers } from '../informers.ts';
import { isConflict, isExpired, isForbidden, isInvalid, isNotFound } from '../kube-error.ts';
import { leases } from '../lease.ts';
import { createManager } from '../manager.ts';
import type { KubeObject } from '../object.ts';
import { resource } from '../resource.ts';
import { objects, owns } from '../source.ts';
import { until } from './small-api.ts';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

/** A built-in kind whose status has conditions; what it is for does not matter here. */
interface Widget extends KubeObject {
  spec?: { minAvailable?: number };
  status?: { conditions?: readonly Condition[] };
}

const configMaps = resource<ConfigMap>('v1', 'ConfigMap', 'configmaps');
const widgets = resource<Widget>('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets');
const logger = createLogger({ service: 'test', level: 'silent' });
const namespace = 'default';
const timing = { firstWaitMs: 50, maxWaitMs: 500 };

export interface SuiteServer {
  readonly access: ClusterAccess;
  /** As an administrator. */
  client(options?: Partial<ClientOptions>): KubeClient;
  /** Ends the server and starts it again, with all that it has kept. */
  restart(): Promise<void>;
  /** Makes it forget all versions before now. */
  compact?(): Promise<void>;
}

export async function runtimeSuite(t: TestContext, server: SuiteServer): Promise<void> {
  const client = server.client();

  await t.test('every verb does what it says, and refusals are what they are', async () => {
    const made = await client.create(configMaps, { metadata: { name: 'a', namespace }, data: { x: '1' } });
    const changed = await client.replace(configMaps, { ...made, data: { x: '2' } });
    await assert.rejects(client.replace(configMaps, made), isConflict);
    const key = { namespace, name: 'a' };
    await client.patch(configMaps, key, 'merge', { data: { y: '3' } });
    await client.patch(configMaps, key, 'json', [{ op: 'add', path: '/data/z', value: '4' }]);
    await client.apply(configMaps, { metadata: { name: 'a', namespace }, data: { w: '5' } }, { fieldManager: 'me' });
    assert.deepEqual((await client.get(configMaps, key)).data, { x: '2', y: '3', z: '4', w: '5' });
    await assert.rejects(
      client.apply(configMaps, { metadata: { name: 'a', namespace }, data: { x: '6' } }, { fieldManager: 'me' }),
      isConflict,
    );
    await client.apply(configMaps, { metadata: { name: 'a', namespace } }, { fieldManager: 'me', force: true });
    assert.equal((await client.get(configMaps, key)).data?.w, undefined, 'what is not applied any more is removed');
    assert.notEqual(changed.metadata.resourceVersion, made.metadata.resourceVersion);
    await assert.rejects(client.delete(configMaps, key, { preconditions: { uid: 'other' } }), isConflict);
    assert.equal(await client.delete(configMaps, key), undefined);
    assert.equal(await client.find(configMaps, key), undefined);
    await assert.rejects(client.get(configMaps, key), isNotFound);
    await assert.rejects(client.create(configMaps, { metadata: { name: 'A_', namespace } }), isInvalid);
    await assert.rejects(client.create(configMaps, { metadata: { name: 'a', namespace: 'missing' } }), isNotFound);
    const impersonate = { user: 'nobody' };
    await assert.rejects(server.client({ access: { ...server.access, impersonate } }).list(configMaps), isForbidden);
  });

  await t.test('a list in many pages is whole', async () => {
    await Promise.all(
      Array.from({ length: 25 }, (_, i) => client.create(configMaps, { metadata: { name: `page-${i}`, namespace } })),
    );
    const list = await client.list(configMaps, { namespace, pageSize: 4 });
    assert.equal(list.items.filter(({ metadata }) => metadata.name?.startsWith('page-')).length, 25);
    assert.ok(list.items.every(({ kind }) => kind === 'ConfigMap'));
    await client.deleteCollection(configMaps, { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' });
  });

  await t.test('an informer sees every change through a crash of the server and a compaction', async () => {
    const informers = createInformers({ client: server.client(), timing });
    const informer = informers.informer(configMaps, { namespace });
    const told = new Map<string, string[]>();
    const tell = (object: KubeObject, what: string): void => {
      const name = object.metadata.name ?? '';
      told.set(name, [...(told.get(name) ?? []), what]);
    };
    informer.addHandler({
      add: (object) => tell(object, 'add'),
      update: (_, object) => tell(object, 'update'),
      delete: (object) => tell(object, 'delete'),
    });
    informers.start();
    await informers.whenSynced();
    const writer = server.client();
    await writer.create(configMaps, { metadata: { name: 'stays', namespace } });
    await writer.create(configMaps, { metadata: { name: 'goes', namespace } });
    await until(() => told.size >= 2);
    await server.restart();
    await writer.delete(configMaps, { namespace, name: 'goes' });
    await writer.patch(configMaps, { namespace, name: 'stays' }, 'merge', { data: { a: 'b' } });
    await server.compact?.();
    await writer.create(configMaps, { metadata: { name: 'late', namespace } });
    await until(() => told.get('late')?.length === 1 && told.get('goes')?.at(-1) === 'delete');
    assert.deepEqual(told.get('goes'), ['add', 'delete']);
    assert.deepEqual(told.get('stays'), ['add', 'update']);
    assert.equal(informer.get({ namespace, name: 'stays' })?.data?.a, 'b');
    await assert.rejects(async () => {
      for await (const _ of client.watch(configMaps, { resourceVersion: '1', timeoutSeconds: 5 })) break;
    }, isExpired);
    await informers.stop();
  });

  await t.test('controllers of two processes: one leads, owns, finalizes, reports; the other takes over', async (t) => {
    const one = widgetManager(server.client(), 'one');
    const two = widgetManager(server.client(), 'two');
    t.after(() => Promise.all([one.stop(), two.stop()]));
    one.start();
    await until(() => one.leading);
    two.start();
    const key = { namespace, name: 'w' };
    await client.create(widgets, { metadata: { ...key }, spec: { minAvailable: 3 } });
    const copies = async (): Promise<number> =>
      (await client.list(configMaps, { namespace, labelSelector: 'widget=w' })).items.length;
    await eventually(async () => (await copies()) === 3);
    await eventually(async () => (await client.get(widgets, key)).status?.conditions?.[0]?.status === 'True');
    await client.delete(configMaps, { namespace, name: 'w-1' });
    await eventually(async () => (await copies()) === 3);
    await one.stop();
    // Until it stops, one may write the status again from an object it knew before.
    const settled = await client.get(widgets, key);
    assert.ok(hasFinalizer(settled, finalizer));
    assert.equal((await client.get(leases, { namespace, name: 'widgets' })).spec?.holderIdentity, '');
    await until(() => two.leading);
    await client.delete(configMaps, { namespace, name: 'w-2' });
    await eventually(async () => (await copies()) === 3);
    const again = await client.get(widgets, key);
    assert.equal(
      again.status?.conditions?.[0]?.lastTransitionTime,
      settled.status?.conditions?.[0]?.lastTransitionTime,
    );
    await client.delete(widgets, key);
    await eventually(async () => (await client.find(widgets, key)) === undefined);
    await two.stop();
    const said = await client.list<EventObject>(events, { namespace });
    assert.ok(said.items.some(({ reason, regarding }) => reason === 'CopiesMade' && regarding.name === 'w'));
    assert.ok(said.items.every(({ series }) => series === undefined || series.count > 1));
  });
}

const finalizer = 'example.com/widgets';

function widgetManager(client: KubeClient, identity: string) {
  const recorder = createEventRecorder({ client, controller: 'example.com/widgets', instance: identity, logger });
  const manager = createManager({
    client,
    logger,
    leaderElection: {
      namespace,
      name: 'widgets',
      identity,
      leaseSeconds: 4,
      renewDeadlineSeconds: 3,
      retrySeconds: 0.3,
    },
  });
  const informer = manager.informers.informer(widgets);
  manager.add({
    name: 'widgets',
    sources: [objects(informer), owns(manager.informers.informer(configMaps, { labelSelector: 'widget' }), widgets)],
    async reconcile(request, { signal }) {
      const widget = informer.get(request);
      if (!widget) return;
      if (isBeingDeleted(widget)) return removeFinalizer(client, widgets, widget, finalizer, { signal });
      await addFinalizer(client, widgets, widget, finalizer, { signal });
      for (let copy = 0; copy < (widget.spec?.minAvailable ?? 0); copy++) {
        const metadata = {
          namespace: request.namespace,
          name: `${request.name}-${copy}`,
          labels: { widget: request.name },
        };
        const owner = { resource: widgets, object: widget };
        await applyOwned(
          client,
          owner,
          configMaps,
          { metadata, data: { copy: String(copy) } },
          { fieldManager: 'widgets', signal },
        );
      }
      const done = { type: 'Ready', status: 'True', reason: 'AsExpected', message: 'all copies are there' } as const;
      const conditions = withCondition(widget.status?.conditions, done);
      if (conditions === widget.status?.conditions) return;
      await applyStatus(client, widgets, widget, { conditions }, { fieldManager: 'widgets-status', signal });
      for (let times = 0; times < 3; times++) {
        recorder.record(widgets, widget, {
          type: 'Normal',
          reason: 'CopiesMade',
          action: 'Copy',
          note: 'all copies are there',
        });
      }
    },
  });
  return {
    start: manager.start,
    get leading() {
      return manager.leading;
    },
    async stop() {
      await manager.stop();
      await recorder.stop();
    },
  };
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((next) => setTimeout(next, 50));
}
