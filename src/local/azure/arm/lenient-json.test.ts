import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseLenientJson } from './lenient-json.ts';

const parse = (text: string) => parseLenientJson(Buffer.from(text), 20);

test('what the Azure CLI sends around a template is understood', () => {
  const text = `{"properties": {"mode": "Incremental", template:{
    // a comment
    "contentVersion": '1.0.0.0', /* another */
    "note": "over
two lines, with \\"quotes\\"",
    "list": [1, -2.5e3, true, null,],
  }}}`;
  assert.deepEqual(parse(text), {
    ok: true,
    value: {
      properties: {
        mode: 'Incremental',
        template: {
          contentVersion: '1.0.0.0',
          note: 'over\ntwo lines, with "quotes"',
          list: [1, -2500, true, null],
        },
      },
    },
  });
});

test('comments and commas inside texts are text', () => {
  assert.deepEqual(parse(`{a: "// no comment, /* none */", b: 'it''s'}`).ok, false);
  assert.deepEqual(parse(`{a: "// no comment, /* none */", b: 'say "it\\'s"'}`), {
    ok: true,
    value: { a: '// no comment, /* none */', b: 'say "it\'s"' },
  });
});

test('what is no JSON by any reading is refused, in bounded time', () => {
  for (const text of ['{', '{a:}', '{"a" "b"}', '/*', "'", '{a:b c}', '@', '{"__proto__":{}}', '/*'.repeat(50_000)]) {
    assert.equal(parse(text).ok, false, text.slice(0, 20));
  }
  assert.equal(parse(`${'{a:'.repeat(30)}1${'}'.repeat(30)}`).ok, false, 'the depth is bounded');
});

test('strict JSON means the same', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      fc.pre(!text.includes('__proto__'));
      assert.deepEqual(parse(text), { ok: true, value: JSON.parse(text) });
      assert.deepEqual(parse(`${text} // end`), { ok: true, value: JSON.parse(text) });
    }),
  );
});
