import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UntypedObject } from '../kube/object.ts';
import { resource } from '../kube/resource.ts';
import { embeddedServer } from '../kube/testing/embedded-server.ts';
import { createObjectWatches, type ObjectWatchesOptions } from './object-watches.ts';

const configMaps = resource<UntypedObject>('v1', 'ConfigMap', 'configmaps');
const secrets = resource<UntypedObject>('v1', 'Secret', 'secrets');

test('watches on applied objects', { timeout: 60_000 }, async (t) => {
  const server = await embeddedServer(t);
  const client = server.client();

  /** Watches, and a promise for the next change of an object. */
  const open = (limits: NonNullable<ObjectWatchesOptions['limits']> = {}, wanted = (_: string) => true) => {
    const listeners = new Map<string, (version: string | undefined) => void>();
    const watches = createObjectWatches({
      client,
      limits,
      wanted,
      changed: (key, version) => listeners.get(key)?.(version),
    });
    t.after(() => watches.stop());
    const told = (name: string) =>
      new Promise<string | undefined>((resolve) => listeners.set(`/configmaps/default/${name}`, resolve));
    return { watches, told };
  };

  await t.test('are shared by resource and namespace, and end when nobody holds them', async () => {
    const { watches, told } = open({ lingerMs: 0 });
    const one = watches.hold(configMaps, 'default');
    const other = watches.hold(configMaps, 'default');
    assert.equal(watches.size, 1);
    const change = told('shared');
    const made = await client.create(configMaps, { metadata: { name: 'shared', namespace: 'default' } });
    assert.equal(await change, made.metadata.resourceVersion);
    const found = other.get({ namespace: 'default', name: 'shared' });
    assert.equal(typeof found === 'object' && found.metadata.uid, made.metadata.uid);
    assert.equal(one.get({ namespace: 'default', name: 'nothing' }), 'absent');
    const gone = told('shared');
    await client.delete(configMaps, { namespace: 'default', name: 'shared' });
    assert.equal(await gone, undefined);
    one.release();
    one.release();
    assert.equal(watches.size, 1, 'the other still holds it');
    other.release();
    await new Promise((next) => setTimeout(next, 5));
    assert.equal(watches.size, 0);
  });

  await t.test('of many namespaces become one of all of them', () => {
    const { watches } = open({ namespaces: 3 });
    for (const namespace of ['a', 'b', 'c', 'd', 'e', 'f']) watches.hold(configMaps, namespace);
    assert.equal(watches.size, 4);
  });

  await t.test('are bounded in number: what is beyond is not known', async () => {
    const { watches } = open({ watches: 1 });
    watches.hold(configMaps, 'default');
    const beyond = watches.hold(secrets, 'default');
    assert.equal(watches.size, 1);
    assert.equal(beyond.get({ namespace: 'default', name: 'x' }), 'unknown');
    beyond.release();
    assert.equal(watches.size, 1);
  });

  await t.test('keep only the name of what nobody wants', async () => {
    const { watches, told } = open({}, (key) => key.endsWith('/wanted'));
    const watch = watches.hold(configMaps, 'default');
    for (const name of ['unwanted', 'wanted']) {
      const change = told(name);
      await client.create(configMaps, { metadata: { name, namespace: 'default' }, data: { a: '1' } });
      await change;
    }
    assert.equal(watch.get({ namespace: 'default', name: 'unwanted' }), 'hollow');
    const wanted = watch.get({ namespace: 'default', name: 'wanted' });
    assert.deepEqual(typeof wanted === 'object' && wanted.data, { a: '1' });
  });
});
