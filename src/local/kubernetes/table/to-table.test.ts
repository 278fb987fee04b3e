import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../object.ts';
import { createTypeTable } from '../types/table.ts';
import { type TableOptions, toTable } from './to-table.ts';

const type = createTypeTable().find('', 'v1', 'configmaps');
const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x', creationTimestamp: '1970-01-01T00:00:00Z' },
  data: { a: 'b' },
};

function tableOf(options: Partial<TableOptions>): {
  columnDefinitions: unknown;
  rows: { object?: unknown }[];
  apiVersion: string;
} {
  assert.ok(type);
  return toTable(type, [object], {
    includeObject: 'None',
    version: 'v1',
    metadata: { resourceVersion: '5' },
    columns: true,
    now: 60_000,
    ...options,
  }) as ReturnType<typeof tableOf>;
}

test('a table names its columns and has a row for each object', () => {
  assert.deepEqual(tableOf({}), {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '5' },
    columnDefinitions: [
      { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
      { name: 'Data', type: 'string', format: '', description: '', priority: 0 },
      { name: 'Age', type: 'string', format: '', description: '', priority: 0 },
    ],
    rows: [{ cells: ['x', 1, '60s'], object: null }],
  });
});

test('rows carry of their objects what was asked for', () => {
  assert.equal(tableOf({ includeObject: 'None' }).rows[0]?.object, null);
  assert.deepEqual(tableOf({ includeObject: 'Object' }).rows[0]?.object, object);
  assert.deepEqual(tableOf({ includeObject: 'Metadata', version: 'v1beta1' }).rows[0]?.object, {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1beta1',
    metadata: object.metadata,
  });
});

test('the columns may be left out, as in all but the first event of a watch', () => {
  assert.equal(tableOf({ columns: false }).columnDefinitions, null);
});
