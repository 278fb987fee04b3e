import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { Filter } from '../filter.ts';
import { applyLayout, makeStoreTables } from './schema.ts';
import { filterSql } from './sql-filter.ts';
import { creation, layoutOf, openThings } from './testing/engines.ts';

describe('filters in SQL', () => {
  it('use the declared indexes', () => {
    const layout = layoutOf({
      indexes: [
        { field: ['a', 'state'], type: 'string' },
        { field: ['size'], type: 'number' },
        { field: ['ready'], type: 'boolean' },
      ],
    });
    const db = new DatabaseSync(':memory:');
    makeStoreTables(db);
    applyLayout(db, layout);
    const indexed: Filter[] = [
      { op: 'eq', field: ['a', 'state'], value: 'x' },
      { op: 'in', field: ['a', 'state'], values: ['x', 'y'] },
      { op: 'prefix', field: ['a', 'state'], value: 'x' },
      { op: 'gt', field: ['size'], value: 4 },
      { op: 'between', field: ['size'], low: 1, high: 3 },
      { op: 'eq', field: ['ready'], value: true },
    ];
    const planOf = (filter: Filter) => {
      const { text, params } = filterSql(layout, filter);
      const plan = db.prepare(`EXPLAIN QUERY PLAN SELECT id FROM "things/documents" WHERE ${text}`).all(...params);
      return plan.map((step) => step.detail).join('\n');
    };
    for (const filter of indexed)
      assert.match(planOf(filter), /USING COVERING INDEX things\/index\//, JSON.stringify(filter));
    assert.match(planOf({ op: 'eq', field: ['size'], value: 'text' }), /SCAN/, 'an index holds one type of value');
    db.close();
  });

  it('take member names with any characters, and never an array for an object', async (t) => {
    const things = await openThings(t);
    await things.write('p', [
      creation('object', { 'a.b': { 'c\\d': 1, "e'f": 2, '0': 3, 'g"h': 4, 'ü[0]': 5 } }),
      creation('array', { 'a.b': [3] }),
    ]);
    const found = async (filter: Filter) => {
      const { rows } = await things.query({ filter, orderBy: [], limit: 10, offset: 0 });
      return rows.map(({ row }) => row.id);
    };
    const names: [string, number][] = [
      ['c\\d', 1],
      ["e'f", 2],
      ['0', 3],
      ['g"h', 4],
      ['ü[0]', 5],
    ];
    for (const [name, value] of names) {
      assert.deepEqual(await found({ op: 'eq', field: ['a.b', name], value }), ['object'], name);
      assert.deepEqual(
        await found({ op: 'contains', field: [], value: { 'a.b': { [name]: value } } }),
        ['object'],
        name,
      );
    }
  });

  it('take thousands of values and of conditions', async (t) => {
    const things = await openThings(t, { indexes: [{ field: ['n'], type: 'number' }] });
    await things.write('p', [creation('a', { n: 7 }), creation('b', { n: 20_000 })]);
    const values = Array.from({ length: 10_000 }, (_, index) => index);
    assert.equal(await things.count('p', { op: 'in', field: ['n'], values: [...values, 'seven', true] }), 1);
    const filters = values.slice(0, 3000).map((value): Filter => ({ op: 'eq', field: ['n'], value }));
    assert.equal(await things.count('p', { op: 'or', filters }), 1);
  });
});
