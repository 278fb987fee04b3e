import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { accepted } from './refusal.ts';
import {
  agentEventsTopic,
  agentResyncTopic,
  agentSubscriptions,
  defaultTopics,
  isTopicName,
  parseTopic,
  serverSubscriptions,
  sourceBroadcastTopic,
  sourceEventsTopic,
  topicProblems,
} from './topics.ts';

const shared = {
  ...defaultTopics(),
  agentEvents: '$share/statussubscribers/sources/maestro/consumers/+/agentevents',
  sourceBroadcast: 'sources/+/sourcebroadcast',
  agentBroadcast: 'clusters/+/agentbroadcast',
};

describe('topics', () => {
  test('without broadcasts: the server publishes to the consumer, the agent to its own', () => {
    const topics = defaultTopics();
    assert.equal(sourceEventsTopic(topics, 'mgmt-1'), 'sources/maestro/consumers/mgmt-1/sourceevents');
    assert.equal(agentEventsTopic(topics, 'mgmt-1'), 'sources/maestro/consumers/mgmt-1/agentevents');
    assert.equal(agentResyncTopic(topics, 'mgmt-1'), 'sources/maestro/consumers/mgmt-1/agentevents');
    assert.equal(sourceBroadcastTopic(topics, 'maestro'), undefined);
    assert.deepEqual(serverSubscriptions(topics), ['sources/maestro/consumers/+/agentevents']);
    assert.deepEqual(agentSubscriptions(topics, 'mgmt-1'), ['sources/maestro/consumers/mgmt-1/sourceevents']);
  });

  test('a shared subscription is one only for who subscribes', () => {
    assert.equal(agentEventsTopic(shared, 'mgmt-1'), 'sources/maestro/consumers/mgmt-1/agentevents');
    assert.deepEqual(serverSubscriptions(shared), [shared.agentEvents, 'clusters/+/agentbroadcast']);
  });

  test('with broadcasts: each side asks all of the other', () => {
    assert.equal(sourceBroadcastTopic(shared, 'maestro'), 'sources/maestro/sourcebroadcast');
    assert.equal(agentResyncTopic(shared, 'mgmt-1'), 'clusters/mgmt-1/agentbroadcast');
    assert.deepEqual(agentSubscriptions(shared, 'mgmt-1'), [
      'sources/maestro/consumers/mgmt-1/sourceevents',
      'sources/+/sourcebroadcast',
    ]);
  });

  test('say what they are about', () => {
    assert.deepEqual(accepted(parseTopic(shared.agentEvents)), {
      kind: 'agentevents',
      source: 'maestro',
      cluster: '+',
      group: 'statussubscribers',
    });
    assert.deepEqual(accepted(parseTopic('sources/maestro/clusters/mgmt-1/sourceevents')), {
      kind: 'sourceevents',
      source: 'maestro',
      cluster: 'mgmt-1',
    });
    assert.deepEqual(accepted(parseTopic('clusters/mgmt-1/agentbroadcast')), {
      kind: 'agentbroadcast',
      cluster: 'mgmt-1',
    });
  });

  for (const text of [
    '',
    '#',
    'sources/maestro/consumers/#',
    'sources/maestro/consumers/A/agentevents',
    'sources/maestro/consumers/a.b/agentevents',
    'sources/maestro/consumers/a/agentevents/',
    'sources/maestro/consumers/a/agentevents\n',
    '$share/g',
    `sources/${'a'.repeat(2000)}/sourcebroadcast`,
  ]) {
    test(`${JSON.stringify(text.slice(0, 50))} is none`, () => assert.equal(parseTopic(text).ok, false));
  }

  test('never take a name that is more than a name', () => {
    for (const name of ['', '+', '#', 'a/b', 'A', 'a.b']) {
      assert.equal(isTopicName(name), false);
      assert.throws(() => agentEventsTopic(defaultTopics(), name), TypeError);
    }
  });

  test('of a configuration are checked for their kind and their source', () => {
    assert.deepEqual(topicProblems(shared, 'maestro'), []);
    assert.deepEqual(topicProblems(defaultTopics('other'), 'maestro').length, 2);
    const swapped = { sourceEvents: shared.agentEvents, agentEvents: 'x' };
    assert.equal(topicProblems(swapped, 'maestro').length, 2);
  });
});
