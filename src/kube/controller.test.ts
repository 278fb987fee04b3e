import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLogger, type Logger } from '../kit/log.ts';
import { createMetrics } from '../kit/metrics.ts';
import { applyOwned } from './apply.ts';
import { type ControllerOptions, createController, type Reconcile, TerminalError } from './controller.ts';
import { createInformers } from './informers.ts';
import { KubeError } from './kube-error.ts';
import { keyText, type UntypedObject } from './object.ts';
import { withController } from './owner.ts';
import { allOf, annotationsChanged, anyOf, generationChanged, labelsChanged, matching } from './predicate.ts';
import { resource } from './resource.ts';
import { createChannel, objects, owns, type Source, watches } from './source.ts';
import { smallApi, until } from './testing/small-api.ts';

const things = resource('example.com/v1', 'Thing', 'things');
const configMaps = resource('v1', 'ConfigMap', 'configmaps');
const thing = (name: string, namespace = 'n'): string => `/apis/example.com/v1/namespaces/${namespace}/things/${name}`;
const configMap = (name: string): string => `/api/v1/namespaces/n/configmaps/${name}`;
const limit = { timeout: 30_000 };
const backoff = { baseMs: 1, maxMs: 5 };

test(
  'every object is reconciled at the start, and again after each change; several changes may be one',
  limit,
  async (t) => {
    const { api, calls, start } = await setup(t, async () => undefined);
    api.put(thing('a'));
    api.put(thing('b'));
    await start();
    await until(() => calls.length === 2);
    assert.deepEqual(calls.splice(0).sort(), ['n/a', 'n/b']);
    api.put(thing('a'), { spec: 1 });
    await until(() => calls.length === 1);
    api.remove(thing('b'));
    await until(() => calls.length === 2);
    assert.deepEqual(calls, ['n/a', 'n/b']);
  },
);

test('one object is never reconciled twice at a time, different ones are, up to the concurrency', limit, async (t) => {
  let most = 0;
  const busy = new Set<string>();
  let overlap = false;
  const { api, calls, start } = await setup(
    t,
    async (request) => {
      const key = keyText(request);
      overlap ||= busy.has(key);
      busy.add(key);
      most = Math.max(most, busy.size);
      await new Promise((next) => setTimeout(next, 5));
      busy.delete(key);
      return undefined;
    },
    { concurrency: 3 },
  );
  for (const name of ['a', 'b', 'c', 'd', 'e']) api.put(thing(name));
  await start();
  for (let round = 0; round < 20; round++) {
    api.put(thing('a'), { spec: round });
    await new Promise((next) => setTimeout(next, 2));
  }
  await until(() => calls.length > 6 && busy.size === 0);
  assert.equal(overlap, false);
  assert.equal(most, 3);
});

test(
  'a failure is tried again, told with what a person can do; whatever is thrown, the controller goes on',
  limit,
  async (t) => {
    const thrown: unknown[] = [
      new KubeError({ code: 403, reason: 'Forbidden', message: 'may not' }),
      'a text',
      undefined,
      new TypeError('a bug'),
    ];
    const failures: number[] = [];
    const { api, calls, start, lines } = await setup(t, (_, context) => {
      failures.push(context.failures);
      if (thrown.length > 0) throw thrown.shift();
      return Promise.resolve();
    });
    api.put(thing('a'));
    await start();
    await until(() => calls.length === 5);
    assert.deepEqual(failures, [0, 1, 2, 3, 4]);
    const said = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
    assert.equal(said.length, 4);
    assert.match(said[0].advice, /Role or ClusterRole/);
    assert.equal(said[0].object, 'n/a');
    assert.equal(said[0].controller, 'things');
  },
);

test('a terminal error waits for the next change', limit, async (t) => {
  const { api, calls, start } = await setup(t, async (request) => {
    if (request.name === 'a') throw new TerminalError('the spec contradicts itself');
    return undefined;
  });
  api.put(thing('a'));
  await start();
  await until(() => calls.length === 1);
  for (const name of ['b', 'c', 'd']) api.put(thing(name));
  await until(() => calls.length === 4);
  assert.equal(calls.filter((key) => key === 'n/a').length, 1);
  api.put(thing('a'), { spec: 2 });
  await until(() => calls.filter((key) => key === 'n/a').length === 2);
});

test('a reconcile says when to look again', limit, async (t) => {
  const { api, calls, start } = await setup(t, async () => (calls.length < 3 ? { requeueAfter: 0.01 } : undefined));
  api.put(thing('a'));
  await start();
  await until(() => calls.length === 3);
});

test('a reconcile that takes too long is told to end, counted, and tried again', limit, async (t) => {
  const { api, calls, start, metrics } = await setup(
    t,
    (_, { signal }) =>
      calls.length > 1
        ? Promise.resolve()
        : new Promise<void>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    { timeoutSeconds: 0.05 },
  );
  api.put(thing('a'));
  await start();
  await until(() => calls.length === 2);
  const { body } = await metrics.scrape();
  assert.match(body, /controller_runtime_reconcile_total\{controller="things",result="timeout"\} 1/);
  assert.match(body, /controller_runtime_reconcile_errors_total\{controller="things"\} 1/);
});

test(
  'a stop lets what is under way end, starts nothing more, and a controller can be started again',
  limit,
  async (t) => {
    const gate = Promise.withResolvers<void>();
    let aborted = false;
    const { api, calls, start, controller } = await setup(t, async (_, { signal }) => {
      await gate.promise;
      aborted ||= signal.aborted;
    });
    api.put(thing('a'));
    api.put(thing('b'));
    await start();
    await until(() => calls.length === 1);
    const stopped = controller.stop();
    gate.resolve();
    await stopped;
    assert.equal(calls.length, 1);
    assert.equal(aborted, false);
    api.put(thing('c'));
    controller.start();
    await until(() => new Set(calls).size === 3);
  },
);

test(
  'a reconcile that does not listen keeps its object, but not the others from being reconciled',
  limit,
  async (t) => {
    const gate = Promise.withResolvers<void>();
    const { api, calls, start } = await setup(t, ({ name }) => (name === 'a' ? gate.promise : Promise.resolve()), {
      timeoutSeconds: 0.02,
      deafSeconds: 0.02,
    });
    api.put(thing('a'));
    await start();
    await until(() => calls.length === 1);
    api.put(thing('b'));
    await until(() => calls.length === 2);
    api.put(thing('a'), { spec: 2 });
    api.put(thing('c'));
    await until(() => calls.length === 3);
    assert.deepEqual(calls, ['n/a', 'n/b', 'n/c']);
    gate.resolve();
    await until(() => calls.length === 4);
    assert.equal(calls[3], 'n/a');
  },
);

test('at the end of the grace period reconciles are aborted', limit, async (t) => {
  const { api, calls, start, controller } = await setup(
    t,
    (_, { signal }) =>
      new Promise<void>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  api.put(thing('a'));
  await start();
  await until(() => calls.length === 1);
  const graceOver = new AbortController();
  const stopped = controller.stop({ graceOver: graceOver.signal });
  graceOver.abort();
  await stopped;
});

test('changes of owned objects, of mapped objects and signals from elsewhere are requests too', limit, async (t) => {
  const channel = createChannel();
  const { api, calls, start } = await setup(
    t,
    async () => undefined,
    {},
    (informers) => [
      owns(informers.informer(configMaps), things),
      watches(informers.informer(configMaps), ({ metadata }) =>
        metadata.labels?.for ? [{ namespace: 'n', name: metadata.labels.for }] : [],
      ),
      channel.source,
    ],
  );
  const owner = api.put(thing('a'));
  await start();
  await until(() => calls.length === 1);
  const owned = withController({ metadata: { name: 'x', namespace: 'n' } }, things, owner);
  api.put(configMap('x'), owned);
  await until(() => calls.length === 2);
  api.put(configMap('y'), { metadata: { labels: { for: 'b' } } });
  await until(() => calls.length === 3);
  api.put(configMap('y'), { metadata: { labels: { for: 'c' } } });
  await until(() => calls.length === 5);
  channel.send({ namespace: 'n', name: 'd' });
  await until(() => calls.length === 6);
  assert.deepEqual(calls, ['n/a', 'n/a', 'n/b', 'n/b', 'n/c', 'n/d']);
});

test('a predicate spares reconciles', limit, async (t) => {
  const api = await smallApi(t);
  const informers = createInformers({ client: api.server.client(), timing: { firstWaitMs: 1 } });
  t.after(() => informers.stop());
  const informer = informers.informer(things);
  const calls: string[] = [];
  const controller = createController({
    name: 'things',
    sources: [
      objects(
        informer,
        allOf(
          generationChanged,
          matching(({ metadata }) => metadata.name !== 'skipped'),
        ),
      ),
    ],
    reconcile: async ({ name }) => {
      calls.push(name);
    },
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  t.after(() => controller.stop());
  api.put(thing('skipped'));
  api.put(thing('a'), { metadata: { generation: 1 } });
  informers.start();
  controller.start();
  await until(() => calls.length === 1);
  api.put(thing('a'), { metadata: { generation: 1 }, status: {} });
  api.put(thing('a'), { metadata: { generation: 2 } });
  await until(() => calls.length === 2);
  api.put(thing('b'));
  await until(() => calls.length === 3);
  assert.deepEqual(calls, ['a', 'a', 'b']);
});

test('predicates see what they are for', () => {
  const one = { metadata: { labels: { a: '1' }, annotations: { x: '1' }, generation: 1 } };
  const relabelled = { metadata: { ...one.metadata, labels: { a: '2' } } };
  const annotated = { metadata: { ...one.metadata, annotations: { x: '1', y: '1' } } };
  const deleted = { metadata: { ...one.metadata, deletionTimestamp: 'now' } };
  assert.equal(labelsChanged.update?.(one, relabelled), true);
  assert.equal(labelsChanged.update?.(one, annotated), false);
  assert.equal(annotationsChanged.update?.(one, annotated), true);
  assert.equal(generationChanged.update?.(one, relabelled), false);
  assert.equal(generationChanged.update?.(one, deleted), true);
  const either = anyOf(labelsChanged, annotationsChanged);
  assert.equal(either.update?.(one, annotated), true);
  assert.equal(either.update?.(one, one), false);
  assert.equal(either.add?.(one), true);
});

test('an owned object is applied with its owner as controller; another controller is refused', limit, async (t) => {
  const api = await smallApi(t);
  const client = api.server.client();
  const owner = api.put(thing('a'));
  api.put(configMap('x'));
  await applyOwned(
    client,
    { resource: things, object: owner },
    configMaps,
    { metadata: { name: 'x', namespace: 'n' } },
    {
      fieldManager: 'things',
    },
  );
  const sent = api.server.seen.at(-1);
  assert.equal(sent?.query.get('force'), 'true');
  assert.deepEqual(JSON.parse(sent?.body ?? '').metadata.ownerReferences, [
    {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      name: 'a',
      uid: owner.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
  const other = api.put(thing('b'));
  const owned = withController({ metadata: { name: 'x', namespace: 'n' } }, things, owner);
  assert.throws(() => withController(owned, things, other), /already controlled by Thing a/);
  assert.deepEqual(withController(owned, things, owner), owned);
  assert.throws(() => withController({ metadata: { name: 'x', namespace: 'm' } }, things, owner), /own namespace/);
});

async function setup(
  t: TestContext,
  reconcile: Reconcile,
  options: Partial<ControllerOptions> = {},
  more: (informers: ReturnType<typeof createInformers>) => readonly Pick<Source, 'begin'>[] = () => [],
) {
  const api = await smallApi(t);
  const lines: string[] = [];
  const logger: Logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
  const metrics = createMetrics();
  const informers = createInformers({ client: api.server.client(), timing: { firstWaitMs: 1 } });
  const calls: string[] = [];
  const controller = createController({
    name: 'things',
    sources: [objects<UntypedObject>(informers.informer(things)), ...more(informers)],
    reconcile: (request, context) => {
      calls.push(keyText(request));
      return reconcile(request, context);
    },
    backoff,
    logger,
    metrics,
    ...options,
  });
  t.after(async () => {
    await controller.stop({ abort: true });
    await informers.stop();
  });
  const start = async (): Promise<void> => {
    informers.start();
    controller.start();
    await informers.whenSynced();
    // Changes from here on come by the watch.
    await until(() => api.watches === informers.all().length);
  };
  return { api, calls, controller, informers, lines, metrics, start };
}
