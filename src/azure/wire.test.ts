import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testCloud } from './testing/cloud.ts';
import { createWire } from './wire.ts';

test('a token goes nowhere but to its service', async (t) => {
  const { environment, credential, arm } = await testCloud(t);
  const wire = createWire({ environment, credential, service: environment.resourceManager });
  const { port } = new URL(environment.resourceManager.endpoint);
  for (const path of ['https://evil.test/x', `https://evillocalhost:${port}/x`, `http://localhost:${port}/x`]) {
    await assert.rejects(wire.send({ method: 'GET', path }), /nothing is sent there with its token/);
  }
  const stray = { method: 'DELETE', path: '/x', statusUrl: 'https://evil.test/status', retryAfterMs: 0 } as const;
  await assert.rejects(arm.wait(stray), /nothing is sent there/);
});

test('a service that takes too long gives no answer', async (t) => {
  const { environment, credential, azure, fault } = await testCloud(t);
  const wire = createWire({ environment, credential, service: environment.resourceManager, timeoutMs: 1500 });
  const request = { method: 'GET', path: `${azure.subscription}?api-version=2022-12-01` } as const;
  assert.equal((await wire.send(request)).status, 200);
  fault({ match: { path: azure.subscription }, times: 1, effect: { kind: 'latency', ms: 4000 } });
  await assert.rejects(wire.send(request), { name: 'AzureError', code: 'NoAnswer' });
});
