import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtinTypes } from './builtin.ts';
import type { ResourceType } from './resource-type.ts';
import { createTypeTable } from './table.ts';

const custom = (kind: string, schema: ResourceType['schema'] = { type: 'object' }): ResourceType => ({
  group: 'example.com',
  version: 'v1',
  kind,
  listKind: `${kind}List`,
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ['get'],
  subresources: {},
  storage: `example.com/${kind.toLowerCase()}s`,
  storageVersion: 'v1',
  schema,
  columns: [],
  strategy: {},
  custom: { preserveUnknownFields: false },
});

test('every built-in type has its schema, is found by plural and by kind, and is one object for all tables', () => {
  const [one, other] = [createTypeTable(), createTypeTable()];
  for (const type of builtinTypes()) {
    assert.ok(type.schema, type.plural);
    assert.equal(one.find(type.group, type.version, type.plural), type);
    assert.equal(other.findKind(type.group, type.version, type.kind), type);
    assert.ok(type.columns.length > 0, type.plural);
  }
  assert.equal(one.find('', 'v1', 'toString'), undefined);
  assert.equal(one.find('apps', 'v1', 'pods'), undefined);
});

test('custom resources come after the built-ins and may be replaced', () => {
  const table = createTypeTable([custom('Widget')]);
  assert.equal([...table.all()].at(-1)?.kind, 'Widget');
  assert.equal(table.find('example.com', 'v1', 'widgets')?.kind, 'Widget');
  table.setCustom([custom('Gadget')]);
  assert.equal(table.find('example.com', 'v1', 'widgets'), undefined);
  assert.equal(table.findKind('example.com', 'v1', 'Gadget')?.plural, 'gadgets');
});

test('the etag tells what is served: the same for the same custom resources, another for others', () => {
  const table = createTypeTable();
  const plain = table.etag;
  assert.equal(createTypeTable().etag, plain);
  table.setCustom([custom('Widget')]);
  const withWidget = table.etag;
  assert.notEqual(withWidget, plain);
  assert.equal(createTypeTable([custom('Widget')]).etag, withWidget);
  table.setCustom([custom('Widget', { type: 'object', properties: { a: { type: 'string' } } })]);
  assert.notEqual(table.etag, withWidget);
  table.setCustom([]);
  assert.equal(table.etag, plain);
});
