import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from '../../test/peers.ts';
import { UnknownKindError } from './rest-mapper.ts';
import { realServer } from './testing/real-server.ts';
import { runtimeSuite } from './testing/runtime-suite.ts';

test('client, informers and controllers on a real API server', { timeout: 240_000 }, async (t) => {
  const programs = needs(t, 'kube');
  if (programs === undefined) return;
  const server = await realServer(t, programs);
  await runtimeSuite(t, server);

  await t.test('kinds are found by discovery', async () => {
    const { mapper } = server.client();
    const found = await mapper.forGroupKind('apps', 'Deployment');
    assert.deepEqual(found, {
      group: 'apps',
      version: 'v1',
      plural: 'deployments',
      namespaced: true,
      kind: 'Deployment',
    });
    assert.equal((await mapper.forGroupKind('', 'Node')).namespaced, false);
    await assert.rejects(mapper.forKind('apps/v1', 'Widget'), UnknownKindError);
    await assert.rejects(mapper.forGroupKind('example.com', 'Widget'), UnknownKindError);
  });
});
