import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { KubeClient } from '../kube/client.ts';
import { embeddedServer } from '../kube/testing/embedded-server.ts';
import { appliedName } from './ownership.ts';
import {
  changed,
  configMap,
  configMaps,
  hash,
  installDefinitions,
  isApplied,
  namespace,
  workbench,
  workOf,
} from './testing/workbench.ts';
import { appliedManifestWorks } from './work.ts';

const writes = ['create', 'replace', 'patch', 'apply', 'delete'] as const;

/**
 * A client of a process that dies at its nth write: before the write is sent, or when it has taken effect and the answer is lost.
 * Nothing that is called after that returns before it is buried, and `died` settles.
 */
function dying(client: KubeClient, at: number, when: 'before' | 'after') {
  const died = Promise.withResolvers<void>();
  let count = 0;
  let dead = false;
  const buried = Promise.withResolvers<never>();
  buried.promise.catch(() => undefined);
  const wrapped = { ...client } as Record<string, unknown>;
  for (const verb of [...writes, 'get', 'find'] as const) {
    const real = client[verb] as (...args: unknown[]) => Promise<unknown>;
    wrapped[verb] = async (...args: unknown[]) => {
      if (dead) return buried.promise;
      if (verb === 'get' || verb === 'find') return real(...args);
      const mine = count++;
      if (mine < at) return real(...args);
      dead = true;
      if (when === 'after') await real(...args).catch(() => undefined);
      died.resolve();
      return buried.promise;
    };
  }
  const bury = (): void => buried.reject(new Error('dead'));
  return { client: wrapped as unknown as KubeClient, died: died.promise, bury };
}

async function lifeWithDeath(
  t: TestContext,
  client: KubeClient,
  at: number,
  when: 'before' | 'after',
): Promise<boolean> {
  const name = `k-${at}-${when}`;
  const work = workOf(name, [configMap(`${name}-a`, { v: '1' }), configMap(`${name}-b`, { v: '1' })], {
    manifestConfigs: [
      {
        resourceIdentifier: { resource: 'configmaps', namespace, name: `${name}-b` },
        updateStrategy: { type: 'ServerSideApply' },
      },
    ],
  });
  const next = changed(work, [configMap(`${name}-a`, { v: '2' })]);
  const mortal = dying(client, at, when);
  const first = workbench(t, mortal.client, { resyncSeconds: 3600 });
  first.source.put(work);
  const lived = first
    .work(name, isApplied)
    .then(() => first.source.put(next))
    .then(() => first.work(name, isApplied))
    .then(() =>
      first.source.put({ ...next, metadata: { ...next.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    )
    .then(() => first.told(() => first.finalized.includes(name)));
  const outcome = await Promise.race([lived.then(() => 'lived' as const), mortal.died.then(() => 'died' as const)]);

  // The next process gets the newest spec, whatever the one before had been told.
  const second = workbench(t, client, { resyncSeconds: 3600 });
  second.source.put(next);
  await second.work(name, isApplied);
  const left = await client.list(configMaps, { namespace });
  assert.deepEqual(
    left.items
      .filter(({ metadata }) => metadata.name?.startsWith(name))
      .map(({ metadata, data }) => [metadata.name, data]),
    [[`${name}-a`, { v: '2' }]],
    `killed ${when} write ${at}`,
  );
  const record = await client.get(appliedManifestWorks, { name: appliedName(hash, name) });
  assert.deepEqual(
    record.status?.appliedResources?.map((each) => each.name),
    [`${name}-a`],
    `killed ${when} write ${at}`,
  );
  second.source.put({ ...next, metadata: { ...next.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
  await second.told(() => second.finalized.includes(name));
  const rest = await client.list(configMaps, { namespace });
  assert.deepEqual(
    rest.items.filter(({ metadata }) => metadata.name?.startsWith(name)),
    [],
  );
  await second.stop();
  mortal.bury();
  await first.stop();
  return outcome === 'lived';
}

test('a process that is killed at any write leaves nothing that the next one does not put right', {
  timeout: 120_000,
}, async (t) => {
  const server = await embeddedServer(t);
  const client = server.client();
  await installDefinitions(client);
  for (const when of ['before', 'after'] as const) {
    await t.test(`${when} the write`, async (t) => {
      let deaths = 0;
      while (!(await lifeWithDeath(t, client, deaths, when))) deaths++;
      // Record, two objects, an owner, its status; the update, the removal, its record; the deletions.
      assert.ok(deaths >= 10, `${deaths} writes`);
    });
  }
});
