import { test } from 'node:test';
import { needs } from '../../test/peers.ts';
import { realServer } from '../kube/testing/real-server.ts';
import { engineSuite } from './testing/engine-suite.ts';

test('the engine on a real API server', { timeout: 240_000 }, async (t) => {
  const programs = needs(t, 'kube');
  if (programs === undefined) return;
  await engineSuite(t, await realServer(t, programs));
});
