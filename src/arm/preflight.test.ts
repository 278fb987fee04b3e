import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { invalidParameter } from './errors.ts';
import { preflight } from './preflight.ts';

const options = {
  types: {
    'demo.x/widgets': {
      apiVersions: ['2024-01-01'],
      validate: ({ members }: { members: Readonly<Record<string, unknown>> }) => {
        if (members.location === 'boom') throw new Error('secret');
        if (members.location === undefined) throw invalidParameter('no location', 'location');
        return members.size === 0 ? [{ code: 'InvalidParameter', message: 'too small', target: 'size' }] : [];
      },
    },
  },
};
const widget = { name: 'w', type: 'Demo.X/Widgets', apiVersion: '2024-01-01', location: 'westeurope' };
const check = (...resources: unknown[]) => preflight({ resources }, options);

describe('preflight', () => {
  it('passes what is right and what is somebody else’s', async () => {
    assert.deepEqual(await check(widget, { type: 'Other.X/y', name: 1 }), { status: 'Succeeded' });
    assert.deepEqual(await check(), { status: 'Succeeded' });
  });

  it('skips what a template has yet to fill in', async () => {
    assert.deepEqual(await check({ ...widget, size: 0, location: "[parameters('location')]" }), {
      status: 'Succeeded',
    });
    assert.deepEqual(await check({ ...widget, size: 0, tags: { "[concat('a')]": 1 } }), { status: 'Succeeded' });
  });

  it('reports the one resource that fails as the error itself', async () => {
    assert.deepEqual(await check(widget, { ...widget, id: '/the/id', size: 0 }), {
      status: 'Failed',
      error: {
        code: 'InvalidParameter',
        message: "Content validation failed for 'w'",
        target: '/the/id',
        details: [{ code: 'InvalidParameter', message: 'too small', target: 'size' }],
      },
    });
  });

  it('reports all that fail, malformed ones too', async () => {
    const { location: _, ...homeless } = widget;
    const answer = await check(
      1,
      {},
      { ...widget, name: 7 },
      { ...widget, apiVersion: '1999-01-01' },
      homeless,
      widget,
    );
    assert.ok(answer.status === 'Failed');
    assert.equal(answer.error.code, 'MultipleErrorsOccurred');
    assert.deepEqual(
      answer.error.details?.map(({ target }) => target),
      ['resources[0]', 'resources[1].type', 'resources[2].name', 'resources[3]', 'resources[4]'],
    );
  });

  it('fails on a body of another form', async () => {
    for (const body of [undefined, null, [], 'x', { resources: {} }]) {
      assert.equal((await preflight(body, options)).status, 'Failed');
    }
  });

  it('keeps the detail of a validator that broke to the operator', async () => {
    const seen: unknown[] = [];
    const answer = await preflight(
      { resources: [{ ...widget, location: 'boom' }] },
      { ...options, onError: (e) => seen.push(e) },
    );
    assert.equal(seen.length, 1);
    assert.ok(!JSON.stringify(answer).includes('secret'));
    assert.equal(answer.status, 'Failed');
  });
});
