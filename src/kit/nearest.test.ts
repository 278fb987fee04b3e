import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nearest } from './nearest.ts';

it('finds the name that a slip of the fingers missed', () => {
  const known = ['port', 'hosts', 'plain', 'issue', 'ca'];
  assert.equal(nearest('prot', known), 'port');
  assert.equal(nearest('PORT', known), 'port');
  assert.equal(nearest('host', known), 'hosts');
  assert.equal(nearest('isue', known), 'issue');
  assert.equal(nearest('c', known), 'ca');
});

it('finds nothing when nothing is near', () => {
  assert.equal(nearest('banana', ['port', 'hosts']), undefined);
  assert.equal(nearest('', ['port']), undefined);
  assert.equal(nearest('x'.repeat(100_000), ['port']), undefined);
  assert.equal(nearest('port', []), undefined);
});
