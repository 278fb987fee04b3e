import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreError, type StoreErrorCode } from '../store/errors.ts';
import { type FailedRequest, methodNotAllowed, toWire } from './error-wire.ts';
import { ArmError, notFound } from './errors.ts';
import { parseResourceId } from './resource-id.ts';

const request: FailedRequest = { requestId: 'the-request', conditional: false };
const wire = (thrown: unknown, more: Partial<FailedRequest> = {}) =>
  toWire(thrown, { ...request, ...more }, { bodyTooLargeStatus: 400 });

describe('errors on the wire', () => {
  it('carry code, message, target and details, and the code as a header', () => {
    const details = [{ code: 'A', message: 'a', target: 't' }];
    const answer = wire(new ArmError(400, 'MultipleErrorsOccurred', '2 errors occurred', { target: 'x', details }));
    assert.deepEqual(answer, {
      status: 400,
      headers: { 'x-ms-error-code': 'MultipleErrorsOccurred' },
      body: { error: { code: 'MultipleErrorsOccurred', message: '2 errors occurred', target: 'x', details } },
      hidden: false,
    });
  });

  it('leave out what is empty', () => {
    assert.deepEqual(wire(new ArmError(400, 'A', 'b')).body, { error: { code: 'A', message: 'b' } });
  });

  it('say when to try again', () => {
    assert.equal(wire(new ArmError(503, 'ServiceUnavailable', '')).headers['retry-after'], '59');
    assert.equal(wire(new ArmError(429, 'Throttled', '')).headers['retry-after'], '10');
    assert.equal(wire(new ArmError(409, 'Conflict', '', { retryAfterSeconds: 9.2 })).headers['retry-after'], '10');
    assert.equal(wire(new ArmError(409, 'Conflict', '')).headers['retry-after'], undefined);
  });

  it('hide what the caller must not see and name the request to quote', () => {
    for (const thrown of [new Error('password=x'), 'text', undefined, null, { status: 400, code: 'x' }]) {
      const answer = wire(thrown);
      assert.equal(answer.status, 500);
      assert.equal(answer.body.error.code, 'InternalServerError');
      assert.match(answer.body.error.message, /the-request/);
      assert.ok(!JSON.stringify(answer.body).includes('password'));
      assert.ok(answer.hidden);
    }
  });

  const store: readonly (readonly [StoreErrorCode, number, string, string | undefined])[] = [
    ['Changed', 409, 'Conflict', '1'],
    ['Exists', 409, 'Conflict', '1'],
    ['UniqueKey', 409, 'Conflict', undefined],
    ['NotFound', 404, 'ResourceNotFound', undefined],
    ['TooLarge', 400, 'InvalidResource', undefined],
    ['Invalid', 400, 'InvalidParameter', undefined],
    ['InvalidContinuation', 400, 'InvalidParameter', undefined],
    ['Unavailable', 503, 'ServiceUnavailable', '59'],
    ['OutcomeUnknown', 503, 'ServiceUnavailable', '59'],
    ['Busy', 503, 'ServiceUnavailable', '5'],
    ['Corrupt', 500, 'InternalServerError', undefined],
    ['Seal', 500, 'InternalServerError', undefined],
  ];
  for (const [code, status, armCode, retryAfter] of store) {
    it(`answer ${status} ${armCode} when the store says ${code}`, () => {
      const answer = wire(new StoreError(code, 'the path /var/lib/secret is broken'));
      assert.deepEqual(
        [answer.status, answer.body.error.code, answer.headers['retry-after']],
        [status, armCode, retryAfter],
      );
      assert.ok(!JSON.stringify(answer.body).includes('/var/lib'));
    });
  }

  it('make a lost race of a conditional request a failed precondition', () => {
    const answer = wire(new StoreError('Changed', ''), { conditional: true });
    assert.deepEqual([answer.status, answer.body.error.code], [412, 'PreconditionFailed']);
    const exists = wire(new StoreError('Exists', ''), { conditional: true });
    assert.deepEqual([exists.status, exists.body.error.code], [412, 'PreconditionFailed']);
    assert.match(exists.body.error.message, /created/);
  });

  it('give a lost race the status that the product wants', () => {
    for (const code of ['Changed', 'Exists', 'LeaseLost'] as const) {
      const answer = toWire(new StoreError(code, ''), request, { bodyTooLargeStatus: 400, lostRaceStatus: 429 });
      assert.deepEqual(
        [answer.status, answer.body.error.code, answer.headers['retry-after']],
        [429, 'Conflict', '1'],
        code,
      );
    }
  });

  it('list the methods that are allowed', () => {
    const answer = wire(methodNotAllowed('PATCH', ['GET', 'PUT']));
    assert.deepEqual([answer.status, answer.headers.allow], [405, 'GET, PUT']);
  });

  it('never put a line break in a header', () => {
    assert.equal(wire(new ArmError(400, 'a\r\nset-cookie: x', '')).headers['x-ms-error-code'], 'Unknown');
  });

  it('name what was not found as ARM does', () => {
    const subscription = '11111111-2222-3333-4444-555555555555';
    const of = (text: string) => {
      const parsed = parseResourceId(text);
      assert.ok(parsed.ok);
      return wire(notFound(parsed.id)).body.error;
    };
    assert.equal(of(`/subscriptions/${subscription}`).code, 'SubscriptionNotFound');
    assert.equal(of(`/subscriptions/${subscription}/resourceGroups/g`).code, 'ResourceGroupNotFound');
    const error = of(`/subscriptions/${subscription}/resourceGroups/g/providers/A.B/c/d`);
    assert.equal(error.message, "The resource 'A.B/c/d' under resource group 'g' was not found.");
    assert.equal(error.target, `/subscriptions/${subscription}/resourceGroups/g/providers/A.B/c/d`);
  });
});
