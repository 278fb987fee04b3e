import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../kit/log.ts';
import { createEventRecorder } from './events.ts';
import { resource } from './resource.ts';
import { failure, type SeenRequest, scriptedServer, sendJson } from './testing/scripted-server.ts';

const things = resource('example.com/v1', 'Thing', 'things');
const nodes = resource('v1', 'Node', 'nodes', 'Cluster');
const object = { metadata: { name: 'a', namespace: 'n', uid: 'u-1' } };
const happened = { type: 'Warning', reason: 'NoRoom', action: 'Place', note: 'there is no room' } as const;

test('an event says what happened to what, who says so, and when', async (t) => {
  const { recorder, sent } = await setup(t);
  recorder.record(things, object, {
    ...happened,
    related: { resource: nodes, object: { metadata: { name: 'w', uid: 'u-2' } } },
  });
  await recorder.stop();
  const [event] = sent('POST');
  assert.equal(event?.path, '/apis/events.k8s.io/v1/namespaces/n/events');
  const { metadata, ...rest } = event?.body ?? {};
  assert.match(metadata.name, /^a\.[0-9a-f]+$/);
  assert.deepEqual(rest, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    eventTime: '2026-01-01T12:00:00.000000Z',
    reportingController: 'aro.example.com/test',
    reportingInstance: 'host-1',
    action: 'Place',
    reason: 'NoRoom',
    regarding: { apiVersion: 'example.com/v1', kind: 'Thing', name: 'a', namespace: 'n', uid: 'u-1' },
    related: { apiVersion: 'v1', kind: 'Node', name: 'w', uid: 'u-2' },
    note: 'there is no room',
    type: 'Warning',
  });
});

test('an object without a namespace has its events in default, and long notes are cut between characters', async (t) => {
  const { recorder, sent } = await setup(t);
  recorder.record(nodes, { metadata: { name: 'w', uid: 'u' } }, { ...happened, note: 'ä€'.repeat(600) });
  await recorder.stop();
  const [event] = sent('POST');
  assert.equal(event?.body.metadata.namespace, 'default');
  assert.ok(Buffer.byteLength(event?.body.note) <= 1024);
  assert.match(event?.body.note, /^(ä€)+ä?…$/);
});

test('the same again becomes a count on the first, until it has been quiet for six minutes', async (t) => {
  const { recorder, sent, clock } = await setup(t);
  for (let times = 0; times < 9; times++) {
    recorder.record(things, object, happened);
    clock.now += 1000;
  }
  await recorder.stop();
  assert.equal(sent('POST').length, 1);
  assert.equal(sent('PATCH').at(-1)?.body.series.count, 9);
  clock.now += 7 * 60 * 1000;
  recorder.record(things, object, happened);
  recorder.record(things, object, { ...happened, note: 'something else' });
  await recorder.stop();
  assert.equal(sent('POST').length, 3);
});

test('one object cannot fill the server', async (t) => {
  const { recorder, sent, clock } = await setup(t);
  for (let times = 0; times < 100; times++) recorder.record(things, object, { ...happened, note: `no ${times}` });
  recorder.record(things, { metadata: { name: 'b', namespace: 'n', uid: 'u-3' } }, happened);
  await recorder.stop();
  assert.equal(sent('POST').length, 26);
  clock.now += 5 * 60 * 1000;
  for (let times = 0; times < 9; times++) recorder.record(things, object, { ...happened, note: `later ${times}` });
  await recorder.stop();
  assert.equal(sent('POST').length, 27);
});

test('an event that cannot be written is lost, and nothing else is', async (t) => {
  const { recorder, server, lines, sent } = await setup(t);
  server.answer((_, response) => sendJson(response, 403, failure(403, 'Forbidden', 'may not')));
  recorder.record(things, object, happened);
  await recorder.stop();
  assert.equal(lines.length, 1);
  server.answer((request, response) => sendJson(response, 201, JSON.parse(request.body)));
  recorder.record(things, object, { ...happened, reason: 'Other' });
  await recorder.stop();
  assert.equal(sent('POST').length, 2);
});

async function setup(t: TestContext) {
  const server = await scriptedServer(t, (request, response) => sendJson(response, 200, JSON.parse(request.body)));
  const lines: string[] = [];
  const clock = { now: Date.UTC(2026, 0, 1, 12) };
  const recorder = createEventRecorder({
    client: server.client(),
    controller: 'aro.example.com/test',
    instance: 'host-1',
    logger: createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } }),
    now: () => clock.now,
  });
  const sent = (method: string) =>
    server.seen
      .filter((each: SeenRequest) => each.method === method)
      .map(({ path, body }) => ({ path, body: JSON.parse(body) }));
  return { server, recorder, clock, lines, sent };
}
