import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saysDeleted } from '../protocol/manifest-bundle.ts';
import { compareSequenceIds } from '../protocol/sequence-id.ts';
import { hashOf, originalSourceLabel } from './bundle-work.ts';
import { RefusedError } from './link.ts';
import { consumer, deletion, memoryState, spec, testAgent } from './testing/bench.ts';

const never = new AbortController().signal;

test('a bundle becomes a work of its id, version and source', () => {
  const { works } = testAgent();
  assert.equal(works.take(spec('one', 3)), 'added');
  const work = works.source.get('one');
  assert.equal(work?.metadata.uid, 'one');
  assert.equal(work?.metadata.namespace, consumer);
  assert.equal(work?.metadata.generation, 3);
  assert.deepEqual(work?.metadata.labels, { app: 'x', [originalSourceLabel]: 'maestro' });
  assert.equal(work?.spec?.workload?.manifests?.length, 1);
  assert.deepEqual(works.versions(), [{ resourceID: 'one', resourceVersion: 3 }]);
});

test('versions only grow, and 0 is whatever is latest', () => {
  const { works } = testAgent();
  assert.equal(works.take(spec('one', 2)), 'added');
  assert.equal(works.take(spec('one', 1)), 'stale');
  assert.equal(works.take(spec('one', 2)), 'known');
  assert.equal(works.take(spec('one', 5)), 'changed');
  assert.equal(works.take(spec('one', 0)), 'changed');
});

test('who sends the version that is here lacks the status, and gets it', async () => {
  const agent = testAgent();
  agent.works.take(spec('one', 1));
  await agent.applied('one');
  await agent.settled();
  assert.equal(agent.reportsOf('one').length, 1);
  agent.works.take(spec('one', 1));
  await agent.settled();
  assert.equal(agent.reportsOf('one').length, 2);
});

test('a deletion is reported when the objects are gone, once, and then the work is not there', async () => {
  const agent = testAgent();
  agent.works.take(spec('one', 1));
  await agent.applied('one');
  assert.equal(agent.works.take(deletion('one', 1)), 'deleting');
  assert.equal(agent.works.take(deletion('one', 1)), 'known');
  assert.equal(agent.works.take(spec('one', 2)), 'stale', 'deleting is for good');
  assert.ok(agent.works.source.get('one')?.metadata.deletionTimestamp);
  await agent.finalized('one');
  await agent.settled();
  const last = agent.reportsOf('one').at(-1);
  assert.ok(last && saysDeleted(last.status));
  assert.equal(last.status.conditions.at(-1)?.message, 'The manifests are deleted from the cluster cluster1');
  assert.equal(agent.works.get('one'), undefined);
});

test('the deletion of a bundle that is not here is reported as done', async () => {
  const agent = testAgent();
  assert.equal(agent.works.take(deletion('other', 4)), 'deleting');
  await agent.finalized('other');
  await agent.settled();
  const [report] = agent.reportsOf('other');
  assert.ok(report && saysDeleted(report.status));
  assert.equal(report.resourceVersion, 4);
});

test('an event of a life that is over comes too late; a new life of the bundle does not', async () => {
  const agent = testAgent();
  const create = spec('one', 1);
  agent.works.take(create);
  await agent.applied('one');
  agent.works.take(deletion('one', 1));
  await agent.finalized('one');
  assert.equal(agent.works.take(create), 'stale');
  assert.equal(agent.works.get('one'), undefined);
  assert.equal(agent.works.take(spec('one', 1)), 'added');
});

test('a new life is taken also when it was sent first while the old one was going', async () => {
  const agent = testAgent();
  agent.works.take(spec('one', 1));
  await agent.applied('one');
  agent.works.take(deletion('one', 1));
  const next = spec('one', 1);
  assert.equal(agent.works.take(next), 'stale');
  await agent.finalized('one');
  assert.equal(agent.works.take(next), 'added');
});

test('a bundle that cannot be applied is answered by a status', async () => {
  const agent = testAgent();
  const large = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'x'.repeat(600 * 1024) } };
  assert.equal(agent.works.take(spec('large', 1, { bundle: { manifests: [large] } })), 'refused');
  assert.equal(agent.works.take(spec('empty', 1, { bundle: { manifests: [] } })), 'refused');
  agent.works.take(spec('taken', 1));
  assert.equal(agent.works.take(spec('thief', 1, { metadata: { name: 'taken' } })), 'refused');
  await agent.settled();
  for (const [id, why] of [
    ['large', /512000 are allowed/],
    ['empty', /no manifests/],
    ['thief', /another bundle/],
  ] as const) {
    const [condition] = agent.reportsOf(id)[0]?.status.conditions ?? [];
    assert.equal(condition?.type, 'Applied');
    assert.equal(condition?.status, 'False');
    assert.match(condition?.message ?? '', why);
    assert.equal(agent.works.source.get(id), undefined);
  }
  assert.equal(agent.works.source.get('taken')?.metadata.uid, 'taken');
  assert.equal(agent.works.take(spec('large', 2)), 'changed', 'one that can follows');
  assert.ok(agent.works.source.get('large'));
});

test('what is not for this agent is not taken', () => {
  const agent = testAgent();
  const before = agent.works.list().length;
  agent.events.onMessage(spec('one', 1, { clusterName: 'cluster2' }));
  agent.events.onMessage(spec('one', 1, { source: 'somebody' }));
  agent.events.onMessage({ kind: 'heartbeat', id: '1' });
  const envelope = { id: '1', source: 'maestro', clusterName: consumer, originalSource: '' };
  agent.events.onMessage({ kind: 'spec-resync', ...envelope, resourceVersions: [] });
  assert.equal(agent.works.list().length, before);
});

test('a bundle whose time is over goes, is not reported as deleted, and is not run again after a restart', async () => {
  const agent = testAgent();
  agent.works.take(spec('job', 1));
  const work = await agent.applied('job');
  await agent.works.source.expire(work, never);
  assert.ok(agent.works.source.get('job')?.metadata.deletionTimestamp);
  await agent.finalized('job');
  await agent.settled();
  assert.ok(agent.reportsOf('job').every(({ status }) => !saysDeleted(status)));
  assert.equal(agent.works.source.get('job'), undefined);
  assert.deepEqual(agent.works.versions(), [{ resourceID: 'job', resourceVersion: 1 }]);

  const again = testAgent(agent.state);
  assert.equal(again.works.take(spec('job', 1)), 'known');
  assert.equal(again.works.source.get('job'), undefined);
  assert.equal(again.works.take(spec('job', 2)), 'changed');
  assert.ok(again.works.source.get('job'));
});

test('reports carry growing sequence ids, the hash and the version', async () => {
  const agent = testAgent();
  agent.works.take(spec('one', 7));
  const first = await agent.applied('one', 'a');
  await agent.settled();
  const second = await agent.applied('one', 'b');
  await agent.settled();
  const [a, b] = agent.reportsOf('one');
  assert.ok(a && b && first.status && second.status);
  assert.equal(compareSequenceIds(b.sequenceId, a.sequenceId), 'newer');
  assert.deepEqual([a.statusHash, b.statusHash], [hashOf(first.status), hashOf(second.status)]);
  assert.equal(b.resourceVersion, 7);
  assert.equal(b.originalSource, 'maestro');
  assert.equal(b.source, 'agent');
});

test('changes while a report is on the way are one report, of the last', async () => {
  const agent = testAgent();
  const gate = Promise.withResolvers<void>();
  agent.link.onSend = () => gate.promise;
  agent.works.take(spec('one', 1));
  for (const note of ['a', 'b', 'c', 'd']) await agent.applied('one', note);
  gate.resolve();
  await agent.settled();
  assert.deepEqual(
    agent.reportsOf('one').map(({ status }) => status.conditions[0]?.message),
    ['a', 'd'],
  );
});

test('what could not be sent is sent when the link is up again, as it is then', async () => {
  const agent = testAgent();
  agent.link.up = false;
  agent.works.take(spec('one', 1));
  agent.works.take(spec('two', 1));
  await agent.applied('one', 'a');
  await agent.applied('one', 'b');
  agent.works.take(deletion('two', 1));
  await agent.finalized('two');
  assert.equal(agent.link.sent.length, 0);
  agent.link.up = true;
  agent.events.onConnected();
  await agent.settled();
  assert.deepEqual(
    agent.reportsOf('one').map(({ status }) => status.conditions[0]?.message),
    ['b'],
  );
  assert.equal(agent.reportsOf('two').length, 1);
});

test('every connection asks for what is missing, and tells again what may have been lost', async () => {
  const agent = testAgent();
  agent.works.take(spec('one', 2));
  await agent.applied('one');
  await agent.settled();
  agent.events.onConnected();
  await agent.settled();
  const asked = agent.link.sent.find(({ kind }) => kind === 'spec-resync');
  assert.ok(asked?.kind === 'spec-resync');
  assert.deepEqual(asked.resourceVersions, [{ resourceID: 'one', resourceVersion: 2 }]);
  assert.equal(agent.reportsOf('one').length, 2);
});

test('a request for what is missing fits what the broker takes', async () => {
  const agent = testAgent();
  for (let at = 0; at < 100; at++) agent.works.take(spec(`bundle-${at}`, 1));
  agent.link.maxBytes = 2000;
  const came = Promise.withResolvers<void>();
  agent.link.onSend = async () => came.resolve();
  agent.events.onConnected();
  await came.promise;
  await agent.settled();
  const sent = agent.link.sent.find(({ kind }) => kind === 'spec-resync');
  assert.ok(sent?.kind === 'spec-resync');
  assert.ok(sent.resourceVersions.length > 5 && sent.resourceVersions.length < 100);
  assert.ok(JSON.stringify(sent.resourceVersions).length <= 2000);
});

test('the server gets the statuses that differ from what it has seen, or all', async () => {
  const agent = testAgent();
  for (const id of ['same', 'differs', 'unasked']) {
    agent.works.take(spec(id, 1));
    await agent.applied(id, id);
  }
  await agent.settled();
  agent.link.sent.length = 0;
  const { status } = agent.works.get('same') ?? {};
  assert.ok(status);
  const envelope = { kind: 'status-resync', id: '1', source: 'maestro', originalSource: '' } as const;
  agent.events.onMessage({
    ...envelope,
    clusterName: consumer,
    statusHashes: [
      { resourceID: 'same', statusHash: hashOf(status) },
      { resourceID: 'differs', statusHash: 'other' },
      { resourceID: 'unknown', statusHash: '' },
    ],
  });
  await agent.settled();
  const ids = () => agent.link.sent.map((message) => 'resourceId' in message && message.resourceId);
  assert.deepEqual(ids(), ['differs']);
  agent.events.onMessage({ ...envelope, clusterName: '', statusHashes: [] });
  await agent.settled();
  assert.deepEqual(ids().slice(1).sort(), ['differs', 'same', 'unasked']);
});

test('a report that is refused is not sent for ever, and others are', async () => {
  const agent = testAgent(memoryState());
  let tried = 0;
  agent.link.onSend = async (message) => {
    if (message.kind !== 'status' || message.resourceId !== 'bad') return;
    tried++;
    throw new RefusedError('no');
  };
  for (const id of ['bad', 'good']) {
    agent.works.take(spec(id, 1));
    await agent.applied(id);
  }
  await agent.settled();
  assert.equal(tried, 1);
  assert.equal(agent.reportsOf('good').length, 1);
});

test('feedback that is too large to be sent is left out, and its condition says so', async () => {
  const agent = testAgent();
  agent.link.maxBytes = 5000;
  agent.works.take(spec('one', 1));
  const held = await agent.applied('one');
  await agent.settled();
  const manifest = (name: string, bytes: number) => ({
    resourceMeta: {
      ordinal: 0,
      group: '',
      version: 'v1',
      kind: 'ConfigMap',
      resource: 'configmaps',
      name,
      namespace: '',
    },
    statusFeedback: {
      values: [{ name: 'x', fieldValue: { type: 'String', string: 'y'.repeat(bytes) } as const }],
    },
    conditions: [],
  });
  const manifests = [manifest('small', 100), manifest('large', 10_000)];
  await agent.works.source.writeStatus(held, { conditions: [], resourceStatus: { manifests } }, never);
  await agent.settled();
  const report = agent.reportsOf('one').at(-1);
  const [small, large] = report?.status.resourceStatus ?? [];
  assert.equal(small?.statusFeedback.values?.length, 1);
  assert.deepEqual(large?.statusFeedback, {});
  assert.equal(large?.conditions[0]?.reason, 'StatusFeedbackSyncFailed');
  assert.match(large?.conditions[0]?.message ?? '', /bytes/);
});
