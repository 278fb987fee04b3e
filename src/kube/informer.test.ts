import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { createInformer, type InformerOptions, withoutManagedFields } from './informer.ts';
import { createInformers } from './informers.ts';
import { KubeConnectionError } from './kube-error.ts';
import type { UntypedObject } from './object.ts';
import { resource } from './resource.ts';
import { failure, sendJson } from './testing/scripted-server.ts';
import { smallApi, until } from './testing/small-api.ts';

const configMaps = resource('v1', 'ConfigMap', 'configmaps');
const path = (name: string, namespace = 'n'): string => `/api/v1/namespaces/${namespace}/configmaps/${name}`;
const timing = { firstWaitMs: 1, maxWaitMs: 20 };
const limit = { timeout: 30_000 };

for (const streamingLists of [true, false]) {
  const how = streamingLists ? 'streaming lists' : 'lists by page';
  test(`with ${how}: what was there, what comes, changes and goes is told once each, in order`, limit, async (t) => {
    const { api, informer, told } = await setup(t, {}, (prepared) => {
      prepared.streamingLists = streamingLists;
      prepared.put(path('a'));
      prepared.put(path('b', 'm'));
    });
    assert.deepEqual(told.splice(0), ['add a initial', 'add b initial']);
    assert.equal(informer.get({ namespace: 'm', name: 'b' })?.metadata.name, 'b');
    assert.deepEqual(
      informer.list('n').map((object) => object.metadata.name),
      ['a'],
    );
    await until(() => api.watches === 1);
    api.put(path('c'));
    api.put(path('a'), { data: { x: '1' } });
    api.remove(path('b', 'm'));
    await until(() => told.length === 3);
    assert.deepEqual(told, ['add c', 'update a', 'delete b']);
    assert.equal(informer.size, 2);
    assert.deepEqual(informer.get({ namespace: 'n', name: 'a' })?.data, { x: '1' });
  });
}

test(
  'a watch that breaks within an event goes on where it was: nothing is missed, nothing told twice',
  limit,
  async (t) => {
    const { api, told, lists } = await setup(t, {}, (prepared) => prepared.put(path('a')));
    told.splice(0);
    await until(() => api.watches === 1);
    api.put(path('b'));
    await until(() => told.length === 1);
    api.breakWatches();
    api.put(path('c'));
    api.remove(path('a'));
    await until(() => told.length === 3);
    api.endWatches();
    api.put(path('d'));
    await until(() => told.length === 4);
    assert.deepEqual(told, ['add b', 'add c', 'delete a', 'add d']);
    assert.equal(lists(), 1);
  },
);

test(
  'after 410 the difference is told: also what was deleted, and what was deleted and made again',
  limit,
  async (t) => {
    const { api, told, lists, informer } = await setup(t, {}, (prepared) => {
      for (const name of ['same', 'changed', 'gone', 'again']) prepared.put(path(name));
    });
    told.splice(0);
    await until(() => api.watches === 1);
    api.intercept = (_, response) => Boolean(response.destroy());
    api.endWatches();
    api.put(path('changed'), { data: {} });
    api.remove(path('gone'));
    api.remove(path('again'));
    api.put(path('again'));
    api.put(path('new'));
    api.compact();
    api.intercept = undefined;
    await until(() => told.length === 5);
    assert.deepEqual(told.sort(), [
      'add again',
      'add new',
      'delete again unseen',
      'delete gone unseen',
      'update changed',
    ]);
    assert.equal(lists(), 2);
    await until(() => api.watches === 1);
    api.put(path('after'));
    await until(() => told.length === 6);
    assert.equal(informer.size, 5);
  },
);

test('a server that went back in time is followed to where it is now', limit, async (t) => {
  const { api, told, informer } = await setup(t, {}, (prepared) => {
    prepared.put(path('a'));
    prepared.put(path('b'));
  });
  told.splice(0);
  await until(() => api.watches === 1);
  api.endWatches();
  api.reset();
  api.put(path('a'));
  await until(() => informer.size === 1);
  assert.deepEqual(told.sort(), ['add a', 'delete a unseen', 'delete b unseen']);
});

test('bookmarks move the place to go on from', limit, async (t) => {
  const { api, told, lists } = await setup(t);
  await until(() => api.watches === 1);
  api.put(`/api/v1/namespaces/n/things/x`);
  api.compact();
  api.bookmark();
  api.put(path('a'));
  await until(() => told.length === 1);
  api.breakWatches();
  api.put(path('b'));
  await until(() => told.length === 2);
  assert.equal(lists(), 1, 'the version of the list is long gone, that of the bookmark is not');
});

test(
  'while the server is away reads go on, and why is known; when it is back, all that happened is told',
  limit,
  async (t) => {
    const { api, informer, told } = await setup(t, {}, (prepared) => prepared.put(path('a')));
    told.splice(0);
    await until(() => api.watches === 1);
    api.intercept = (_, response) => Boolean(response.socket?.destroy());
    api.server.cut();
    api.remove(path('a'));
    await until(() => informer.problem !== undefined);
    assert.ok(informer.problem instanceof KubeConnectionError);
    assert.equal(informer.size, 1);
    api.intercept = (_, response) => {
      sendJson(response, 429, failure(429, 'TooManyRequests', 'slow down'), { 'retry-after': '0' });
      return true;
    };
    await until(() => !(informer.problem instanceof KubeConnectionError));
    api.intercept = undefined;
    await until(() => told.length === 1 && informer.problem === undefined);
    assert.deepEqual(told, ['delete a']);
  },
);

test('a connection that has died unnoticed is given up', limit, async (t) => {
  const { api, told } = await setup(t, { timing: { ...timing, silenceSeconds: 0.1 } });
  await until(() => api.watches === 1);
  const before = api.server.seen.length;
  await until(() => api.server.seen.length > before);
  api.put(path('a'));
  await until(() => told.length === 1);
});

test('a server that takes the question for a streaming list and sends none is asked for pages', limit, async (t) => {
  const { told } = await setup(t, { timing: { ...timing, listSilenceSeconds: 0.05 } }, (prepared) => {
    prepared.put(path('a'));
    prepared.intercept = (request, response) => {
      if (!request.query.has('sendInitialEvents')) return false;
      response.writeHead(200).write('{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"n"}}}\n');
      return true;
    };
  });
  assert.deepEqual(told, ['add a initial']);
});

test('an index answers for what is there now', limit, async (t) => {
  const { api, informer, told } = await setup(t, {}, (prepared) => {
    prepared.put(path('a'), { data: { owner: 'x' } });
    prepared.put(path('b'), { data: { owner: 'x' } });
  });
  const owner = ({ data }: UntypedObject): string[] => [(data as { owner: string }).owner];
  informer.addIndex('owner', owner);
  informer.addIndex('owner', owner);
  const names = (value: string): unknown[] => informer.byIndex('owner', value).map(({ metadata }) => metadata.name);
  assert.deepEqual(names('x'), ['a', 'b']);
  await until(() => api.watches === 1);
  api.put(path('a'), { data: { owner: 'y' } });
  api.remove(path('b'));
  await until(() => told.includes('delete b'));
  assert.deepEqual([names('x'), names('y')], [[], ['a']]);
  assert.throws(() => informer.byIndex('other', 'x'), TypeError);
  assert.throws(() => informer.addIndex('owner', () => []), TypeError);
});

test(
  'a handler that comes late is told all there is; one that throws does not keep others from being told',
  limit,
  async (t) => {
    const { api, informer, told } = await setup(t, {}, (prepared) => prepared.put(path('a')));
    const late: string[] = [];
    informer.addHandler({
      add: () => {
        throw new Error('broken');
      },
    });
    const remove = informer.addHandler({ add: ({ metadata }, initial) => late.push(`${metadata.name} ${initial}`) });
    assert.deepEqual(late, ['a true']);
    await until(() => api.watches === 1);
    api.put(path('b'));
    await until(() => told.length === 2);
    assert.deepEqual(late, ['a true', 'b false']);
    remove();
    api.put(path('c'));
    await until(() => told.length === 3);
    assert.equal(late.length, 2);
  },
);

test('a transform decides what is kept, and a resync tells everything again', limit, async (t) => {
  const { informer, told } = await setup(t, { transform: withoutManagedFields, resyncSeconds: 0.05 }, (prepared) =>
    prepared.put(path('a'), { metadata: { managedFields: [{ manager: 'x' }] } }),
  );
  assert.equal(informer.list()[0]?.metadata.managedFields, undefined);
  await until(() => told.includes('update a'));
});

test(
  'the same question is one informer for all who ask, and an informer that is stopped tells nobody',
  limit,
  async (t) => {
    const api = await smallApi(t);
    const informers = createInformers({ client: api.server.client(), timing });
    const one = informers.informer(configMaps, { namespace: 'n' });
    assert.equal(informers.informer(configMaps, { namespace: 'n' }), one);
    assert.notEqual(informers.informer(configMaps), one);
    assert.notEqual(informers.informer(configMaps, { namespace: 'n', transform: withoutManagedFields }), one);
    informers.start();
    await informers.whenSynced();
    const late = informers.informer(configMaps, { labelSelector: 'a=b' });
    await late.whenSynced();
    await until(() => api.watches === 4);
    await informers.stop();
    await until(() => api.watches === 0);
    const never = createInformers({ client: api.server.client(), timing }).informer(configMaps);
    const waiting = never.whenSynced();
    await never.stop();
    await assert.rejects(waiting, /has been stopped/);
  },
);

test('whatever fails in whatever order, what was told adds up to what the server has', {
  timeout: 60_000,
}, async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 20, maxLength: 80 }), async (streamingLists, steps) => {
      const api = await smallApi(t);
      api.streamingLists = streamingLists;
      const informer = createInformer({ client: api.server.client(), resource: configMaps, timing });
      const replayed = new Map<string, UntypedObject>();
      const wrong: string[] = [];
      const name = (object: UntypedObject): string => object.metadata.name ?? '';
      informer.addHandler({
        add(object) {
          if (replayed.has(name(object))) wrong.push(`${name(object)} was added twice`);
          replayed.set(name(object), object);
        },
        update(old, object) {
          if (replayed.get(name(object)) !== old) wrong.push(`${name(object)} was updated from what it was not`);
          replayed.set(name(object), object);
        },
        delete(object) {
          if (!replayed.delete(name(object))) wrong.push(`${name(object)} was deleted and not there`);
        },
      });
      t.after(() => informer.stop());
      informer.start();
      for (const { act, object, wait } of steps) {
        acts[act](api, object);
        if (wait) await new Promise((next) => setTimeout(next, 2));
      }
      const names = ['a', 'b', 'c'];
      const versions = (of: (name: string) => UntypedObject | undefined): string =>
        JSON.stringify(names.map((each) => of(each)?.metadata.resourceVersion));
      const wanted = versions((each) => api.get(path(each)));
      await until(() => versions((each) => replayed.get(each)) === wanted);
      assert.equal(
        versions((each) => informer.get({ namespace: 'n', name: each })),
        wanted,
      );
      assert.deepEqual(wrong, []);
      await informer.stop();
    }),
    { numRuns: 15 },
  );
});

const acts = {
  put: (api: Api, name: string) => api.put(path(name)),
  remove: (api: Api, name: string) => api.remove(path(name)),
  break: (api: Api) => api.breakWatches(),
  end: (api: Api) => api.endWatches(),
  compact: (api: Api) => api.compact(),
  bookmark: (api: Api) => api.bookmark(),
  cut: (api: Api) => api.server.cut(),
} as const;

const step = fc.record({
  act: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('put' as const, 'remove' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'break' as const,
        'end' as const,
        'compact' as const,
        'bookmark' as const,
        'cut' as const,
      ),
    },
  ),
  object: fc.constantFrom('a', 'b', 'c'),
  wait: fc.boolean(),
});

type Api = Awaited<ReturnType<typeof smallApi>>;

async function setup(
  t: TestContext,
  options: Partial<InformerOptions<UntypedObject>> = {},
  prepare: (api: Api) => unknown = () => undefined,
) {
  const api = await smallApi(t);
  prepare(api);
  const informer = createInformer({ client: api.server.client(), resource: configMaps, timing, ...options });
  t.after(() => informer.stop());
  const told: string[] = [];
  informer.addHandler({
    add: ({ metadata }, initial) => told.push(`add ${metadata.name}${initial ? ' initial' : ''}`),
    update: (_, { metadata }) => told.push(`update ${metadata.name}`),
    delete: ({ metadata }, unseen) => told.push(`delete ${metadata.name}${unseen ? ' unseen' : ''}`),
  });
  informer.start();
  await informer.whenSynced();
  const lists = (): number =>
    api.server.seen.filter(({ query }) => query.has('sendInitialEvents') || !query.has('watch')).length;
  return { api, informer, told, lists };
}
