import { test } from 'node:test';
import { embeddedServer } from './testing/embedded-server.ts';
import { runtimeSuite } from './testing/runtime-suite.ts';

test('client, informers and controllers on the embedded API server', { timeout: 120_000 }, async (t) => {
  await runtimeSuite(t, await embeddedServer(t));
});
