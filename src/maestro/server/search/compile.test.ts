import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { searchableBundles } from '../bundle-view.ts';
import { MaestroError } from '../maestro-error.ts';
import { compileSearch } from './compile.ts';

const compile = (search: string) => compileSearch(search, searchableBundles);
const labels = "payload->'metadata'->'labels'";

describe('a search becomes a filter of the store', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    [`${labels}->>'api.openshift.com/id'='1a2b'`, { op: 'label', key: 'api.openshift.com/id', value: '1a2b' }],
    [`${labels}@>'{"a":"b"}'`, { op: 'label', key: 'a', value: 'b' }],
    [
      `${labels}@>'{"a":"b","c":"d"}'`,
      {
        op: 'and',
        filters: [
          { op: 'label', key: 'a', value: 'b' },
          { op: 'label', key: 'c', value: 'd' },
        ],
      },
    ],
    [
      `${labels}->>'a'<>'b'`,
      {
        op: 'and',
        filters: [
          { op: 'hasLabel', key: 'a' },
          { op: 'not', filter: { op: 'label', key: 'a', value: 'b' } },
        ],
      },
    ],
    [`${labels}->>'a'<>null`, { op: 'not', filter: { op: 'not', filter: { op: 'hasLabel', key: 'a' } } }],
    [`${labels}->>'env'in('a','b')`, { op: 'labelIn', key: 'env', values: ['a', 'b'] }],
    ["source='S'", { op: 'eq', field: ['source'], value: 'S' }],
    [
      "source='S' and (consumer_name='a' or consumer_name='b')",
      {
        op: 'and',
        filters: [
          { op: 'eq', field: ['source'], value: 'S' },
          {
            op: 'or',
            filters: [
              { op: 'eq', field: ['consumerName'], value: 'a' },
              { op: 'eq', field: ['consumerName'], value: 'b' },
            ],
          },
        ],
      },
    ],
    ['version >= 2', { op: 'ge', field: ['version'], value: 2 }],
    ["resources.name LIKE 'a%'", { op: 'like', field: ['id'], pattern: 'a%' }],
    ["name not ilike 'A%'", { op: 'not', filter: { op: 'ilike', field: ['id'], pattern: 'A%' } }],
    ['version between 1 and 3', { op: 'between', field: ['version'], low: 1, high: 3 }],
    ['status is null', { op: 'isNull', field: ['status'] }],
    ['not status is not null', { op: 'not', filter: { op: 'not', filter: { op: 'isNull', field: ['status'] } } }],
    ["created_at > '2026-01-02'", { op: 'gt', field: ['createdAt'], value: '2026-01-02T00:00:00.000Z' }],
    ["name = 'it''s'", { op: 'eq', field: ['id'], value: "it's" }],
    [
      `status->'data'->'conditions'@>'[{"type":"Applied"}]'`,
      { op: 'contains', field: ['status', 'conditions'], value: [{ type: 'Applied' }] },
    ],
    ["payload->'metadata'->>'name' = 'work'", { op: 'eq', field: ['metadata', 'name'], value: 'work' }],
  ];
  for (const [search, filter] of cases) {
    test(search, () => assert.deepEqual(compile(search), filter));
  }
});

describe('a search that cannot be answered is refused with code 21', () => {
  const cases: readonly string[] = [
    'name',
    "name = ''' ",
    "name = 'a' and",
    "(name = 'a'",
    "nothing = 'a'",
    "other.name = 'a'",
    "name->>'a' = 'b'",
    "payload->'data'->>'manifests' = 'b'",
    `${labels}@>'{'`,
    'name in ()',
    "name = 'a' name = 'b'",
    '1 = 1',
    "name = 'a'; drop table resources",
    "created_at > 'yesterday'",
    `${'('.repeat(100)}name = 'a'${')'.repeat(100)}`,
    Array.from({ length: 2000 }, () => "name = 'a'").join(' or '),
    "name like 'a\\'",
  ];
  for (const search of cases) {
    test(search.slice(0, 60), () => {
      assert.throws(
        () => compile(search),
        (error: unknown) => error instanceof MaestroError && error.code === 21 && /search query/.test(error.message),
      );
    });
  }
});

test('whatever is searched for, the answer is a filter or a refusal', () => {
  const piece = fc.constantFrom(
    ...[
      "'",
      '"',
      '->',
      '->>',
      '@>',
      '(',
      ')',
      ',',
      '=',
      '<>',
      'and',
      'or',
      'not',
      'in',
      'is',
      'null',
      'like',
      'between',
    ],
    ...['name', 'payload', 'status', 'version', "'a'", '1', '-1.5e3', '{}', '\\', ' ', '%', 'true', '\0', '𐀀'],
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
      try {
        compile(pieces.join(' '));
      } catch (error) {
        assert.ok(error instanceof MaestroError && error.code === 21, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});
