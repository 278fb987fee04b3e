import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Secret } from '../../../kit/secret.ts';
import type { ContainerSpec } from '../../store.ts';
import { type Body, refused, type World } from './world.ts';

const key = { partition: 'p', id: 'a' };

function nested(levels: number): Body {
  let body: Body = {};
  for (let level = 1; level < levels; level++) body = { in: body };
  return body;
}

export function refusals(world: World): void {
  describe('what cannot be stored', () => {
    it('refuses keys that are empty, too long, malformed or hold control characters', async () => {
      const things = await world.container();
      const wrong: unknown[] = [
        '',
        'x'.repeat(1024),
        '€'.repeat(342),
        'a\nb',
        'a\0',
        '\u007f',
        '\ud800',
        1,
        null,
        undefined,
      ];
      for (const part of wrong) {
        const text = part as string;
        await refused(things.create({ partition: text, id: 'a' }, {}), 'Invalid');
        await refused(things.create({ partition: 'p', id: text }, {}), 'Invalid');
        await refused(things.read({ partition: text, id: 'a' }), 'Invalid');
        await refused(things.replace({ partition: 'p', id: text, etag: '1' }, {}), 'Invalid');
        await refused(things.delete({ partition: text, id: 'a', etag: '1' }), 'Invalid');
        if (text !== undefined) await refused(things.query({ partition: text }), 'Invalid');
        if (text !== undefined) await refused(things.count({ partition: text }), 'Invalid');
        await refused(things.batch(text, []), 'Invalid');
        await refused(things.batch('p', [{ kind: 'create', id: text, body: {} }]), 'Invalid');
      }
      assert.equal(await things.count(), 0);
    });

    it('refuses bodies that JSON or an engine cannot hold', async () => {
      const things = await world.container();
      const cycle: Body = {};
      cycle.self = cycle;
      const wrong: readonly unknown[] = [
        null,
        undefined,
        'text',
        1,
        [],
        [{}],
        new Date(),
        () => 1,
        new Secret('x'),
        cycle,
        { n: 1n },
        { text: 'a\0b' },
        { 'a\0b': 1 },
        { text: '\ud800' },
        { text: 'x\udc00y' },
        { '\ud800': 1 },
        { deep: { list: [{ text: '\\\0' }] } },
        nested(501),
      ];
      for (const body of wrong) {
        const error = await refused(things.create(key, body as Body), 'Invalid');
        assert(!error.message.includes('a\0b'));
      }
      assert.equal(await things.count(), 0);
      const made = await things.create(key, nested(500));
      for (const body of wrong) await refused(things.replace(made, body as Body), 'Invalid');
      assert.deepEqual(await things.read(key), made);
    });

    it('refuses a document over the limit before writing it', async () => {
      const things = await world.container<{ text: string }>();
      const error = await refused(things.create(key, { text: 'x'.repeat(64 * 1024 * 1024) }), 'TooLarge');
      assert(error.message.length < 300);
      assert.equal(await things.read(key), undefined);
    });

    it('takes a document of a megabyte', async () => {
      const things = await world.container<{ text: string }>();
      const text = '\u{1f600}x"\\'.repeat(140_000);
      await things.create(key, { text });
      assert.equal((await things.read(key))?.body.text, text);
    });

    it('refuses a Secret outside the sealed paths, which would be lost', async () => {
      const things = await world.container();
      const error = await refused(things.create(key, { list: [{ password: new Secret('hunter2') }] }), 'Invalid');
      assert.match(error.message, /list\.0\.password/);
      assert(!error.message.includes('hunter2'));
      await things.create(key, { said: '[redacted]' });
    });

    it('refuses times to live that are none', async () => {
      const things = await world.container();
      for (const ttlSeconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '1' as unknown as number, 2 ** 40])
        await refused(things.create(key, {}, { ttlSeconds }), 'Invalid');
    });
  });

  describe('what is no container', () => {
    const wrong: readonly [string, object][] = [
      ['a name with capitals', { name: 'Things' }],
      ['a name that starts with a digit', { name: '1things' }],
      ['no name', {}],
      ['a name too long', { name: 'a'.repeat(41) }],
      ['a name with a quote', { name: 'a"b' }],
      ['an empty path', { indexes: [{ field: [], type: 'string' }] }],
      ['an empty segment', { indexes: [{ field: ['a', ''], type: 'string' }] }],
      ['a quote in a path', { indexes: [{ field: ['a"b'], type: 'string' }] }],
      ['a control character in a path', { indexes: [{ field: ['a\nb'], type: 'string' }] }],
      ['a star in an index', { indexes: [{ field: ['a', '*'], type: 'string' }] }],
      ['an index of no type', { indexes: [{ field: ['a'], type: 'date' }] }],
      ['a unique key without paths', { uniqueKeys: [{ name: 'u', paths: [] }] }],
      ['a unique key without a proper name', { uniqueKeys: [{ name: 'U"', paths: [['a']] }] }],
      [
        'two unique keys of one name',
        {
          uniqueKeys: [
            { name: 'u', paths: [['a']] },
            { name: 'u', paths: [['b']] },
          ],
        },
      ],
      ['labels at no path', { labels: 'labels' }],
      ['a time to live of nothing', { ttlSeconds: 0 }],
      ['a queue that is no function', { queue: 'subscription' }],
      ['sealed paths without a key ring', { sealed: [['password']] }],
    ];
    for (const [what, part] of wrong) {
      it(`refuses ${what}`, async () => {
        const spec = { name: world.unique(), ...part } as ContainerSpec<Body>;
        if (what === 'no name') Reflect.deleteProperty(spec, 'name');
        await refused(world.store.container(spec), 'Invalid');
      });
    }
  });
}
