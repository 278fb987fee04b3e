import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createLogger } from '../../../kit/log.ts';
import { type AuditEvent, annotateRequest, annotationsOf, createAuditLog, lineOf } from './audit.ts';
import { ask, person } from './testing/cluster-access.ts';

function capture(): { lines: Record<string, unknown>[]; log: ReturnType<typeof createAuditLog> } {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (text: string) => void lines.push(JSON.parse(text) as Record<string, unknown>) };
  return { lines, log: createAuditLog(createLogger({ service: 'kubernetes', destination })) };
}

const event: AuditEvent = {
  auditId: 'a1',
  cluster: 'c1',
  requestUri: '/api/v1/namespaces/default/pods/x/log',
  verb: 'get',
  user: person('admin', 'system:masters'),
  impersonated: person('bob'),
  sourceIp: '127.0.0.1',
  question: ask('get', 'pods', { namespace: 'default', name: 'x', subresource: 'log' }),
  answer: { allowed: false, reason: '' },
  code: 403,
  receivedAt: 0,
  completedAt: 5,
};

test('a request becomes one line, after it was answered', async () => {
  const { lines, log } = capture();
  log.record(event);
  assert.equal(lines.length, 0);
  await turn();
  await turn();
  assert.deepEqual(lines[0]?.audit, {
    level: 'Metadata',
    stage: 'ResponseComplete',
    auditID: 'a1',
    cluster: 'c1',
    requestURI: '/api/v1/namespaces/default/pods/x/log',
    verb: 'get',
    user: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
    impersonatedUser: { username: 'bob', groups: ['system:authenticated'] },
    sourceIPs: ['127.0.0.1'],
    objectRef: { resource: 'pods', namespace: 'default', name: 'x', apiVersion: 'v1', subresource: 'log' },
    responseStatus: { code: 403 },
    requestReceivedTimestamp: '1970-01-01T00:00:00.000Z',
    stageTimestamp: '1970-01-01T00:00:00.005Z',
    annotations: { 'authorization.k8s.io/decision': 'forbid', 'authorization.k8s.io/reason': '' },
  });
});

test('a flood is cut off and counted', () => {
  const { lines, log } = capture();
  for (let index = 0; index < 5000; index++) log.record(event);
  log.flush();
  assert.equal(lines.length, 4097);
  assert.equal(lines.at(-1)?.lost, 904);
});

test('notes about a request are part of its line; the first of a key stays', () => {
  const request = {};
  assert.equal(annotationsOf(request), undefined);
  annotateRequest(request, 'check.example.com/why', 'because');
  annotateRequest(request, 'check.example.com/why', 'another');
  const { annotations } = lineOf({ ...event, annotations: annotationsOf(request) }) as AuditEvent;
  assert.equal(annotations?.['check.example.com/why'], 'because');
  assert.equal(annotations?.['authorization.k8s.io/decision'], 'forbid');
});
