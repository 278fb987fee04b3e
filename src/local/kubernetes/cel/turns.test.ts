import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import { validateRules } from './rules.ts';
import { beginTurns, checkedInTurns, inTurns } from './turns.ts';

/** Rules that each cost some hundred thousand steps; the last is broken. */
const schema: Schema = {
  type: 'object',
  properties: {
    list: {
      type: 'array',
      items: { type: 'integer' },
      'x-kubernetes-validations': [
        ...Array.from({ length: 10 }, (_, index) => ({ rule: `self.all(x, self.all(y, x + y > ${-1 - index}))` })),
        { rule: 'self.size() == 0', message: 'must be empty' },
      ],
    },
  },
};
const object = (): JsonObject => ({ list: Array.from({ length: 250 }, (_, index) => index) });

interface Checked {
  readonly errors: FieldError[] | undefined;
  readonly turns: number;
}

async function check(objectOfTurn: (turn: number) => JsonObject): Promise<Checked> {
  const progress = beginTurns();
  let turns = 0;
  const errors = await inTurns(progress, () => {
    const value = objectOfTurn(turns);
    turns += 1;
    return checkedInTurns(progress, () => validateRules(schema, value, undefined)?.());
  });
  return { errors, turns };
}

test('rules that take long are checked in turns, between which everybody else has one, and find the same', async () => {
  let others = 0;
  let over = false;
  const other = (): void => {
    others += 1;
    if (!over) setImmediate(other);
  };
  setImmediate(other);
  const { errors, turns } = await check(object);
  over = true;
  assert.ok(turns > 3, `${turns} turns`);
  assert.ok(others >= turns - 1, `${others} of others, ${turns} turns`);
  assert.deepEqual(errors, validateRules(schema, object(), undefined)?.());
  assert.equal(errors?.length, 1);
});

test('an object that others changed meanwhile is checked from the start', async () => {
  const { errors } = await check((turn) => (turn < 3 ? object() : { list: [-5, 5] }));
  assert.deepEqual(errors, validateRules(schema, { list: [-5, 5] }, undefined)?.());
  assert.equal(errors?.length, 11);
});

test('what is quick takes one turn', async () => {
  assert.deepEqual(await check(() => ({ list: [] })), { errors: [], turns: 1 });
});
