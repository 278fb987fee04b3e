import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStoreError } from '../errors.ts';
import { settingsOf } from './address.ts';

test('an address gives the settings of a connection', () => {
  const { password, ...rest } = settingsOf('postgres://me%40here:p%2Fw@db.example:6432/docs');
  assert.deepEqual(rest, { host: 'db.example', port: 6432, database: 'docs', user: 'me@here' });
  assert.equal(typeof password === 'object' && password.reveal(), 'p/w');
  assert.deepEqual(settingsOf('postgresql://me@[::1]'), { host: '::1', database: 'me', user: 'me' });
  assert.deepEqual(settingsOf('postgres://me@h/d?sslmode=verify-full').tls, {});
  assert.equal(settingsOf('postgres://me@h/d?sslmode=disable').tls, undefined);
});

for (const address of [
  '',
  'me:hunter2@h/d',
  'https://me:hunter2@h/d',
  'postgres://h/d',
  'postgres://me:hunter2@/d',
  'postgres://me:hunter2%@h/d',
  'postgres://me:hunter2@h/d?options=-c%20jit%3Don',
  'postgres://me:hunter2@h/d?sslmode=require',
]) {
  test(`refused without showing its password: ${address.replace('hunter2', '…')}`, () => {
    assert.throws(
      () => settingsOf(address),
      (error) => isStoreError(error, 'Invalid') && !error.message.includes('hunter2'),
    );
  });
}
