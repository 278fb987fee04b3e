import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Field, Filter, Json } from '../../filter.ts';
import type { Container } from '../../store.ts';
import { matches } from './evaluate.ts';
import { paged } from './paging.ts';
import { type Body, refused, type World } from './world.ts';

const partition = 'p';
const hostile = [
  "'",
  "''",
  "'); DROP TABLE documents; --",
  '"',
  '\\',
  '\\\\',
  '\\"',
  '%',
  '_',
  '$',
  '$1',
  '$' + '{a}',
  '?',
  ':a',
  '@a',
  '--',
  '/*',
  ';',
  '[0]',
  '#-1',
  '{a,b}',
  '\u0001',
  '\n',
  '\t',
  '\u2028',
  '\ufeff',
  'null',
  'true',
  '1',
];

/** Documents a, b, c, … with these bodies. */
async function filled(world: World, bodies: readonly Body[], spec = {}): Promise<Container<Body>> {
  const things = await world.container<Body>(spec);
  for (const [at, body] of bodies.entries()) await things.create({ partition, id: idOf(at) }, body);
  return things;
}

function idOf(at: number): string {
  return String.fromCharCode(0x61 + Math.floor(at / 26), 0x61 + (at % 26));
}

async function found(things: Container<Body>, filter: Filter): Promise<string[]> {
  const documents = await paged(things, { filter, limit: 1000 });
  assert.equal(await things.count({ filter }), documents.length);
  return documents.map(({ id }) => id);
}

/** That exactly these of the bodies are found, and that the negation finds exactly the others. */
async function finds(things: Container<Body>, filter: Filter, ...ids: string[]): Promise<void> {
  assert.deepEqual(await found(things, filter), ids, JSON.stringify(filter));
  const all = (await paged(things, { limit: 1000 })).map(({ id }) => id);
  const others = all.filter((id) => !ids.includes(id));
  assert.deepEqual(await found(things, { op: 'not', filter }), others, `not ${JSON.stringify(filter)}`);
}

const v: Field = ['v'];

export function filters(world: World): void {
  describe('filters', () => {
    // In the order of idOf: aa, ab, ac, …
    const mixed: readonly Body[] = [
      { v: 'text' },
      { v: 1 },
      { v: 1.5 },
      { v: true },
      { v: false },
      { v: null },
      {},
      { v: ['text', 1] },
      { v: { text: 1 } },
      { v: '' },
      { v: '1' },
      { v: 'true' },
      { v: 0 },
    ];

    for (const indexed of [undefined, 'string', 'number', 'boolean'] as const) {
      it(`compare values of their own type only, ${indexed ? `indexed as ${indexed}` : 'without an index'}`, async () => {
        const spec = indexed ? { indexes: [{ field: ['v'], type: indexed }] } : {};
        const things = await filled(world, mixed, spec);
        await finds(things, { op: 'eq', field: v, value: 'text' }, 'aa');
        await finds(things, { op: 'eq', field: v, value: 1 }, 'ab');
        await finds(things, { op: 'eq', field: v, value: '1' }, 'ak');
        await finds(things, { op: 'eq', field: v, value: true }, 'ad');
        await finds(things, { op: 'eq', field: v, value: false }, 'ae');
        await finds(things, { op: 'eq', field: v, value: 'true' }, 'al');
        await finds(things, { op: 'eq', field: v, value: '' }, 'aj');
        await finds(things, { op: 'eq', field: v, value: 'nothing' });
        await finds(things, { op: 'ne', field: v, value: 'text' }, 'aj', 'ak', 'al');
        await finds(things, { op: 'ne', field: v, value: 1 }, 'ac', 'am');
        await finds(things, { op: 'ne', field: v, value: true }, 'ae');
        await finds(things, { op: 'in', field: v, values: ['text', 1, false] }, 'aa', 'ab', 'ae');
        await finds(things, { op: 'in', field: v, values: [] });
        await finds(things, { op: 'lt', field: v, value: 1.5 }, 'ab', 'am');
        await finds(things, { op: 'le', field: v, value: 1.5 }, 'ab', 'ac', 'am');
        await finds(things, { op: 'gt', field: v, value: 0 }, 'ab', 'ac');
        await finds(things, { op: 'ge', field: v, value: 0 }, 'ab', 'ac', 'am');
        await finds(things, { op: 'lt', field: v, value: 'text' }, 'aj', 'ak');
        await finds(things, { op: 'ge', field: v, value: 'text' }, 'aa', 'al');
        await finds(things, { op: 'between', field: v, low: 0, high: 1 }, 'ab', 'am');
        await finds(things, { op: 'between', field: v, low: '1', high: 'text' }, 'aa', 'ak');
        await finds(things, { op: 'between', field: v, low: 1, high: 0 });
        await finds(things, { op: 'prefix', field: v, value: 't' }, 'aa', 'al');
        await finds(things, { op: 'prefix', field: v, value: '' }, 'aa', 'aj', 'ak', 'al');
        await finds(things, { op: 'like', field: v, pattern: 't%' }, 'aa', 'al');
        await finds(things, { op: 'ilike', field: v, pattern: 'T%' }, 'aa', 'al');
        await finds(things, { op: 'like', field: v, pattern: '_' }, 'ak');
        await finds(things, { op: 'isNull', field: ['v'] }, 'af', 'ag');
      });
    }

    it('combine', async () => {
      const things = await filled(world, [{ a: 1 }, { a: 1, b: 2 }, { b: 2 }, {}]);
      const [a, b]: Filter[] = [
        { op: 'eq', field: ['a'], value: 1 },
        { op: 'eq', field: ['b'], value: 2 },
      ];
      assert(a && b);
      await finds(things, { op: 'and', filters: [a, b] }, 'ab');
      await finds(things, { op: 'or', filters: [a, b] }, 'aa', 'ab', 'ac');
      await finds(things, { op: 'and', filters: [a, { op: 'not', filter: b }] }, 'aa');
      await finds(things, { op: 'not', filter: { op: 'not', filter: a } }, 'aa', 'ab');
      await finds(things, { op: 'and', filters: [] }, 'aa', 'ab', 'ac', 'ad');
      await finds(things, { op: 'or', filters: [] });
    });

    it('go by the id', async () => {
      const things = await world.container<Body>();
      for (const id of ['a', 'A', 'ab', 'b', '%', 'ü']) await things.create({ partition, id }, { id: 'x' });
      await finds(things, { op: 'eq', field: 'id', value: 'a' }, 'a');
      await finds(things, { op: 'ne', field: 'id', value: 'a' }, '%', 'A', 'ab', 'b', 'ü');
      await finds(things, { op: 'in', field: 'id', values: ['b', 'A', 'zz', 1] }, 'A', 'b');
      await finds(things, { op: 'gt', field: 'id', value: 'a' }, 'ab', 'b', 'ü');
      await finds(things, { op: 'between', field: 'id', low: 'A', high: 'ab' }, 'A', 'a', 'ab');
      await finds(things, { op: 'prefix', field: 'id', value: 'a' }, 'a', 'ab');
      await finds(things, { op: 'ilike', field: 'id', pattern: 'A%' }, 'A', 'a', 'ab');
      await finds(things, { op: 'like', field: 'id', pattern: '\\%' }, '%');
      await finds(things, { op: 'eq', field: 'id', value: 1 });
      await finds(things, { op: 'eq', field: ['id'], value: 'x' }, '%', 'A', 'a', 'ab', 'b', 'ü');
    });

    it('look into members by name, never into arrays by number', async () => {
      const things = await filled(world, [
        { a: { b: 1 } },
        { a: [1, { b: 1 }] },
        { a: { 0: 1 } },
        { 'a.b': 1 },
        { a: { '-1': 1 } },
        { a: '{"b":1}' },
      ]);
      await finds(things, { op: 'eq', field: ['a', 'b'], value: 1 }, 'aa');
      await finds(things, { op: 'eq', field: ['a', '0'], value: 1 }, 'ac');
      await finds(things, { op: 'eq', field: ['a', '-1'], value: 1 }, 'ae');
      await finds(things, { op: 'eq', field: ['a.b'], value: 1 }, 'ad');
      await finds(things, { op: 'isNull', field: ['a', '0'] }, 'aa', 'ab', 'ad', 'ae', 'af');
      await finds(things, { op: 'contains', field: ['a', '1'], value: { b: 1 } });
      await finds(things, { op: 'eq', field: ['a', 'length'], value: 2 });
    });

    it('compare strings by their UTF-8 bytes', async () => {
      // U+FF5E sorts after U+1F600 by UTF-16 units, before it by UTF-8 bytes; Z comes before a.
      const texts = ['Z', 'a', 'a\u0001', 'ab', 'é', '\uff5e', '\u{1f600}'];
      for (const spec of [{}, { indexes: [{ field: ['v'], type: 'string' }] }]) {
        const things = await filled(
          world,
          texts.map((text) => ({ v: text })),
          spec,
        );
        for (const [at, text] of texts.entries()) {
          const [below, above] = [texts.slice(0, at), texts.slice(at + 1)];
          await finds(things, { op: 'lt', field: v, value: text }, ...below.map((_, nth) => idOf(nth)));
          await finds(things, { op: 'gt', field: v, value: text }, ...above.map((_, nth) => idOf(at + 1 + nth)));
          await finds(things, { op: 'eq', field: v, value: text }, idOf(at));
        }
        await finds(things, { op: 'prefix', field: v, value: 'a' }, 'ab', 'ac', 'ad');
        await finds(things, { op: 'prefix', field: v, value: '\u{1f600}' }, 'ag');
        await finds(things, { op: 'prefix', field: v, value: '\uff5e' }, 'af');
      }
    });

    it('compare composed and decomposed letters as different', async () => {
      const things = await filled(world, [{ v: 'é' }, { v: 'e\u0301' }]);
      await finds(things, { op: 'eq', field: v, value: 'é' }, 'aa');
      await finds(things, { op: 'eq', field: v, value: 'e\u0301' }, 'ab');
    });

    it('compare numbers exactly', async () => {
      const numbers = [
        -1e308,
        -1,
        -5e-324,
        0,
        5e-324,
        0.1,
        0.3,
        0.1 + 0.2,
        1,
        9007199254740991,
        1e21,
        1.7976931348623157e308,
      ];
      for (const spec of [{}, { indexes: [{ field: ['v'], type: 'number' }] }]) {
        const things = await filled(
          world,
          numbers.map((number) => ({ v: number })),
          spec,
        );
        for (const [at, number] of numbers.entries()) {
          await finds(things, { op: 'eq', field: v, value: number }, idOf(at));
          await finds(
            things,
            { op: 'lt', field: v, value: number },
            ...numbers.slice(0, at).map((_, nth) => idOf(nth)),
          );
        }
        await finds(things, { op: 'eq', field: v, value: -0 }, 'ad');
      }
    });

    it('match patterns with %, _ and \\, and i only for A to Z', async () => {
      const texts = [
        'abc',
        'ABC',
        'a%c',
        'a_c',
        'a\\c',
        'É',
        'é',
        'K',
        'k',
        '\u212a',
        'a\nc',
        '\u{1f600}',
        'aXbXc',
        '',
        '[a]c',
        'a*c',
        'ß',
      ];
      const things = await filled(
        world,
        texts.map((text) => ({ v: text })),
      );
      const patterns = [
        'abc',
        'a%',
        '%c',
        'a_c',
        'a\\%c',
        'a\\_c',
        'a\\\\c',
        '%',
        '%%',
        '_',
        '__',
        'a%b%c',
        '',
        'É',
        'é',
        'k',
        'K',
      ];
      patterns.push(
        '\\a\\b\\c',
        '[a]c',
        '[abc]%',
        'a*c',
        'a?c',
        'a.c',
        '%_%',
        '_%_',
        'ß',
        'SS',
        '\\[a]c',
        '*',
        '\u{1f600}',
      );
      for (const op of ['like', 'ilike'] as const)
        for (const pattern of patterns) {
          const filter: Filter = { op, field: v, pattern };
          const expected = texts.flatMap((text, at) => {
            const id = idOf(at);
            return matches(filter, { partition, id, body: { v: text } }) ? [id] : [];
          });
          await finds(things, filter, ...expected);
        }
    });

    it('ask what objects and arrays contain', async () => {
      const things = await filled(world, [
        { v: { a: 1, b: { c: [1, 2, { d: 'x' }] } } },
        { v: [1, 'a', null, [2, 3], { e: true }] },
        { v: 'a' },
        { v: null },
        {},
        { v: {} },
        { v: [] },
        { v: [[1], [2]] },
      ]);
      await finds(things, { op: 'contains', field: ['v'], value: { a: 1 } }, 'aa');
      await finds(things, { op: 'contains', field: ['v'], value: { b: { c: [{ d: 'x' }, 1] } } }, 'aa');
      await finds(things, { op: 'contains', field: ['v'], value: { b: { c: [3] } } });
      await finds(things, { op: 'contains', field: ['v'], value: { a: 1, z: null } });
      await finds(things, { op: 'contains', field: ['v'], value: {} }, 'aa', 'af');
      await finds(things, { op: 'contains', field: ['v'], value: [] }, 'ab', 'ag', 'ah');
      await finds(things, { op: 'contains', field: ['v'], value: ['a', 1, 1] }, 'ab');
      await finds(things, { op: 'contains', field: ['v'], value: [[3]] }, 'ab');
      await finds(things, { op: 'contains', field: ['v'], value: [[2]] }, 'ab', 'ah');
      await finds(things, { op: 'contains', field: ['v'], value: [[1, 2]] });
      await finds(things, { op: 'contains', field: ['v'], value: [null] }, 'ab');
      await finds(things, { op: 'contains', field: ['v'], value: [{}] }, 'ab');
      await finds(things, { op: 'contains', field: ['v'], value: 'a' }, 'ac');
      await finds(things, { op: 'contains', field: ['v'], value: null }, 'ad');
      await finds(things, { op: 'contains', field: ['v'], value: 1 });
      await finds(things, { op: 'contains', field: ['v', 'b', 'c'], value: [2] }, 'aa');
      await finds(things, { op: 'contains', field: [], value: { v: 'a' } }, 'ac');
      await finds(things, { op: 'contains', field: [], value: {} }, 'aa', 'ab', 'ac', 'ad', 'ae', 'af', 'ag', 'ah');
      await finds(things, { op: 'contains', field: [], value: [] });
    });

    it('take any text as an operand, for what it is', async () => {
      const texts = [...hostile, 'x'.repeat(1000)];
      const bodies = texts.map((text) => ({
        v: text,
        labels: { [text]: text },
        nested: { list: [text], [text]: text },
      }));
      const things = await filled(world, bodies, { labels: ['labels'] });
      for (const [at, text] of texts.entries()) {
        const id = idOf(at);
        const escaped = text.replace(/[\\%_]/g, '\\$&');
        await finds(things, { op: 'eq', field: v, value: text }, id);
        await finds(things, { op: 'in', field: v, values: [text, 'no'] }, id);
        await finds(things, { op: 'between', field: v, low: text, high: text }, id);
        await finds(things, { op: 'like', field: v, pattern: escaped }, id);
        await finds(things, { op: 'ilike', field: v, pattern: escaped }, id);
        await finds(things, { op: 'contains', field: ['nested'], value: { list: [text] } }, id);
        await finds(things, { op: 'contains', field: ['nested'], value: { [text]: text } }, id);
        await finds(things, { op: 'contains', field: [], value: { v: text } }, id);
        await finds(things, { op: 'label', key: text, value: text }, id);
        await finds(things, { op: 'labelIn', key: text, values: [text] }, id);
        await finds(things, { op: 'hasLabel', key: text }, id);
        assert((await found(things, { op: 'prefix', field: v, value: text })).includes(id));
        assert((await found(things, { op: 'ge', field: v, value: text })).includes(id));
      }
    });

    it('take any member name without quotes and control characters, for what it is', async () => {
      const names = hostile.filter((name) => !/["\p{Cc}]/u.test(name));
      names.push(
        'a.b',
        'a/b',
        'ü',
        '\u{1f600}',
        ' ',
        '*',
        '$.a',
        '__proto__',
        'constructor',
        '0',
        '-1',
        'x'.repeat(512),
      );
      const bodies = names.map((name) => JSON.parse(`{${JSON.stringify(name)}:{${JSON.stringify(name)}:"here"}}`));
      const things = await filled(world, bodies);
      for (const [at, name] of names.entries()) {
        const field = [name, name];
        const id = idOf(at);
        const others = names.flatMap((_, nth) => (nth === at ? [] : [idOf(nth)]));
        await finds(things, { op: 'eq', field, value: 'here' }, id);
        await finds(things, { op: 'prefix', field, value: 'h' }, id);
        await finds(things, { op: 'contains', field, value: 'here' }, id);
        await finds(things, { op: 'isNull', field }, ...others);
        const { documents } = await things.query({
          orderBy: [{ field, type: 'string', direction: 'descending' }],
          limit: 1,
        });
        assert.equal(documents[0]?.id, id);
      }
    });

    it('index and make unique any such name, and keep them apart', async () => {
      const names = ["it's", 'a\\b', '$.a', 'a.b', '%s', '{a}', 'ü', '--', 'a b', '__proto__'];
      const things = await world.container<Body>({
        indexes: names.map((name) => ({ field: [name, 'x'], type: 'string' })),
        uniqueKeys: [{ name: 'all', paths: names.map((name) => [name, 'x']) }],
      });
      const bodies = names.map((name) => JSON.parse(`{${JSON.stringify(name)}:{"x":"here"}}`));
      for (const [at, body] of bodies.entries()) await things.create({ partition, id: idOf(at) }, body);
      for (const [at, name] of names.entries())
        await finds(things, { op: 'eq', field: [name, 'x'], value: 'here' }, idOf(at));
    });

    it('find very long texts at indexed paths', async () => {
      // Random enough that no compression brings them below an index's limit.
      const long = Array.from({ length: 100_000 }, (_, at) =>
        String.fromCharCode(33 + ((at * at * 7 + (at >> 3)) % 90)),
      ).join('');
      const things = await world.container<Body>({
        indexes: [{ field: ['v'], type: 'string' }],
        uniqueKeys: [{ name: 'v', paths: [['v']] }],
        labels: ['labels'],
      });
      const texts = [`${long}a`, `${long}b`, 'short'];
      for (const [at, text] of texts.entries())
        await things.create({ partition, id: idOf(at) }, { v: text, labels: { long: text.slice(-5000) } });
      await finds(things, { op: 'eq', field: v, value: `${long}a` }, 'aa');
      await finds(things, { op: 'eq', field: v, value: `${long}b` }, 'ab');
      await finds(things, { op: 'ne', field: v, value: `${long}b` }, 'aa', 'ac');
      await finds(things, { op: 'in', field: v, values: [`${long}b`, 'short'] }, 'ab', 'ac');
      await finds(things, { op: 'prefix', field: v, value: long }, 'aa', 'ab');
      await finds(things, { op: 'gt', field: v, value: `${long}a` }, ...(long < 'short' ? ['ab', 'ac'] : ['ab']));
      await finds(things, { op: 'label', key: 'long', value: `${long}b`.slice(-5000) }, 'ab');
      const error = await refused(things.create({ partition, id: 'zz' }, { v: `${long}a` }), 'UniqueKey');
      assert.equal(error.uniqueKey, 'v');
      const pages: string[] = [];
      let continuation: string | undefined;
      do {
        const page = await things.query({
          orderBy: [{ field: v, type: 'string' }],
          limit: 1,
          ...(continuation === undefined ? {} : { continuation }),
        });
        pages.push(...page.documents.map(({ id }) => id));
        continuation = page.continuation;
      } while (continuation !== undefined);
      assert.deepEqual(pages, long < 'short' ? ['aa', 'ab', 'ac'] : ['ac', 'aa', 'ab']);
    });

    it('may be as large as the checks allow', async () => {
      const things = await filled(world, [{ v: 'yes', n: 1 }, { v: 'no' }]);
      const never: Filter[] = Array.from({ length: 996 }, (_, at) => ({ op: 'ilike', field: v, pattern: `%${at}%` }));
      await finds(things, { op: 'or', filters: [...never, { op: 'eq', field: v, value: 'yes' }] }, 'aa');
      const always: Filter[] = never.map((filter) => ({ op: 'not', filter })).slice(0, 490) as Filter[];
      await finds(things, { op: 'and', filters: [...always, { op: 'eq', field: v, value: 'yes' }] }, 'aa');
      let deep: Filter = { op: 'eq', field: v, value: 'yes' };
      for (let level = 1; level < 49; level++) {
        deep =
          level % 2 === 0
            ? { op: 'or', filters: [deep] }
            : { op: 'and', filters: [deep, { op: 'or', filters: [deep] }] };
        if (level > 7) deep = { op: 'or', filters: [{ op: 'eq', field: v, value: 'yes' }] };
      }
      for (let level = 3; level < 49; level++) deep = { op: 'not', filter: deep };
      await finds(things, deep, 'aa');
      const values = Array.from({ length: 999 }, (_, at) => `v${at}`);
      const lists: Filter[] = Array.from({ length: 9 }, () => ({ op: 'in', field: v, values }));
      await finds(things, { op: 'or', filters: [...lists, { op: 'in', field: v, values: [...values, 'yes'] }] }, 'aa');
      const list = Array.from({ length: 2000 }, (_, at) => at);
      await finds(things, { op: 'contains', field: [], value: { n: 1, list } });
    });

    it('are confined to the partition that is asked', async () => {
      const things = await world.container<Body>();
      await things.create({ partition: 'p', id: 'a' }, { v: 1 });
      await things.create({ partition: 'q', id: 'b' }, { v: 1 });
      const filter: Filter = {
        op: 'or',
        filters: [
          { op: 'eq', field: v, value: 1 },
          { op: 'eq', field: v, value: 2 },
        ],
      };
      assert.deepEqual(
        (await things.query({ partition: 'q', filter })).documents.map(({ id }) => id),
        ['b'],
      );
      assert.equal(await things.count({ partition: 'p', filter }), 1);
      assert.equal(await things.count({ partition: 'r', filter }), 0);
      assert.equal(await things.count({ partition: 'q' }), 1);
      assert.equal(await things.count(), 2);
    });
  });

  describe('filters that make no sense', () => {
    const field = ['v'];
    const wrong: readonly [what: string, filter: unknown, culprit: RegExp][] = [
      ['no filter', 1, /^filter must/],
      ['no op', {}, /filter\.op/],
      ['an unknown op', { op: 'toString', field, value: 1 }, /filter\.op/],
      ['no field', { op: 'eq', value: 1 }, /filter\.field/],
      ['a text as field', { op: 'eq', field: 'v', value: 1 }, /filter\.field/],
      ['an empty path', { op: 'eq', field: [], value: 1 }, /filter\.field/],
      ['an empty segment', { op: 'eq', field: ['a', ''], value: 1 }, /filter\.field\[1\]/],
      ['a quote in a segment', { op: 'eq', field: ['a"b'], value: 1 }, /filter\.field\[0\]/],
      ['a number as segment', { op: 'eq', field: ['a', 0], value: 1 }, /filter\.field\[1\]/],
      ['a null operand', { op: 'eq', field, value: null }, /filter\.value/],
      ['an object operand', { op: 'eq', field, value: {} }, /filter\.value/],
      ['no operand', { op: 'ne', field }, /filter\.value/],
      ['a boolean range', { op: 'lt', field, value: true }, /filter\.value/],
      ['an infinite number', { op: 'gt', field, value: Number.POSITIVE_INFINITY }, /filter\.value/],
      ['not a number', { op: 'eq', field, value: Number.NaN }, /filter\.value/],
      ['a NUL character', { op: 'eq', field, value: 'a\0' }, /filter\.value/],
      ['half a surrogate pair', { op: 'prefix', field, value: '\ud800' }, /filter\.value/],
      ['ends of two types', { op: 'between', field, low: 1, high: '2' }, /filter\.high/],
      ['a prefix that is no text', { op: 'prefix', field, value: 1 }, /filter\.value/],
      ['a pattern that ends in a backslash', { op: 'like', field, pattern: 'a\\\\\\' }, /filter\.pattern/],
      ['a pattern without end', { op: 'ilike', field, pattern: '%a'.repeat(3000) }, /filter\.pattern/],
      ['a list that is none', { op: 'in', field, values: 'abc' }, /filter\.values/],
      ['a null in a list', { op: 'in', field, values: [1, null] }, /filter\.values\[1\]/],
      ['too long a list', { op: 'in', field, values: Array(1001).fill(1) }, /filter\.values/],
      ['isNull of the id', { op: 'isNull', field: 'id' }, /filter\.field/],
      ['containment of the id', { op: 'contains', field: 'id', value: 1 }, /filter\.field/],
      ['containment of what is no JSON', { op: 'contains', field, value: { a: undefined } }, /filter\.value/],
      ['containment of a date', { op: 'contains', field, value: new Date() }, /filter\.value/],
      ['containment nested too deep', { op: 'contains', field, value: nested(17) }, /filter\.value/],
      ['containment of a NUL', { op: 'contains', field, value: { 'a\0': 1 } }, /filter\.value/],
      ['labels that are not declared', { op: 'hasLabel', key: 'a' }, /declares no labels/],
      ['not of nothing', { op: 'not' }, /filter\.filter/],
      ['and of nothing', { op: 'and' }, /filter\.filters/],
      ['a wrong part', { op: 'and', filters: [{ op: 'eq', field, value: 1 }, null] }, /filter\.filters\[1\]/],
      ['too many parts', { op: 'or', filters: Array(1000).fill({ op: 'eq', field, value: 1 }) }, /1000 conditions/],
    ];
    for (const [what, filter, culprit] of wrong)
      it(`are refused: ${what}`, async () => {
        const things = await world.container();
        for (const ask of [things.query({ filter: filter as Filter }), things.count({ filter: filter as Filter })])
          assert.match((await refused(ask, 'Invalid')).message, culprit);
      });

    it('are refused: too deep', async () => {
      const things = await world.container();
      let filter: Filter = { op: 'eq', field, value: 1 };
      let value: Body = {};
      for (let level = 0; level < 50; level++) {
        filter = { op: 'not', filter };
        value = { v: value };
      }
      assert.match((await refused(things.query({ filter }), 'Invalid')).message, /deeper/);
      const deep: Filter = { op: 'contains', field, value: value as never };
      assert.match((await refused(things.query({ filter: deep }), 'Invalid')).message, /deeper/);
    });
  });
}

function nested(levels: number): Json {
  return levels === 0 ? 1 : [nested(levels - 1)];
}
