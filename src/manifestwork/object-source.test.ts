import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../kit/log.ts';
import { createInformers } from '../kube/informers.ts';
import type { UntypedObject } from '../kube/object.ts';
import { resource } from '../kube/resource.ts';
import { embeddedServer } from '../kube/testing/embedded-server.ts';
import { createEngine } from './engine.ts';
import { createObjectSource } from './object-source.ts';
import { hubHash } from './ownership.ts';
import {
  change,
  configMap,
  configMaps,
  hash,
  installDefinitions,
  isApplied,
  namespace,
  object,
  workbench,
  workOf,
} from './testing/workbench.ts';
import { type ManifestStatus, type ManifestWork, manifestWorks, workFinalizer } from './work.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
const namespaces = resource<UntypedObject>('v1', 'Namespace', 'namespaces', 'Cluster');
const cluster = 'local-cluster';

test('works that are objects in a namespace', { timeout: 60_000 }, async (t) => {
  const server = await embeddedServer(t);
  const client = server.client();
  await installDefinitions(client);
  await client.create(namespaces, { metadata: { name: cluster } });
  const informers = createInformers({ client, logger });
  informers.start();
  t.after(() => informers.stop());
  const source = createObjectSource({ client, informers, namespace: cluster });
  const inner = createEngine({ client, source, informers, hubHash: hubHash('local'), logger, maxJsonRawLength: 1024 });
  inner.start();
  t.after(() => inner.stop());
  const work = (name: string, holds: (work: ManifestWork | undefined) => boolean) =>
    object(client, manifestWorks, { namespace: cluster, name }, holds);

  await t.test('are applied, reported in their status, and held until their objects are gone', async () => {
    const { spec = {} } = workOf('w', [configMap('w', { a: '1' })]);
    await client.create(manifestWorks, { metadata: { name: 'w', namespace: cluster }, spec });
    const applied = await work('w', (found) => found !== undefined && isApplied(found));
    assert.deepEqual(applied?.metadata.finalizers, [workFinalizer]);
    assert.deepEqual((await client.get(configMaps, { namespace, name: 'w' })).data, { a: '1' });

    await change(client, manifestWorks, { namespace: cluster, name: 'w' }, (found) => ({
      ...found,
      spec: { ...found.spec, workload: { manifests: [configMap('w', { a: '2' })] } },
    }));
    await work('w', (found) => found?.metadata.generation === 2 && isApplied(found));
    assert.deepEqual((await client.get(configMaps, { namespace, name: 'w' })).data, { a: '2' });

    await client.delete(manifestWorks, { namespace: cluster, name: 'w' });
    await work('w', (found) => found === undefined);
    assert.equal(await client.find(configMaps, { namespace, name: 'w' }), undefined);
  });

  await t.test('within a work: the status of the inner one comes back as feedback of the outer one', async (t) => {
    const feedback = (group: string, resource: string, namespace: string, name: string, path: string) => ({
      manifestConfigs: [
        {
          resourceIdentifier: { group, resource, namespace, name },
          feedbackRules: [{ type: 'JSONPaths', jsonPaths: [{ name: 'status', path }] }],
        },
      ],
    });
    const innerWork = workOf('inner', [configMap('inner', { phase: 'Starting' })], {
      ...feedback('', 'configmaps', namespace, 'inner', '.data'),
    });
    const manifest = {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { name: 'inner', namespace: cluster },
      spec: {
        ...innerWork.spec,
        manifestConfigs: [
          {
            ...innerWork.spec?.manifestConfigs?.[0],
            updateStrategy: { type: 'CreateOnly' },
          },
        ],
      },
    };
    const bench = workbench(t, client, { hubHash: hash });
    bench.source.put(
      workOf(
        'outer',
        [manifest],
        feedback('work.open-cluster-management.io', 'manifestworks', cluster, 'inner', '.status'),
      ),
    );
    // As people ask for it: .status.resourceStatus[].statusFeedback.values[].fieldValue.jsonRaw | fromjson | .resourceStatus.manifests[].statusFeedback
    const phaseOf = (outer: ManifestWork): string | undefined => {
      const [value] = outer.status?.resourceStatus?.manifests?.[0]?.statusFeedback.values ?? [];
      if (value?.fieldValue.type !== 'JsonRaw') return undefined;
      const status = JSON.parse(value.fieldValue.jsonRaw) as { resourceStatus?: { manifests?: ManifestStatus[] } };
      const [found] = status.resourceStatus?.manifests?.[0]?.statusFeedback.values ?? [];
      return found?.fieldValue.type === 'JsonRaw'
        ? (JSON.parse(found.fieldValue.jsonRaw) as { phase?: string }).phase
        : undefined;
    };
    await bench.work('outer', (outer) => phaseOf(outer) === 'Starting');
    await change(client, configMaps, { namespace, name: 'inner' }, (found) => ({
      ...found,
      data: { phase: 'Running' },
    }));
    await bench.work('outer', (outer) => phaseOf(outer) === 'Running');
    await bench.stop();
  });
});
