import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { isStoreError } from '../../../store/errors.ts';
import { StatusError } from '../status.ts';
import type { Change, ObjectHost } from './objects.ts';
import type { ObjectOptions } from './open.ts';
import { names, openHost, parsed, pod, pods, present, temporaryFile, told } from './testing/hosts.ts';

type Open = (t: TestContext, options?: ObjectOptions) => Promise<ObjectHost>;

const kinds: Readonly<Record<string, Open>> = {
  'in memory': openHost,
  'in a file': async (t, options) => openHost(t, { ...options, file: await temporaryFile(t) }),
};

for (const [where, open] of Object.entries(kinds)) {
  describe(`objects ${where}`, () => {
    it('are stored with a revision that grows by one with every change of their cluster', async (t) => {
      const host = await open(t);
      const objects = host.open('a');
      const made = pod('one', { labels: { app: 'x' } });
      const entry = await objects.commit((transaction) => transaction.put(pods, made));
      assert.equal(entry.revision, 1);
      assert.equal(objects.revision, 1);
      assert.equal(made.metadata.resourceVersion, '1');
      assert.deepEqual(parsed(objects.get(pods, 'default', 'one')), made);
      const [second, third] = await objects.commit((transaction) => [
        transaction.put(pods, pod('two')),
        transaction.put(pods, pod('one', {}, { changed: true })),
      ]);
      assert.deepEqual([second?.revision, third?.revision, objects.revision], [2, 3, 3]);
      assert.equal(host.open('b').revision, 0, 'each cluster has its own');
      assert.equal(host.open('a'), objects);
    });

    it('have apiVersion, kind and metadata first, and the members that name them first in it', async (t) => {
      const objects = (await open(t)).open('a');
      const metadata = { '1': 'x', labels: { resourceVersion: '7' }, uid: 'u', namespace: 'n', name: 'a' };
      const odd = { '0': 1, spec: {}, metadata, kind: 'Pod', apiVersion: 'v1' };
      const entry = await objects.commit((transaction) => transaction.put(pods, odd));
      assert.equal(
        entry.bytes.toString(),
        '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1",' +
          '"1":"x","labels":{"resourceVersion":"7"}},"0":1,"spec":{}}',
      );
    });

    it('come with their labels, fields and owners', async (t) => {
      const objects = (await open(t)).open('a');
      const owner = { apiVersion: 'v1', kind: 'ReplicaSet', name: 'r', uid: 'r1' };
      const labels = { app: 'x' };
      const object = pod('one', { labels, ownerReferences: [owner, { ...owner, uid: 'r2' }] });
      const entry = await objects.commit((transaction) =>
        transaction.put(pods, object, { fields: { 'spec.nodeName': 'n' } }),
      );
      labels.app = 'changed later';
      assert.deepEqual(entry.labels, { app: 'x' });
      assert.deepEqual(entry.fields, { 'spec.nodeName': 'n' });
      assert.deepEqual(entry.owners, ['r1', 'r2']);
      const plain = await objects.commit((transaction) => transaction.put(pods, pod('plain', { labels: {} })));
      assert.deepEqual([plain.labels, plain.fields, plain.owners], [undefined, undefined, undefined]);
    });

    it('are listed in the order of a real server, by namespace and in pages', async (t) => {
      const objects = (await open(t)).open('a');
      await objects.commit((transaction) => {
        for (const namespace of ['b', 'a', 'a-b', 'a0']) {
          for (const name of ['y', 'x', 'x-1']) transaction.put(pods, pod(name, { namespace }));
        }
      });
      const keys = (entries: Iterable<{ namespace: string; name: string }>) =>
        [...entries].map(({ namespace, name }) => `${namespace}/${name}`);
      const all = ['a-b/x', 'a-b/x-1', 'a-b/y', 'a/x', 'a/x-1', 'a/y', 'a0/x', 'a0/x-1', 'a0/y', 'b/x', 'b/x-1', 'b/y'];
      assert.deepEqual(keys(objects.list(pods)), all);
      assert.deepEqual(keys(objects.list(pods, { namespace: 'a' })), ['a/x', 'a/x-1', 'a/y']);
      assert.deepEqual(keys(objects.list(pods, { namespace: '' })), all);
      assert.deepEqual(keys(objects.list(pods, { limit: 2, after: ['a-b', 'x-1'] })), ['a-b/y', 'a/x']);
      assert.deepEqual(keys(objects.list(pods, { namespace: 'a', limit: 1, after: ['a', 'gone'] })), ['a/x']);
      assert.deepEqual(keys(objects.list(pods, { namespace: 'a', after: ['a', 'y'] })), []);
      assert.deepEqual([objects.count(pods), objects.count(pods, 'a'), objects.count(pods, 'none')], [12, 3, 0]);
      assert.deepEqual(objects.list('apps/deployments'), []);
    });

    it('are deleted with a revision of their own, which their last state carries', async (t) => {
      const objects = (await open(t)).open('a');
      const changes: Change[] = [];
      objects.watch(pods, 0, (change) => changes.push(change));
      await objects.commit((transaction) =>
        transaction.put(pods, pod('one', { annotations: { resourceVersion: '1' } })),
      );
      const deleted = await objects.commit((transaction) =>
        transaction.delete(present(transaction.get(pods, 'default', 'one'))),
      );
      assert.equal(objects.get(pods, 'default', 'one'), undefined);
      assert.equal(objects.count(pods), 0);
      assert.equal(parsed(deleted).metadata.resourceVersion, '2');
      assert.deepEqual(parsed(deleted).metadata.annotations, { resourceVersion: '1' });
      assert.deepEqual(changes.map(told), ['ADDED one 1', 'DELETED one 2']);
      assert.equal(changes[1]?.before, changes[0]?.entry);
    });

    it('are not deleted by an entry that is not the newest', async (t) => {
      const objects = (await open(t)).open('a');
      const old = await objects.commit((transaction) => transaction.put(pods, pod('one')));
      await objects.commit((transaction) => transaction.put(pods, pod('one')));
      await assert.rejects(
        objects.commit((transaction) => transaction.delete(old)),
        /changed since it was read/,
      );
      assert.equal(objects.count(pods), 1);
    });

    it('are found by the uid of an owner', async (t) => {
      const objects = (await open(t)).open('a');
      const ownedBy = (...uids: string[]) => ({
        ownerReferences: uids.map((uid) => ({ apiVersion: 'v1', kind: 'Job', name: uid, uid })),
      });
      await objects.commit((transaction) => {
        transaction.put(pods, pod('one', ownedBy('j1')));
        transaction.put(pods, pod('two', ownedBy('j1', 'j2')));
        transaction.put(pods, pod('three', ownedBy('j1', 'j1')));
      });
      assert.deepEqual(names(objects.byOwner('j1')).sort(), ['one', 'three', 'two']);
      assert.deepEqual(names(objects.byOwner('j2')), ['two']);
      await objects.commit((transaction) => {
        transaction.put(pods, pod('two', ownedBy('j2')));
        transaction.delete(present(transaction.get(pods, 'default', 'three')));
      });
      assert.deepEqual([...objects.byOwner('j1')], [objects.get(pods, 'default', 'one')]);
      assert.deepEqual([...objects.byOwner('j2')], [objects.get(pods, 'default', 'two')]);
      assert.deepEqual([...objects.byOwner('nobody')], []);
    });

    it('of a commit that throws never were; others of the same moment are kept', async (t) => {
      const objects = (await open(t)).open('a');
      const heard: string[] = [];
      objects.watchAll((change) => heard.push(told(change)));
      await objects.commit((transaction) => transaction.put(pods, pod('kept')));
      const results = await Promise.allSettled([
        objects.commit((transaction) => transaction.put(pods, pod('first')).revision),
        objects.commit((transaction) => {
          transaction.put(pods, pod('undone'));
          transaction.put(pods, pod('first', {}, { undone: true }));
          transaction.delete(present(transaction.get(pods, 'default', 'kept')));
          assert.deepEqual(names(transaction.list(pods)), ['first', 'undone']);
          throw new Error('refused');
        }),
        objects.commit((transaction) => transaction.put(pods, pod('second')).revision),
      ]);
      assert.deepEqual(
        results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason))),
        [2, 'Error: refused', 3],
      );
      assert.deepEqual(names(objects.list(pods)), ['first', 'kept', 'second']);
      assert.deepEqual(parsed(objects.get(pods, 'default', 'first')).spec, {});
      assert.deepEqual(heard, ['ADDED kept 1', 'ADDED first 2', 'ADDED second 3']);
    });

    it('are not seen before they are kept', async (t) => {
      const objects = (await open(t)).open('a');
      const commit = objects.commit((transaction) => transaction.put(pods, pod('one')));
      assert.equal(objects.get(pods, 'default', 'one'), undefined);
      await Promise.resolve();
      assert.equal(objects.revision, 0);
      await commit;
      assert.equal(objects.revision, 1);
    });

    it('cannot be written after the work of the commit is over, nor by work that waits', async (t) => {
      const objects = (await open(t)).open('a');
      await assert.rejects(
        objects.commit(async (transaction) => {
          transaction.put(pods, pod('one'));
          await Promise.resolve();
        }),
        /must not wait/,
      );
      const leaked = await objects.commit((transaction) => transaction);
      assert.throws(() => leaked.put(pods, pod('one')), /this commit is over/);
      assert.equal(objects.count(pods), 0);
    });

    it('need a name', async (t) => {
      const objects = (await open(t)).open('a');
      const nameless = { apiVersion: 'v1', kind: 'Pod', metadata: {} };
      await assert.rejects(
        objects.commit((transaction) => transaction.put(pods, nameless)),
        /without a name/,
      );
    });

    it('are watched from a revision on: what happened since, then what happens', async (t) => {
      const objects = (await open(t)).open('a');
      const put = (name: string, type = pods) => objects.commit((transaction) => transaction.put(type, pod(name)));
      for (const name of ['one', 'two', 'three']) await put(name);
      const heard: string[] = [];
      const stop = objects.watch(pods, 1, (change) => heard.push(told(change)));
      assert.deepEqual(heard, ['ADDED two 2', 'ADDED three 3']);
      await put('one');
      await put('other', '/secrets');
      assert.deepEqual(heard.slice(2), ['MODIFIED one 4']);
      stop();
      await put('two');
      assert.equal(heard.length, 3);
      const ahead: string[] = [];
      objects.watch(pods, 8, (change) => ahead.push(told(change)));
      for (const name of ['a', 'b', 'c']) await put(name);
      assert.deepEqual(ahead, ['ADDED c 9']);
    });

    it('are told to each watcher once, also when listeners come, go, throw and write meanwhile', async (t) => {
      const objects = (await open(t)).open('a');
      const late: string[] = [];
      const once: string[] = [];
      const last: string[] = [];
      let nested: Promise<unknown> | undefined;
      objects.watch(pods, 0, ({ entry }) => {
        if (entry.revision !== 1) return;
        objects.watch(pods, 0, (change) => late.push(told(change)));
        nested = objects.commit((transaction) => transaction.put(pods, pod('nested')));
        throw new Error('a faulty listener');
      });
      const stop = objects.watch(pods, 0, (change) => {
        once.push(told(change));
        stop();
      });
      objects.watch(pods, 0, (change) => last.push(told(change)));
      await objects.commit((transaction) => {
        transaction.put(pods, pod('one'));
        transaction.put(pods, pod('two'));
      });
      await nested;
      assert.deepEqual(last, ['ADDED one 1', 'ADDED two 2', 'ADDED nested 3']);
      assert.deepEqual(late, last);
      assert.deepEqual(once, ['ADDED one 1']);
    });

    it('cannot be watched from further back than is remembered', async (t) => {
      const objects = (await open(t, { historyEvents: 16 })).open('a');
      for (let index = 0; index < 10; index++) {
        await objects.commit((transaction) => transaction.put(pods, pod('one', {}, { index })));
      }
      assert.throws(
        () => objects.watch(pods, 5, () => undefined),
        (error) =>
          error instanceof StatusError &&
          error.status.code === 410 &&
          error.status.reason === 'Expired' &&
          error.message === 'too old resource version: 5 (6)',
      );
      const heard: string[] = [];
      objects.watch(pods, 6, (change) => heard.push(told(change)));
      assert.equal(heard.length, 4);
    });

    it('go with their cluster, and a new cluster of the same name begins empty', async (t) => {
      const host = await open(t);
      const [objects, other] = [host.open('a'), host.open('b')];
      const fill = (count: number) => (transaction: Parameters<Parameters<typeof objects.commit>[0]>[0]) => {
        for (let index = 0; index < count; index++) transaction.put(pods, pod(`p${index}`));
      };
      await Promise.all([objects.commit(fill(1000)), other.commit(fill(3))]);
      assert.deepEqual([...host.clusters()].sort(), ['a', 'b']);
      const removal = host.remove('a');
      const refused = assert.rejects(
        removal.then(() => objects.commit(fill(1))),
        (error) => isStoreError(error, 'Closed'),
      );
      await removal;
      await refused;
      assert.deepEqual(objects.list(pods), []);
      assert.deepEqual(host.clusters(), ['b']);
      const again = host.open('a');
      assert.deepEqual([again.revision, again.count(pods), other.count(pods)], [0, 0, 3]);
      await again.commit(fill(2));
      assert.equal(again.count(pods), 2);
      await host.remove('never there');
    });

    it('are written before the host is closed, and not after', async (t) => {
      const host = await open(t);
      const objects = host.open('a');
      const asked = objects.commit((transaction) => transaction.put(pods, pod('one')).revision);
      await host.close();
      assert.equal(await asked, 1);
      await assert.rejects(
        objects.commit((transaction) => transaction.put(pods, pod('two'))),
        (error) => isStoreError(error, 'Closed'),
      );
      await host.close();
    });
  });
}
