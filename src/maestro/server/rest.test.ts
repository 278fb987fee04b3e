import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { configMaps, databases, testServer, testSource } from './testing/world.ts';

const json = { 'content-type': 'application/json' };
const search = (text: string) => `/resource-bundles?search=${encodeURIComponent(text)}`;
const names = (body: Readonly<Record<string, unknown>>) =>
  (body.items as { readonly name: string }[]).map(({ name }) => name);
const sorted = (body: Readonly<Record<string, unknown>>) => names(body).sort();

for (const [name, database] of Object.entries(databases)) {
  describe(`REST on ${name}`, () => {
    test('consumers are registered, found, relabelled and deleted', async (t) => {
      const server = await testServer(t, await database(t));
      const made = await server.rest('/consumers', {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ name: 'cluster1', labels: { env: 'dev' } }),
      });
      assert.equal(made.status, 201);
      const id = String(made.body.id);
      assert.partialDeepStrictEqual(made.body, {
        kind: 'Consumer',
        href: `/api/maestro/v1/consumers/${id}`,
        name: 'cluster1',
        labels: { env: 'dev' },
      });
      assert.deepEqual((await server.rest(`/consumers/${id}/`)).body, made.body);
      const patched = await server.rest(`/consumers/${id}`, { method: 'PATCH', headers: json, body: '{"labels":{}}' });
      assert.deepEqual([patched.status, patched.body.labels], [200, {}]);
      const listed = await server.rest('/consumers');
      assert.partialDeepStrictEqual(listed.body, { kind: 'ConsumerList', page: 1, size: 1, total: 1 });

      const source = testSource(t, server.grpc);
      const target = { consumer: 'cluster1', resourceId: randomUUID() };
      await source.create({ ...target, bundle: configMaps('a') });
      const refused = await server.rest(`/consumers/${id}`, { method: 'DELETE' });
      assert.deepEqual([refused.status, refused.body.code], [403, 'maestro-4']);
      // It takes bundles as before.
      await source.create({ ...target, resourceId: randomUUID(), bundle: configMaps('a') });

      const empty = await server.register('cluster2');
      assert.equal((await server.rest(`/consumers/${empty}`, { method: 'DELETE' })).status, 204);
      assert.equal((await server.rest(`/consumers/${empty}`)).status, 404);
    });

    test('a consumer that cannot be is refused with the code of its mistake', async (t) => {
      const server = await testServer(t, await database(t));
      await server.register('cluster1');
      const cases: readonly (readonly [string, number, string])[] = [
        ['{"name":"cluster1"}', 409, 'maestro-6'],
        ['{"name":"Not.A.Label"}', 400, 'maestro-8'],
        ['{"id":"chosen","name":"x"}', 400, 'maestro-8'],
        ['{"name":"x","labels":{"a":"not a value"}}', 400, 'maestro-8'],
        ['{"name":7}', 400, 'maestro-17'],
        ['{"name":', 400, 'maestro-17'],
        ['[]', 400, 'maestro-17'],
        ['', 400, 'maestro-17'],
      ];
      for (const [body, status, code] of cases) {
        const answer = await server.rest('/consumers', {
          method: 'POST',
          headers: { ...json, 'x-operation-id': 'operation-1' },
          body,
        });
        assert.deepEqual(
          [answer.status, answer.body.code, answer.body.operation_id],
          [status, code, 'operation-1'],
          body,
        );
        assert.equal(answer.body.href, `/api/maestro/v1/errors/${code.slice(8)}`);
      }
    });

    test('bundles are shown as the source sent them', async (t) => {
      const server = await testServer(t, await database(t));
      await server.register('cluster1');
      const source = testSource(t, server.grpc);
      const resourceId = randomUUID();
      const options = {
        deleteOption: { propagationPolicy: 'Foreground' },
        manifestConfigs: [
          {
            resourceIdentifier: { group: '', resource: 'configmaps', namespace: 'default', name: 'a' },
            updateStrategy: { type: 'ServerSideApply' },
          },
        ],
      } as const;
      const metadata = { name: 'nginx-work', namespace: 'cluster1', labels: { app: 'nginx' } };
      await source.create({ consumer: 'cluster1', resourceId, bundle: { ...configMaps('a'), ...options }, metadata });
      const { body } = await server.rest(`/resource-bundles/${resourceId}`);
      const { created_at, updated_at, ...rest } = body;
      assert.deepEqual(rest, {
        id: resourceId,
        kind: 'ResourceBundle',
        href: `/api/maestro/v1/resource-bundles/${resourceId}`,
        name: resourceId,
        consumer_name: 'cluster1',
        version: 1,
        metadata: { ...metadata, creationTimestamp: `${String(created_at).slice(0, 19)}Z` },
        manifests: configMaps('a').manifests,
        manifest_configs: options.manifestConfigs,
        delete_option: options.deleteOption,
      });
      assert.equal(updated_at, created_at);
      assert.equal((await server.rest(`/resource-bundles/${randomUUID()}`, { method: 'DELETE' })).status, 204);
      assert.equal((await server.rest(`/resource-bundles/${resourceId}`, { method: 'DELETE' })).status, 204);
      assert.ok((await server.rest(`/resource-bundles/${resourceId}`)).body.deleted_at);
    });

    test('lists are searched, ordered, paged and projected', async (t) => {
      const server = await testServer(t, await database(t));
      await server.register('cluster1');
      await server.register('cluster2');
      const source = testSource(t, server.grpc);
      for (const [at, id] of ['a', 'b', 'c', 'd'].entries()) {
        await source.create({
          consumer: at < 3 ? 'cluster1' : 'cluster2',
          resourceId: `bundle-${id}`,
          bundle: configMaps(id),
          metadata: { name: id, labels: { 'api.openshift.com/id': at % 2 === 0 ? 'even' : 'odd', place: id } },
        });
      }
      await source.update({ consumer: 'cluster1', resourceId: 'bundle-b', bundle: configMaps('b'), metadata: {} });
      await source.delete({ consumer: 'cluster1', resourceId: 'bundle-c' });

      // As the runbook has it.
      const seed = await server.rest(search("payload->'metadata'->'labels'->>'api.openshift.com/id'='even'"));
      assert.deepEqual([seed.body.total, names(seed.body)], [1, ['bundle-a']]);

      const found = async (text: string, more?: string) => {
        const { body } = await server.rest(`${search(text)}${more ?? ''}`);
        return more === undefined ? sorted(body) : names(body);
      };
      assert.deepEqual(await found("consumer_name='cluster1'"), ['bundle-a', 'bundle-b']);
      assert.deepEqual(await found("source='clusters-service'"), ['bundle-a', 'bundle-b', 'bundle-d']);
      assert.deepEqual(await found("source='nobody'"), []);
      assert.deepEqual(await found("name = 'bundle-a' and consumer_name = 'cluster1'"), ['bundle-a']);
      assert.deepEqual(await found("name = 'bundle-a' and consumer_name = 'cluster2'"), []);
      assert.deepEqual(await found('version = 2 or deleted_at is not null'), ['bundle-b']);
      assert.deepEqual(await found("payload->'metadata'->'labels'->>'place'in('a','d')"), ['bundle-a', 'bundle-d']);
      assert.deepEqual(await found(`payload->'metadata'->'labels'@>'{"place":"d"}' and version=1`), ['bundle-d']);
      assert.deepEqual(await found("payload->'metadata'->'labels'->>'place'<>null"), ['bundle-a', 'bundle-d']);
      assert.deepEqual(await found("name like 'bundle-%'", '&orderBy=name%20desc'), [
        'bundle-d',
        'bundle-b',
        'bundle-a',
      ]);
      assert.deepEqual(await found("name like '%'", '&orderBy=version%20desc,name&size=2&page=2'), ['bundle-d']);

      assert.partialDeepStrictEqual((await server.rest('/resource-bundles?size=0')).body, {
        size: 0,
        total: 3,
        items: [],
      });
      const projected = await server.rest(
        `/resource-bundles?fields=name,metadata.labels.place&search=name%3D'bundle-a'`,
      );
      assert.deepEqual(projected.body.items, [
        { id: 'bundle-a', name: 'bundle-a', metadata: { labels: { place: 'a' } } },
      ]);
    });

    test('a long list comes whole, in pages of any size', async (t) => {
      const server = await testServer(t, await database(t));
      await server.register('cluster1');
      const source = testSource(t, server.grpc);
      const ids = Array.from({ length: 1205 }, (_, at) => `bundle-${String(at).padStart(5, '0')}`);
      await Promise.all(
        ids.map((resourceId) => source.create({ consumer: 'cluster1', resourceId, bundle: configMaps('a') })),
      );
      const whole = await server.rest('/resource-bundles?size=-1');
      assert.partialDeepStrictEqual(whole.body, { page: 1, size: 1205, total: 1205 });
      assert.deepEqual(sorted(whole.body), ids);
      const walked: string[] = [];
      for (let page = 1; page <= 5; page++) {
        walked.push(...names((await server.rest(`${search("consumer_name='cluster1'")}&size=300&page=${page}`)).body));
      }
      assert.deepEqual(walked, names(whole.body));
    });

    test('what cannot be read is refused, and never fails', async (t) => {
      const server = await testServer(t, await database(t));
      const cases: readonly (readonly [string, number, string | undefined])[] = [
        ['/resource-bundles?page=x', 400, 'maestro-21'],
        ['/resource-bundles?size=1e9', 400, 'maestro-21'],
        ['/resource-bundles?orderBy=payload', 400, 'maestro-21'],
        ['/resource-bundles?orderBy=name%20sideways', 400, 'maestro-21'],
        ['/resource-bundles?fields=nothing', 400, 'maestro-21'],
        ['/resource-bundles?search=%00', 400, 'maestro-21'],
        [search("name = '\0'"), 400, 'maestro-21'],
        [search("status->'' = 'a'"), 400, 'maestro-21'],
        [search('version = 1e400'), 400, 'maestro-21'],
        // Refused by the plain listener itself.
        ['/resource-bundles/..%2f..', 400, undefined],
        [`/resource-bundles/${'x'.repeat(900)}`, 404, 'maestro-7'],
        ['/resource-bundles/%ff', 400, undefined],
        ['/errors/999', 404, 'maestro-7'],
        ['/nothing', 404, 'maestro-404'],
      ];
      for (const [path, status, code] of cases) {
        const answer = await server.rest(path);
        assert.deepEqual([answer.status, answer.body.code], [status, code], path.slice(0, 60));
      }
      const method = await server.rest('/resource-bundles', { method: 'POST', headers: json, body: '{}' });
      assert.deepEqual([method.status, method.body.code], [405, 'maestro-10']);
    });
  });
}

test('the API describes itself, its errors and its health', async (t) => {
  const server = await testServer(t, await databases.SQLite(t));
  assert.equal((await server.rest('')).body.kind, 'APIVersion');
  assert.equal((await server.rest('/../../maestro')).body.kind, 'API');
  assert.equal((await server.rest('/openapi')).body.openapi, '3.0.0');
  assert.equal((await server.rest('/errors/7')).body.reason, 'Resource not found');
  assert.ok(Number((await server.rest('/errors')).body.total) > 10);
  await server.ready;
  const health = await fetch(`${server.addresses.health}/healthcheck`);
  assert.deepEqual([health.status, await health.json()], [200, { status: 'ok' }]);
  assert.equal((await fetch(`${server.addresses.health}/livez`)).status, 200);
  const metrics = await (await fetch(`${server.addresses.metrics}/metrics`)).text();
  assert.match(metrics, /http_request_duration_seconds/);
});
