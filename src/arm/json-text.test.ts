import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseJson, whereInvalid } from './json-text.ts';

const parse = (text: string, maxDepth = 10) => parseJson(Buffer.from(text), maxDepth);

function message(text: string | Buffer, maxDepth = 10): string {
  const result = parseJson(Buffer.from(text), maxDepth);
  assert.ok(!result.ok);
  return result.message;
}

describe('JSON from outside', () => {
  it('is parsed as JSON.parse does, a byte order mark aside', () => {
    assert.deepEqual(parse('{"a":[1,"x",null]}'), { ok: true, value: { a: [1, 'x', null] } });
    assert.deepEqual(parse('\ufeff{}'), { ok: true, value: {} });
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        // Refused: see below.
        fc.pre(!/__proto__|constructor/.test(text));
        assert.deepEqual(parse(text, 100), { ok: true, value: JSON.parse(text) });
      }),
    );
  });

  it('has an error that says where, without quoting the text', () => {
    assert.match(message('{"password": hunter2}'), /line 1, column 14 \(position 13\)/);
    assert.ok(!message('{"password": hunter2}').includes('hunter2'));
    assert.match(message('{\n  "a": 1,\n  "b": }\n'), /line 3, column 8/);
    assert.match(message('{"a": 1'), /ends too early/);
    assert.match(message('{"a": 1}}'), /position 8/);
    assert.match(message('{"a": 01}'), /position 7/);
    assert.match(message('["\u0001"]'), /position 2/);
    assert.match(message('["\\x"]'), /position 2/);
  });

  it('places the error where text that was broken on purpose is broken', () => {
    fc.assert(
      fc.property(fc.object({ withNullPrototype: false }), fc.nat(), (value, seed) => {
        const text = JSON.stringify(value);
        const cut = seed % text.length;
        const broken = `${text.slice(0, cut)}\u0001${text.slice(cut)}`;
        const position = /position (\d+)/.exec(whereInvalid(broken))?.[1];
        // The place itself, or the start of the word, number or escape that it is in.
        assert.match(text.slice(Number(position), cut), /^[\w.+\\-]*$/);
      }),
    );
  });

  it('is refused when nested too deep, however deep', () => {
    assert.ok(parse('[[[1]]]', 3).ok);
    assert.match(message('[[[[1]]]]', 3), /more than 3 levels/);
    assert.match(message('['.repeat(500_000) + ']'.repeat(500_000)), /more than 10 levels/);
    assert.match(message('{"a":'.repeat(200_000)), /ends too early/);
  });

  it('cannot carry a prototype', () => {
    assert.match(message('{"a":{"__proto__":{"admin":true}}}'), /__proto__/);
    assert.match(message('{"\\u005f_proto__":1}'), /__proto__/);
    assert.match(message('{"constructor":{"prototype":{}}}'), /constructor/);
    assert.ok(parse('{"constructor":"a company that builds houses"}').ok);
  });

  it('must be UTF-8', () => {
    assert.match(message(Buffer.from([0x7b, 0xff, 0x7d])), /UTF-8/);
  });
});
