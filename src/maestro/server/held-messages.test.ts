import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../protocol/messages.ts';
import { createHeldMessages } from './held-messages.ts';
import { specResync } from './testing/world.ts';

const status = (resourceId: string, id: string): Message => ({
  kind: 'status',
  action: 'update_request',
  id,
  source: 'agent',
  clusterName: 'cluster1',
  originalSource: 'maestro',
  resourceId,
  resourceVersion: 1,
  sequenceId: '',
  statusHash: '',
  status: { conditions: [], resourceStatus: [] },
});

test('the last of each bundle and the last resync are kept, in order, for a while and once', () => {
  let now = 0;
  const held = createHeldMessages(100, () => now);
  const resync = specResync('cluster1', []);
  held.hold('cluster1', status('a', 'too late'));
  now = 50;
  held.hold('cluster1', status('b', 'first'));
  held.hold('cluster1', resync);
  held.hold('cluster1', status('b', 'second'));
  held.hold('cluster2', specResync('cluster2', []));
  now = 120;
  assert.deepEqual(held.take('cluster1'), [resync, status('b', 'second')]);
  assert.deepEqual(held.take('cluster1'), []);
  assert.equal(held.take('cluster2').length, 1);
});
