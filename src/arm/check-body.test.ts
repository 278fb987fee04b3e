import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Type } from 'typebox';
import { bodyErrors, checkBody } from './check-body.ts';
import { ArmError } from './errors.ts';
import { Enum, MapOf, Nullable, SecretText } from './schema.ts';

const Body = Type.Object(
  {
    location: Type.String({ minLength: 1 }),
    tags: Type.Optional(MapOf(Type.String({ maxLength: 3 }), { maxProperties: 2 })),
    properties: Type.Object(
      {
        version: Type.String({ pattern: '^[0-9]+\\.[0-9]+$', 'x-ms-pattern-message': 'must be MAJOR.MINOR' }),
        replicas: Type.Optional(Type.Integer({ minimum: 0, maximum: 5 })),
        visibility: Type.Optional(Enum(['Public', 'Private'])),
        note: Type.Optional(Nullable(Type.String())),
        pullSecret: Type.Optional(SecretText({ maxLength: 5 })),
        workerProfiles: Type.Optional(
          Type.Array(Type.Object({ name: Type.String({ minLength: 1 }) }, { additionalProperties: false }), {
            maxItems: 2,
          }),
        ),
        id: Type.Optional(Type.String({ format: 'uuid' })),
        disk: Type.Optional(
          Type.Union([
            Type.Object({ kind: Type.Literal('Managed'), sizeGiB: Type.Integer() }),
            Type.Object({ kind: Type.Literal('Ephemeral'), placement: Type.String() }),
          ]),
        ),
        count: Type.Optional(Type.Union([Type.Integer(), Type.Literal('auto')])),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);

const good = { location: 'westeurope', properties: { version: '4.20' } };
const withProperties = (properties: object) => ({ ...good, properties: { ...good.properties, ...properties } });

function errorsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(bodyErrors(Body, value).map(({ target, message }) => [target, message]));
}

function thrown(value: unknown): ArmError {
  try {
    checkBody(Body, value);
  } catch (error) {
    assert.ok(error instanceof ArmError);
    return error;
  }
  return assert.fail('nothing was thrown');
}

describe('body checking', () => {
  it('gives back a body that fits, untouched', () => {
    const body = withProperties({ note: null, replicas: 3, disk: { kind: 'Managed', sizeGiB: 64 }, count: 'auto' });
    assert.equal(checkBody(Body, body), body);
  });

  it('reports one error as itself', () => {
    const error = thrown({ location: 'x', properties: { version: 'four' } });
    assert.deepEqual(
      [error.status, error.code, error.target, error.message],
      [400, 'InvalidRequestContent', 'properties.version', 'Invalid value: "four": must be MAJOR.MINOR'],
    );
  });

  it('reports every error at once', () => {
    const error = thrown({
      properties: {
        version: 4.2,
        replicas: '3',
        visibility: 'Hidden',
        note: 5,
        workerProfiles: [{ name: 'a' }, { name: '', size: 1 }],
        id: 'x',
        extra: true,
      },
      tags: { 'a.b/c': 'toolong' },
    });
    assert.equal(error.code, 'MultipleErrorsOccurred');
    assert.equal(error.message, '10 errors occurred');
    assert.deepEqual(Object.fromEntries(error.details.map(({ target, message }) => [target, message])), {
      location: 'Required value',
      'tags[a.b/c]': 'Too long: may not be more than 3 characters',
      'properties.version': 'Invalid value: 4.2: must be a string',
      'properties.replicas': 'Invalid value: "3": must be an integer',
      'properties.visibility': 'Unsupported value: "Hidden": supported values: "Public", "Private"',
      'properties.note': 'Invalid value: 5: must be a string',
      'properties.workerProfiles[1].name': 'Required value',
      'properties.workerProfiles[1].size': 'Forbidden: unknown field',
      'properties.id': 'Invalid value: "x": must be a valid uuid',
      'properties.extra': 'Forbidden: unknown field',
    });
    assert.ok(error.details.every(({ code }) => code === 'InvalidRequestContent'));
  });

  it('coerces nothing and says when a number is out of range', () => {
    assert.deepEqual(errorsOf(withProperties({ replicas: 9 })), {
      'properties.replicas': 'Invalid value: 9: must be less than or equal to 5',
    });
    assert.deepEqual(errorsOf(withProperties({ replicas: 1.5 })), {
      'properties.replicas': 'Invalid value: 1.5: must be an integer',
    });
    assert.deepEqual(errorsOf(withProperties({ replicas: null })), {
      'properties.replicas': 'Invalid value: null: must be an integer, not null',
    });
  });

  it('counts what is too many', () => {
    const workerProfiles = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
    assert.deepEqual(errorsOf(withProperties({ workerProfiles })), {
      'properties.workerProfiles': 'Too many: 3: must have at most 2 items',
    });
  });

  it('reports the branch of a union that is meant', () => {
    assert.deepEqual(errorsOf(withProperties({ disk: { kind: 'Managed', sizeGiB: 'x' } })), {
      'properties.disk.sizeGiB': 'Invalid value: "x": must be an integer',
    });
    assert.deepEqual(errorsOf(withProperties({ disk: { kind: 'Other' } })), {
      'properties.disk.kind': 'Unsupported value: "Other": supported values: "Managed", "Ephemeral"',
    });
    assert.deepEqual(errorsOf(withProperties({ disk: {} })), { 'properties.disk.kind': 'Required value' });
    assert.deepEqual(errorsOf(withProperties({ disk: 3 })), {
      'properties.disk': 'Invalid value: 3: must be an object',
    });
  });

  it('knows the limits of lists, maps, numbers and constants', () => {
    const Limits = Type.Object({
      list: Type.Array(Type.String(), { minItems: 2, uniqueItems: true }),
      map: MapOf(Type.Integer(), { maxProperties: 1 }),
      some: Type.Object({}, { minProperties: 1 }),
      above: Type.Number({ exclusiveMinimum: 0 }),
      below: Type.Number({ exclusiveMaximum: 10, multipleOf: 2 }),
      mode: Type.Literal('On'),
      level: Type.Union([Type.Literal('Low'), Type.Literal('High')]),
      both: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]),
      free: Type.Union([Type.String(), Type.Integer()]),
    });
    const found = bodyErrors(Limits, {
      list: ['a', 'a'],
      map: { x: 1, 'y.z': 'two' },
      some: {},
      above: 0,
      below: 11,
      mode: 'Off',
      level: 'Middle',
      both: { a: 'x' },
      free: true,
    });
    assert.deepEqual(
      Object.fromEntries(found.map(({ target, message }) => [`${target} ${message.split(':')[0]}`, message])),
      {
        'list[1] Duplicate value': 'Duplicate value: "a"',
        'map Too many': 'Too many: 2: must have at most 1 items',
        'map[y.z] Invalid value': 'Invalid value: "two": must be an integer',
        'some Invalid value': 'Invalid value: object: must have at least 1 members',
        'above Invalid value': 'Invalid value: 0: must be greater than 0',
        'below Invalid value': 'Invalid value: 11: must be a multiple of 2',
        'mode Unsupported value': 'Unsupported value: "Off": supported values: "On"',
        'level Unsupported value': 'Unsupported value: "Middle": supported values: "Low", "High"',
        'both.b Required value': 'Required value',
        'free Invalid value': 'Invalid value: true: must be a string or an integer',
      },
    );
    assert.match(
      bodyErrors(Type.Object({ list: Type.Array(Type.Any(), { minItems: 2 }) }), { list: [] })[0]?.message ?? '',
      /at least 2 items/,
    );
  });

  it('never shows a secret', () => {
    assert.deepEqual(errorsOf(withProperties({ pullSecret: 'hunter2' })), {
      'properties.pullSecret': 'Too long: may not be more than 5 characters',
    });
    assert.deepEqual(errorsOf(withProperties({ pullSecret: 12345 })), {
      'properties.pullSecret': 'Invalid value: [redacted]: must be a string',
    });
  });

  it('never shows what is inside a secret, or part of it by any branch', () => {
    const secret = { 'x-ms-secret': true } as const;
    const kept = Type.Object({ kind: Type.Literal('a'), code: Type.String({ pattern: '^x$' }) });
    const Hidden = Type.Object({
      object: Type.Object({ pin: Type.Integer({ maximum: 5 }) }, secret),
      list: Type.Array(Type.String({ pattern: '^x$' }), { ...secret, uniqueItems: true }),
      map: MapOf(Type.String({ pattern: '^x$' }), secret),
      either: Type.Union([Type.String({ pattern: '^x$' }), Type.Integer()], secret),
      branch: Type.Union([Type.String({ pattern: '^x$', ...secret }), Type.Integer()]),
      all: Type.Unsafe<string>({ type: 'string', allOf: [secret, { pattern: '^x$' }] }),
      items: Type.Array(Type.Unsafe<string>({ allOf: [{ type: 'string', ...secret }] }), { uniqueItems: true }),
      chosen: Type.Union([kept, Type.Object({ kind: Type.Literal('b') })], secret),
    });
    const errors = bodyErrors(Hidden, {
      object: { pin: 7777 },
      list: ['hunter2', 'hunter2'],
      map: { a: 'hunter2' },
      either: 'hunter2',
      branch: 'hunter2',
      all: 'hunter2',
      items: ['hunter2', 'hunter2'],
      chosen: { kind: 'hunter2', code: 'hunter2' },
    });
    const places = ['object.pin', 'list[0]', 'list[1]', 'list[1]', 'map[a]', 'either', 'branch', 'all', 'items[1]'];
    assert.deepEqual(
      errors.map(({ target }) => target),
      [...places, 'chosen.kind'],
    );
    for (const { target, message } of errors) assert.match(message, /\[redacted\]/, target);
    assert.ok(!/hunter2|7777/.test(JSON.stringify(errors)));
  });

  it('names a number that JSON cannot show', () => {
    const Amount = Type.Object({ amount: Type.Number(), count: Type.Integer() });
    assert.deepEqual(bodyErrors(Amount, JSON.parse('{"amount": 1e999, "count": -1e999}')), [
      { target: 'amount', message: 'Invalid value: Infinity: must be a number' },
      { target: 'count', message: 'Invalid value: -Infinity: must be an integer' },
    ]);
  });

  it('stops looking once there are more errors than anybody counts', () => {
    const Wide = Type.Object({
      list: Type.Optional(Type.Array(Type.Integer(), { uniqueItems: true })),
      either: Type.Optional(Type.Union([Type.Array(Type.Integer()), Type.Array(Type.Boolean())])),
      map: Type.Optional(Type.Object({}, { additionalProperties: false })),
    });
    const list = Array.from({ length: 1_300_000 }, () => 'x');
    for (const value of [{ list }, { either: list }, { list, either: list, map: { ...list.slice(0, 5000) } }]) {
      assert.equal(bodyErrors(Wide, value).length, 1001);
    }
    assert.throws(() => checkBody(Wide, { list }), {
      code: 'MultipleErrorsOccurred',
      message: 'more than 1000 errors occurred, of which the first 100 are listed',
    });
    const thousand = Array.from({ length: 1000 }, (_, i) => `${i}`);
    assert.throws(() => checkBody(Wide, { list: thousand }), { message: /^1000 errors occurred/ });
  });

  it('shortens long values and lists at most 100 errors', () => {
    const error = thrown({ location: 'x', properties: { version: 'x'.repeat(100_000) } });
    assert.ok(error.message.length < 300);
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`m${i}`, i]));
    const all = thrown({ ...good, ...many });
    assert.equal(all.details.length, 100);
    assert.equal(all.message, '150 errors occurred, of which the first 100 are listed');
  });

  it('counts characters, not what a screen shows as one', () => {
    const Short = Type.Object({ a: Type.String({ maxLength: 3 }) });
    assert.equal(bodyErrors(Short, { a: 'e\u0301\u0301\u0301' }).length, 1);
    assert.equal(bodyErrors(Short, { a: '😀😀😀' }).length, 0);
  });

  it('takes a missing body as a missing value', () => {
    assert.deepEqual([thrown(undefined).target, thrown(undefined).message], [undefined, 'Required value']);
    assert.equal(thrown(null).message, 'Invalid value: null: must be an object, not null');
  });

  it('agrees with itself: a value either fits or has errors, and never throws anything else', () => {
    const anything = fc.record(
      {
        location: fc.oneof(fc.string(), fc.jsonValue()),
        tags: fc.jsonValue(),
        properties: fc.oneof(
          fc.jsonValue(),
          fc.record(
            {
              version: fc.oneof(fc.constant('4.20'), fc.jsonValue()),
              replicas: fc.jsonValue(),
              disk: fc.jsonValue(),
              count: fc.jsonValue(),
              note: fc.jsonValue(),
            },
            { requiredKeys: [] },
          ),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(anything, (value) => {
        const errors = bodyErrors(Body, value);
        for (const { message } of errors)
          assert.notEqual(message, 'Invalid value: the content does not have the expected form');
      }),
      { numRuns: 500 },
    );
  });

  it('has helpers whose JSON is plain OpenAPI', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(Enum(['A', 'B']))), { type: 'string', enum: ['A', 'B'] });
    assert.deepEqual(JSON.parse(JSON.stringify(Nullable(Type.String()))), { type: 'string', nullable: true });
    assert.deepEqual(JSON.parse(JSON.stringify(MapOf(Type.Integer()))), {
      type: 'object',
      additionalProperties: { type: 'integer' },
    });
  });
});
