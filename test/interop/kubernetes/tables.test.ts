// Rows of tables read as a real kube-apiserver's. record-types.ts renews the recording.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { JsonObject, KubeObject } from '../../../src/local/kubernetes/object.ts';
import { toTable } from '../../../src/local/kubernetes/table/to-table.ts';
import { metadataAlone } from '../../../src/local/kubernetes/types/metadata-alone.ts';
import { createTypeTable } from '../../../src/local/kubernetes/types/table.ts';
import { tableCases } from './table-cases.ts';

interface Recorded {
  readonly columns: readonly JsonObject[];
  readonly cells: readonly unknown[];
  readonly conditions?: readonly JsonObject[];
  readonly object: KubeObject;
}

const recorded = JSON.parse(readFileSync(new URL('./data/types-tables.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Recorded>
>;
const types = createTypeTable();

/** Ages of what has just been made depend on how fast the recording was. */
const steady = (cells: readonly unknown[]): unknown[] =>
  cells.map((cell) => (/^\ds$/.test(String(cell)) ? '<age>' : cell));

describe('tables', () => {
  test('cover at least twenty-five kinds', () => {
    assert.ok(new Set(tableCases.map(({ resource }) => resource)).size >= 25);
    assert.deepEqual(
      Object.keys(recorded),
      tableCases.map(({ resource, name }) => `${resource} ${name}`),
    );
  });
  for (const { resource, name } of tableCases) {
    test(`${resource} ${name}`, () => {
      const [plural = '', version = '', group = ''] = resource.split('/').reverse();
      const type = types.find(group, version, plural);
      const expected = recorded[`${resource} ${name}`];
      assert.ok(type && expected);
      const { metadata } = expected.object;
      const table = toTable(type, [expected.object], {
        includeObject: 'Metadata',
        version: 'v1',
        metadata: { resourceVersion: '1' },
        columns: true,
        now: Date.parse(metadata.creationTimestamp ?? ''),
      }) as { columnDefinitions: JsonObject[]; rows: { cells: unknown[]; object: unknown; conditions?: unknown }[] };
      assert.deepEqual(
        table.columnDefinitions.map(({ description: _, ...rest }) => rest),
        expected.columns,
      );
      const [row] = table.rows;
      // The real server gives IP addresses a cell more than they have columns.
      assert.deepEqual(steady(row?.cells ?? []), steady(expected.cells.slice(0, expected.columns.length)));
      assert.deepEqual(row?.conditions, expected.conditions);
      assert.deepEqual(row?.object, {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: metadataAlone(expected.object),
      });
    });
  }
});
