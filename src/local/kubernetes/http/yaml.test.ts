import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml, YamlTextError } from './yaml.ts';
import { parseYamlOnThread } from './yaml-thread.ts';

const refuses = (text: string, message: string): void =>
  assert.throws(() => parseYaml(text), new YamlTextError(`yaml: ${message}`), text);

test('what contains itself is refused', () => {
  refuses('a: &a [*a,*a]', "anchor 'a' value contains itself");
  refuses('a: &a\n  b: *a\n', "anchor 'a' value contains itself");
  refuses('a: &a [&b [*a, *b]]', "anchor 'a' value contains itself");
  refuses('a: *b', "unknown anchor 'b' referenced");
});

test('aliases stand for the last node of that name', () => {
  const { value } = parseYaml('a: &x 1\nb: *x\nc: &x [2]\nd: *x\n');
  assert.deepEqual(value, { a: 1, b: 1, c: [2], d: [2] });
});

test('aliases cannot make a short text long', { timeout: 60_000 }, () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let name = 1; name < 30; name += 1) {
    lines.push(`a${name}: &a${name} [${Array.from({ length: 9 }, () => `*a${name - 1}`).join(', ')}]`);
  }
  refuses(lines.join('\n'), 'document contains excessive aliasing');
});

test('maps merge, and the last of equal keys counts', () => {
  const text = 'd: &d\n  x: 1\n  z: 1\ne: &e {x: 3}\na:\n  x: 2\n  <<: *d\nb:\n  <<: [*d, *e]\n  z: 2\n';
  const { value, duplicates } = parseYaml(text);
  assert.deepEqual(value, { d: { x: 1, z: 1 }, e: { x: 3 }, a: { x: 1, z: 1 }, b: { x: 1, z: 2 } });
  assert.deepEqual(duplicates, [
    'line 2: key "x" already set in map',
    'line 2: key "x" already set in map',
    'line 10: key "z" already set in map',
  ]);
  refuses('a:\n  <<: 5\n', 'map merge requires map or sequence of maps as the value');
});

test('keys are told apart by what they are', () => {
  const { duplicates } = parseYaml('1: a\n"1": b\n1: c\ntrue: d\nyes: e\n"a b":\n  c\n"a b":\n  d\n');
  assert.deepEqual(duplicates, [
    'line 3: key 1 already set in map',
    'line 5: key true already set in map',
    'line 9: key "a b" already set in map',
  ]);
});

test('any name is a name', () => {
  const { value } = parseYaml('__proto__: {a: 1}\n');
  assert.deepEqual(Object.keys(value as object), ['__proto__']);
});

test('times, sets and sexagesimal numbers stay what is written; bytes are read', () => {
  const { value } = parseYaml('a: 2020-01-01\nb: 1:30\nc: !!set {x: }\nd: !!binary aGk=\n');
  assert.deepEqual(value, { a: '2020-01-01', b: '1:30', c: { x: null }, d: 'hi' });
});

test('what JSON cannot say is refused', () => {
  assert.throws(() => parseYaml('a: -.inf'), new YamlTextError('json: unsupported value: -Inf'));
  refuses('? [a, 1]\n: b', 'invalid map key: []interface {}{"a", 1}');
  refuses('a: \u0001', 'control characters are not allowed');
});

test('syntax errors are told in the words of Go’s library', () => {
  refuses('{a: b: c', "did not find expected ',' or '}'");
  refuses('[}', 'did not find expected node content');
  refuses('x:\n  - [}\n', 'line 1: did not find expected node content');
  refuses('[a', "line 1: did not find expected ',' or ']'");
  refuses('a: 1\n b: 2\n', 'line 2: mapping values are not allowed in this context');
  refuses('a:\n  b: 1\n c: 2\n', 'line 2: did not find expected key');
});

test('a map of many keys takes no longer than they are', { timeout: 60_000 }, () => {
  const count = 60_000;
  const distinct = parseYaml(Array.from({ length: count }, (_, index) => `k${index}: 1\n`).join(''));
  assert.equal(Object.keys(distinct.value as object).length, count);
  assert.deepEqual(distinct.duplicates, []);
  const same = parseYaml('a: 1\n'.repeat(count));
  assert.equal(same.duplicates.length, count - 1);
  assert.equal(same.duplicates.at(-1), `line ${count}: key "a" already set in map`);
});

test('aliases are found without a search', { timeout: 60_000 }, () => {
  const { value } = parseYaml(`a: &a 1\n${Array.from({ length: 30_000 }, (_, index) => `k${index}: *a\n`).join('')}`);
  assert.equal((value as Record<string, unknown>).k29999, 1);
});

test('on a thread a text is read as it is here, and what is wrong is told alike', async () => {
  const text = 'b: 1\na: [x]\nb: 2\n';
  assert.deepEqual(await parseYamlOnThread(text, 'one'), parseYaml(text));
  await assert.rejects(
    parseYamlOnThread('a: &a [*a]', 'one'),
    new YamlTextError("yaml: anchor 'a' value contains itself"),
  );
});

test('while a thread reads others are answered, in turn, and one who sends too much is asked to come back', async () => {
  const order: string[] = [];
  const read = (tenant: string, text: string): Promise<void> =>
    parseYamlOnThread(text, tenant).then(
      () => void order.push(tenant),
      (error: { status?: { code: number } }) => void order.push(`${tenant} ${error.status?.code}`),
    );
  const many = Array.from({ length: 6 }, () => read('one', 'a: 1'));
  await Promise.all([...many, read('two', 'a: 1')]);
  assert.deepEqual(order, ['one 429', 'one', 'two', 'one', 'one', 'one', 'one']);
});
