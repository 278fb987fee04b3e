import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches, onlyType, parseFilter } from './filter.ts';

const item = {
  name: 'Web-1',
  type: 'Microsoft.Network/virtualNetworks',
  location: 'westeurope',
  resourceGroup: 'rg',
  tags: { Team: 'blue', stage: 'test' },
};

test('a filter says which resources are meant', () => {
  const cases: readonly [string, boolean][] = [
    ["resourceType eq 'microsoft.network/VIRTUALNETWORKS'", true],
    ["resourceType ne 'Microsoft.Network/virtualNetworks'", false],
    ["name eq 'web-1' and location eq 'westeurope'", true],
    ["name eq 'web-2' or resourceGroup eq 'RG'", true],
    ["not (name eq 'web-1')", false],
    ["substringof('eb', name)", true],
    ["startswith(name, 'web')", true],
    ["startswith(tagName, 'te')", true],
    ["tagName eq 'team' and tagValue eq 'blue'", true],
    ["tagValue eq 'blue' and tagName eq 'team'", true],
    ["tagName eq 'team' and tagValue eq 'test'", false],
    ["tagName eq 'team'", true],
    ["name eq 'it''s'", false],
  ];
  for (const [text, expected] of cases) assert.equal(matches(parseFilter(text), item), expected, text);
});

test('a filter that cannot be read is refused, however deep', () => {
  const bad = ['name', "name like 'a'", "name eq 'a", "none eq 'a'", "(name eq 'a'", "name eq 'a' and", "f('a')", '@'];
  for (const text of [...bad, '('.repeat(4000), 'not '.repeat(1000)]) {
    assert.throws(() => parseFilter(text), { code: 'InvalidFilterInQueryString' }, text.slice(0, 40));
  }
});

test('the only type that a filter lets through is known before anything is read', () => {
  assert.equal(onlyType(parseFilter("name eq 'a' and resourceType eq 'A.B/c'")), 'A.B/c');
  assert.equal(onlyType(parseFilter("name eq 'a' or resourceType eq 'A.B/c'")), undefined);
  assert.equal(onlyType(undefined), undefined);
});
