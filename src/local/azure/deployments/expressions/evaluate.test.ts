import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../kernel/record.ts';
import { createBudget } from './budget.ts';
import type { Environment } from './environment.ts';
import { evaluateText } from './evaluate.ts';
import { pureFunctions } from './functions/pure.ts';
import { TemplateError } from './template-error.ts';

function value(text: string, units?: number): Json {
  const environment: Environment = {
    budget: createBudget(units),
    locals: new Map(),
    find: (key, namespace) => (namespace === undefined ? pureFunctions[key] : undefined),
  };
  return evaluateText(text, environment);
}

function holds(table: readonly (readonly [string, Json])[]): void {
  for (const [text, expected] of table) assert.deepEqual(value(text), expected, text);
}

function refuses(table: readonly (readonly [string, RegExp])[]): void {
  for (const [text, message] of table) {
    assert.throws(
      () => value(text),
      (error) => error instanceof TemplateError && message.test(error.message),
      text,
    );
  }
}

test('texts that are no expressions stay as they are', () => {
  holds([
    ['plain', 'plain'],
    ['[[escaped]', '[escaped]'],
    ['[open', '[open'],
    ['', ''],
  ]);
});

test('literals, access and functions in any case', () => {
  holds([
    ["['it''s']", "it's"],
    ['[add(2, -5)]', -3],
    ["[createObject('Name', 'x').name]", 'x'],
    ["[createObject('list', createArray(1, 2))['LIST'][1]]", 2],
    ["[TOLOWER('ABC')]", 'abc'],
  ]);
});

test('what cannot be parsed or found is named', () => {
  refuses([
    ['[concat(]', /expected token 'Identifier' and actual 'EndOfData'/],
    ['[foo]', /expected token 'LeftParenthesis' and actual 'EndOfData'/],
    ["['a' 'b']", /expected token 'EndOfData' and actual 'String'/],
    ["['a]", /not closed/],
    ['[nosuch()]', /The template function 'nosuch' is not valid/],
    ['[not()]', /function requires '1' argument\(s\) while '0' were provided/],
    ["[createObject('a', 1).b]", /property 'b' doesn't exist, available properties are 'a'/],
    ['[createArray(1)[1]]', /array index '1' is out of bounds/],
    ["[substring('abc', 2, 5)]", /must refer to a location within the string/],
    ['[div(1, 0)]', /divide by zero/],
    ["[add('1', 2)]", /expects its parameter to be an integer/],
  ]);
});

test('names made of names are those of the real cloud', () => {
  holds([
    ["[uniqueString('test')]", 'rbgf3xv4ufgzg'],
    ["[uniqueString('hello', 'world')]", 'a7wkljktk6wne'],
    ["[uniqueString('abc')]", 'cgtzqvhu4i23s'],
    ["[uniqueString('/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/my-rg')]", 'bmg7c6xu4tw46'],
    ["[uniqueString('foo', 'bar', 'baz')]", 'xzi4ioaxtmth4'],
    ["[guid('a', 'b')]", '2d796349-8c7e-55ec-9624-54ece82ed031'],
  ]);
});

test('only the branch that is taken is evaluated', () => {
  holds([
    ['[if(true(), 1, div(1, 0))]', 1],
    ['[and(false(), div(1, 0))]', false],
    ['[or(true(), div(1, 0))]', true],
    ["[coalesce(null(), 'x', div(1, 0))]", 'x'],
    ["[if(equals('a', 'A'), 1, 2)]", 2],
    ["[bool('true')]", true],
    ['[greaterOrEquals(2, 2)]', true],
    ["[less('a', 'b')]", true],
  ]);
});

test('texts', () => {
  holds([
    ["[concat('a', 1, true())]", 'a1True'],
    ['[concat(createArray(1), createArray(2, 3))]', [1, 2, 3]],
    ["[format('{0}-{1:D3}-{{x}}-{2,4}', 'a', 7, 'b')]", 'a-007-{x}-   b'],
    ["[padLeft(7, 3, '0')]", '007'],
    ["[split('a,b;c', createArray(',', ';'))]", ['a', 'b', 'c']],
    ["[join(createArray('a', 1), '-')]", 'a-1'],
    ["[replace('a.b.c', '.', '')]", 'abc'],
    ["[startsWith('Abc', 'aB')]", true],
    ["[indexOf('test', 'T')]", 0],
    ["[lastIndexOf('test', 't')]", 3],
    ["[string(createObject('a', createArray(1)))]", '{"a":[1]}'],
    ["[base64ToString(base64('grüß'))]", 'grüß'],
    ['[base64ToJson(base64(\'{"a":1}\')).a]', 1],
    ["[dataUriToString(dataUri('Hello'))]", 'Hello'],
    ["[uri('http://contoso.test/firstpath/', 'myscript.sh')]", 'http://contoso.test/firstpath/myscript.sh'],
    ["[uriComponent('http://a/b c')]", 'http%3A%2F%2Fa%2Fb%20c'],
    ["[uriComponentToString('a%20b')]", 'a b'],
    ["[trim('  x ')]", 'x'],
    ["[first('one')]", 'o'],
    ["[last(createArray('x', 'y'))]", 'y'],
  ]);
});

test('arrays and objects', () => {
  holds([
    ['[range(5, 3)]', [5, 6, 7]],
    [
      "[union(createObject('a', createObject('x', 1)), createObject('a', createObject('y', 2), 'b', 3))]",
      { a: { x: 1, y: 2 }, b: 3 },
    ],
    ['[union(createArray(1, 2), createArray(2, 3))]', [1, 2, 3]],
    ['[intersection(createArray(1, 2), createArray(2, 3))]', [2]],
    ["[intersection(createObject('a', 1, 'b', 2), createObject('a', 1, 'b', 3))]", { a: 1 }],
    [
      "[items(createObject('b', 1, 'a', 2))]",
      [
        { key: 'a', value: 2 },
        { key: 'b', value: 1 },
      ],
    ],
    ["[objectKeys(createObject('b', 1, 'a', 2))]", ['a', 'b']],
    ["[contains(createObject('One', 1), 'one')]", true],
    ["[contains('OneTwo', 'one')]", false],
    ['[flatten(createArray(createArray(1), createArray(2, 3)))]', [1, 2, 3]],
    ["[tryGet(createObject('a', createArray(5)), 'a', 0)]", 5],
    ["[tryGet(createObject(), 'a', 'b')]", null],
    ['[tryIndexFromEnd(createArray(1, 2), 1)]', 2],
    ["[shallowMerge(createArray(createObject('a', 1), createObject('a', 2)))]", { a: 2 }],
    ['[empty(createArray())]', true],
    ["[length(createObject('a', 1))]", 1],
    ['[json(\'{"a":[1,null]}\')]', { a: [1, null] }],
    ['[skip(createArray(1, 2, 3), 2)]', [3]],
    ["[take('abc', 2)]", 'ab'],
    ['[max(createArray(1, 5, 3))]', 5],
    ['[mod(-7, 3)]', -1],
  ]);
});

test('lambdas', () => {
  holds([
    [
      "[map(createArray('a', 'b'), lambda('x', 'i', format('{0}{1}', lambdaVariables('X'), lambdaVariables('i'))))]",
      ['a0', 'b1'],
    ],
    ["[filter(range(0, 5), lambda('n', greater(lambdaVariables('n'), 2)))]", [3, 4]],
    ["[reduce(range(1, 4), 0, lambda('sum', 'n', add(lambdaVariables('sum'), lambdaVariables('n'))))]", 10],
    ["[sort(createArray(3, 1, 2), lambda('a', 'b', less(lambdaVariables('a'), lambdaVariables('b'))))]", [1, 2, 3]],
    [
      "[toObject(createArray('x', 'y'), lambda('k', lambdaVariables('k')), lambda('v', toUpper(lambdaVariables('v'))))]",
      { x: 'X', y: 'Y' },
    ],
    [
      "[groupBy(createArray('ab', 'ac', 'b'), lambda('x', take(lambdaVariables('x'), 1)))]",
      { a: ['ab', 'ac'], b: ['b'] },
    ],
    ["[mapValues(createObject('a', 1), lambda('v', add(lambdaVariables('v'), 1)))]", { a: 2 }],
  ]);
});

test('times and address ranges', () => {
  holds([
    ["[dateTimeAdd('2020-04-07 14:53:14Z', 'P3Y')]", '2023-04-07T14:53:14Z'],
    ["[dateTimeAdd('2020-04-07T14:53:14Z', '-P9D')]", '2020-03-29T14:53:14Z'],
    ["[dateTimeAdd('2020-04-07T14:53:14Z', 'PT1H', 'u')]", '2020-04-07 15:53:14Z'],
    ['[dateTimeFromEpoch(1683040573)]', '2023-05-02T15:16:13Z'],
    ["[dateTimeToEpoch('2023-05-02T15:16:13Z')]", 1683040573],
    ["[cidrSubnet('10.144.0.0/20', 24, 2)]", '10.144.2.0/24'],
    ["[cidrHost('10.144.3.0/24', 0)]", '10.144.3.1'],
    ["[cidrSubnet('fdad:3236:5555::/48', 64, 1)]", 'fdad:3236:5555:1::/64'],
    [
      "[parseCidr('10.144.0.5/20')]",
      {
        network: '10.144.0.0',
        netmask: '255.255.240.0',
        broadcast: '10.144.15.255',
        firstUsable: '10.144.0.1',
        lastUsable: '10.144.15.254',
        cidr: 20,
      },
    ],
  ]);
});

test('no expression costs more than its budget', () => {
  const nested = (depth: number): string => {
    let text = 'range(0, 100)';
    for (let at = 0; at < depth; at++) text = `map(range(0, 10000), lambda('x', ${text}))`;
    return `[length(${text})]`;
  };
  refuses([
    [nested(2), /too costly/],
    [`[${'not('.repeat(5000)}true()${')'.repeat(5000)}]`, /nested deeper|length limit/],
    [`[${'not('.repeat(300)}true()${')'.repeat(300)}]`, /nested deeper/],
    [`[concat('${'x'.repeat(30_000)}')]`, /length limit exceeded/],
    [
      `[reduce(range(0, 10000), 'x', lambda('a', 'b', concat(lambdaVariables('a'), lambdaVariables('a'))))]`,
      /longer than the limit/,
    ],
    [
      `[string(reduce(range(0, 40), 'x', lambda('a', 'b', createArray(lambdaVariables('a'), lambdaVariables('a')))))]`,
      /too costly/,
    ],
    [`[json('{"__proto__": {"a": 1}}')]`, /__proto__/],
  ]);
});
