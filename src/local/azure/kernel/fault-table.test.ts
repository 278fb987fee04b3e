import assert from 'node:assert/strict';
import test from 'node:test';
import { createFaults, faultError } from './fault-table.ts';
import type { Fault } from './faults.ts';

const put = (path: string, host = 'localhost') => ({ method: 'PUT', host, path });
const failure = { kind: 'error', status: 500, code: 'Boom' } as const;

test('a fault is for the calls that match', () => {
  const matches: readonly [Fault['match'], { method: string; host: string; path: string }, boolean][] = [
    [{}, put('/a/b'), true],
    [{ method: 'PUT|DELETE' }, put('/a'), true],
    [{ method: 'GET' }, put('/a'), false],
    [{ path: '/A/*/c' }, put('/a/b/C'), true],
    [{ path: '/a/*' }, put('/a/b/c'), false],
    [{ path: '/a/**' }, put('/a/b/c'), true],
    [{ path: '/a/**/c' }, put('/a/c'), true],
    [{ path: '**/vaults/*' }, put('/s/1/vaults/x'), true],
    [{ path: '**/vaults/*' }, put('/s/1/vaults/x/y'), false],
    [{ path: '/a' }, put('/a/'), true],
    [{ path: '/a/Test-*' }, put('/a/test-1'), true],
    [{ path: '/a/*-net-*' }, put('/a/my-net-2'), true],
    [{ path: '/a/*-net-*' }, put('/a/my-net2'), false],
    [{ path: '/a/*1' }, put('/a/111'), true],
    [{ path: '/a/test-*' }, put('/a/test-1/b'), false],
    [{ path: '**/vaults/kv*' }, put('/s/1/vaults/kv'), true],
    [{ host: 'mi*.vault.azure.test' }, put('/x', 'mine.vault.azure.test'), true],
    [{ host: '*.vault.azure.test' }, put('/x', 'mine.VAULT.azure.test'), true],
    [{ host: '*.vault.azure.test' }, put('/x', 'localhost'), false],
  ];
  for (const [match, call, expected] of matches) {
    const faults = createFaults([{ match, effect: failure }]);
    assert.equal(faults.on(call).length === 1, expected, `${JSON.stringify(match)} ${JSON.stringify(call)}`);
  }
});

test('it applies from the nth call on, so many times', () => {
  const faults = createFaults();
  const id = faults.add({ match: { method: 'PUT' }, after: 3, times: 2, effect: failure });
  const applied = Array.from({ length: 6 }, () => faults.on(put('/a')).length);
  assert.deepEqual(applied, [0, 0, 1, 1, 0, 0]);
  assert.deepEqual(
    faults.list().map(({ seen, applied: times }) => [seen, times]),
    [[6, 2]],
  );
  assert.equal(faults.remove(id), true);
  assert.equal(faults.remove(id), false);
  assert.deepEqual(faults.on(put('/a')), []);
});

test('standing conditions are asked for by their kind, and meet no call', () => {
  const faults = createFaults();
  faults.add({ match: {}, effect: { kind: 'quota', location: 'eastus', family: 'standardDSv3Family', limit: 0 } });
  assert.deepEqual(faults.on(put('/a')), []);
  assert.equal(faults.standing('quota')[0]?.family, 'standardDSv3Family');
  assert.deepEqual(faults.standing('skuRestricted'), []);
  faults.clear();
  assert.deepEqual(faults.list(), []);
});

test('patterns of many wildcards take no longer for it', () => {
  const path = `/${Array.from({ length: 40 }, () => '**/a').join('/')}/end`;
  const faults = createFaults([{ match: { path }, effect: failure }]);
  assert.deepEqual(faults.on(put(`/${'a/'.repeat(2000)}`)), []);
});

test('so do patterns of many wildcards within a segment', () => {
  const faults = createFaults([{ match: { path: `/${'*a'.repeat(500)}*b` }, effect: failure }]);
  assert.deepEqual(faults.on(put(`/${'a'.repeat(4000)}`)), []);
});

test('the error is the one asked for', () => {
  const error = faultError({ kind: 'error', status: 429, code: 'TooManyRequests', retryAfterSeconds: 7 });
  assert.deepEqual([error.status, error.code, error.retryAfterSeconds], [429, 'TooManyRequests', 7]);
});
