import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AzureError, type AzureErrorOptions, asAzureError, errorIn, errorOfAnswer, retryAfterOf } from './errors.ts';
import { armRetry, kindOf, type RetryRules, rbacRetry, withRetry } from './retry.ts';

const failure = (options: Partial<AzureErrorOptions>): AzureError =>
  new AzureError({ code: 'Code', message: 'Message.', ...options });

async function waitsOf(errors: readonly AzureError[], rules: RetryRules, random = 0): Promise<readonly number[]> {
  const waits: number[] = [];
  const left = [...errors];
  const call = async (): Promise<string> => {
    const error = left.shift();
    if (error) throw error;
    return 'done';
  };
  const sleep = async (ms: number): Promise<void> => void waits.push(ms);
  await withRetry(call, { rules, idempotent: true, sleep, random: () => random }).catch(() => waits.push(-1));
  return waits;
}

test('four attempts, from 15 seconds, doubling to 60 at most, a tenth longer at random', async () => {
  const busy = failure({ status: 429 });
  assert.deepEqual(await waitsOf([busy, busy, busy], armRetry), [15_000, 30_000, 60_000]);
  assert.deepEqual(await waitsOf([busy, busy, busy, busy], armRetry), [15_000, 30_000, 60_000, -1]);
  assert.deepEqual(await waitsOf([busy], armRetry, 1), [16_500]);
  assert.deepEqual(await waitsOf([failure({ status: 429, retryAfterMs: 7000 })], armRetry), [7000]);
  assert.equal((await waitsOf(Array(12).fill(busy), rbacRetry)).length, 12, 'twelve attempts');
});

test('what is tried again', () => {
  const rows = [
    [{ status: 429 }, 'busy'],
    [{ status: 409 }, 'final'],
    [{ status: 409, retryAfterMs: 1000 }, 'busy'],
    [{ status: 409, message: 'Another operation is in progress. Please retry later.' }, 'busy'],
    [{ code: 'AADSTS7000215' }, 'busy'],
    [{ message: 'AADSTS7000216: spreading' }, 'busy'],
    [{ message: 'Cannot proceed: RetryableError.' }, 'busy'],
    [{ details: [{ code: 'RetryableError', message: '' }] }, 'busy'],
    [{ code: 'NoAnswer' }, 'transient'],
    [{ status: 503 }, 'transient'],
    [{ status: 403, code: 'AuthorizationFailed' }, 'final'],
    [{ status: 404 }, 'final'],
    [{ status: 400, code: 'PrincipalNotFound' }, 'final'],
  ] as const;
  for (const [options, kind] of rows)
    assert.equal(kindOf(failure(options), armRetry, true), kind, JSON.stringify(options));
  assert.equal(kindOf(failure({ status: 503 }), armRetry, false), 'final', 'not what may have had its effect');
  assert.equal(kindOf(failure({ status: 403 }), rbacRetry, true), 'busy');
  assert.equal(kindOf(failure({ status: 400, code: 'PrincipalNotFound' }), rbacRetry, true), 'busy');
});

test('a caller that stops waiting ends it with its own reason', async () => {
  const stop = new AbortController();
  const running = withRetry(() => Promise.reject(failure({ status: 429 })), {
    rules: armRetry,
    idempotent: true,
    signal: stop.signal,
    onRetry: () => stop.abort(new Error('enough')),
  });
  await assert.rejects(running, { message: 'enough' });
});

test('errors are read in every form that services give them', () => {
  const arm = { error: { code: 'A', message: 'B', target: 'c', details: [{ code: 'D', message: 'E' }] } };
  assert.deepEqual(errorIn(arm), { code: 'A', message: 'B', target: 'c', details: [{ code: 'D', message: 'E' }] });
  assert.deepEqual(errorIn({ code: 'A', message: 'B' }), { code: 'A', message: 'B' });
  assert.deepEqual(errorIn({ error: 'invalid_client', error_description: 'B' }), {
    code: 'invalid_client',
    message: 'B',
  });
  assert.deepEqual(errorIn({ 'odata.error': { code: 'A', message: { value: 'B' } } }), { code: 'A', message: 'B' });
  assert.deepEqual(errorIn(JSON.stringify(arm))?.code, 'A');
  for (const other of [undefined, null, '<html>', [], 7, {}]) assert.equal(errorIn(other), undefined);
  const page = errorOfAnswer({ status: 502, headers: { 'x-ms-request-id': 'r' }, body: '<html>' }, 'GET /x');
  assert.deepEqual([page.code, page.message, page.requestId], ['Http502', 'GET /x was answered with status 502.', 'r']);
  assert.equal(asAzureError(new TypeError('fetch failed'), 'GET /x').code, 'NoAnswer');
});

test('Retry-After in seconds, as a date, in milliseconds', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  assert.equal(retryAfterOf({ 'retry-after': '3' }, now), 3000);
  assert.equal(retryAfterOf({ 'retry-after': 'Thu, 01 Jan 2026 00:00:10 GMT' }, now), 10_000);
  assert.equal(retryAfterOf({ 'retry-after': 'Wed, 31 Dec 2025 00:00:10 GMT' }, now), 0);
  assert.equal(retryAfterOf({ 'x-ms-retry-after-ms': '250' }, now), 250);
  assert.equal(retryAfterOf({ 'retry-after': 'soon' }, now), undefined);
});
