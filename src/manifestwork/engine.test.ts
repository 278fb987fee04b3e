import { test } from 'node:test';
import { embeddedServer } from '../kube/testing/embedded-server.ts';
import { engineSuite } from './testing/engine-suite.ts';

test('the engine on the embedded API server', { timeout: 120_000 }, async (t) => {
  await engineSuite(t, await embeddedServer(t));
});
