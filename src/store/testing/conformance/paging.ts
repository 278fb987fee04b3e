import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrderBy } from '../../filter.ts';
import type { Container, Document, Query } from '../../store.ts';
import { inOrder } from './evaluate.ts';
import { type Body, refused, type World } from './world.ts';

/** Pages to the end, doing something after each page. */
export async function paged(
  things: Container<Body>,
  query: Query,
  between: (page: number) => Promise<void> = async () => {},
): Promise<Document<Body>[]> {
  const documents: Document<Body>[] = [];
  let continuation: string | undefined;
  for (let page = 0; page < 1000; page++) {
    const answer = await things.query({ ...query, ...(continuation === undefined ? {} : { continuation }) });
    documents.push(...answer.documents);
    continuation = answer.continuation;
    if (continuation === undefined) return documents;
    await between(page);
  }
  assert.fail('the pages never end');
}

export function paging(world: World): void {
  const numbered = async (count: number): Promise<Container<Body>> => {
    const things = await world.container();
    for (let n = 0; n < count; n++)
      await things.create({ partition: `p${n % 2}`, id: `d${String(n).padStart(3, '0')}` }, { n });
    return things;
  };

  describe('orders', () => {
    const bodies: readonly Body[] = [
      { v: 'b', n: 1 },
      { v: 'a', n: 2 },
      { v: 'a', n: 1 },
      { v: 3 },
      { v: 1 },
      { v: null },
      {},
      { v: true },
      { v: ['a'] },
      { v: { a: 1 } },
      { v: '', n: 'x' },
      { v: '\uff5e' },
      { v: '\u{1f600}' },
      { v: 'B', n: -1.5 },
      { v: -1 },
      { v: 1e21 },
      { v: 0.5 },
    ];
    const fields: readonly (OrderBy['field'] & readonly string[])[] = [['v'], ['n']];
    const orders: OrderBy[][] = [[], [{ field: 'id', type: 'string', direction: 'descending' }]];
    for (const type of ['string', 'number'] as const)
      for (const direction of ['ascending', 'descending'] as const) {
        for (const field of fields) orders.push([{ field, type, direction }]);
        orders.push([
          { field: ['v'], type, direction },
          { field: ['n'], type: 'number', direction: 'descending' },
        ]);
      }
    orders.push([{ field: 'id', type: 'number' }]);

    for (const isIndexed of [false, true])
      it(`put other types and missing values first, ties by partition and id${isIndexed ? ', on indexed fields' : ''}`, async () => {
        const indexes = [
          { field: ['v'], type: 'string' as const },
          { field: ['n'], type: 'number' as const },
        ];
        const things = await world.container(isIndexed ? { indexes } : {});
        const documents: Document<Body>[] = [];
        for (const [at, body] of bodies.entries())
          for (const partition of ['q', 'p'])
            documents.push(await things.create({ partition, id: `d${(at * 7) % bodies.length}` }, body));
        for (const orderBy of orders) {
          const expected = documents.toSorted(inOrder(orderBy)).map(({ partition, id }) => [partition, id]);
          for (const limit of [3, 1000]) {
            const shown = (await paged(things, { orderBy, limit })).map(({ partition, id }) => [partition, id]);
            assert.deepEqual(shown, expected, JSON.stringify(orderBy));
          }
        }
      });

    it('that make no sense are refused', async () => {
      const things = await world.container();
      const wrong: unknown[] = [
        'n',
        [1],
        [{ field: ['n'] }],
        [{ field: ['n'], type: 'boolean' }],
        [{ field: [], type: 'string' }],
        [{ field: ['a"'], type: 'string' }],
        [{ field: ['n'], type: 'number', direction: 'down' }],
        Array(9).fill({ field: ['n'], type: 'number' }),
      ];
      for (const orderBy of wrong) await refused(things.query({ orderBy: orderBy as OrderBy[] }), 'Invalid');
    });
  });

  describe('pages', () => {
    it('hold what was asked, and say when more follows', async () => {
      const things = await numbered(5);
      const first = await things.query({ limit: 2 });
      assert.deepEqual(
        first.documents.map(({ body }) => body.n),
        [0, 2],
      );
      assert(first.continuation);
      assert.equal((await things.query({ limit: 5 })).continuation, undefined);
      assert.equal((await things.query({ limit: 6 })).documents.length, 5);
      assert.equal((await things.query({ partition: 'p1' })).documents.length, 2);
    });

    it('hold 100 when nothing is asked', async () => {
      const things = await numbered(101);
      const { documents, continuation } = await things.query({});
      assert.equal(documents.length, 100);
      assert(continuation);
    });

    it('are refused outside 1 to 1,000, and with an offset that is none', async () => {
      const things = await world.container();
      for (const limit of [0, -1, 1001, 1.5, Number.NaN, '5' as unknown as number])
        await refused(things.query({ limit }), 'Invalid');
      for (const offset of [-1, 0.5, Number.NaN, 2 ** 60]) await refused(things.query({ offset }), 'Invalid');
    });

    it('go by offset and count', async () => {
      const things = await numbered(7);
      const orderBy: OrderBy[] = [{ field: ['n'], type: 'number', direction: 'descending' }];
      const shown = async (offset: number) =>
        (await things.query({ orderBy, offset, limit: 3 })).documents.map(({ body }) => body.n);
      assert.deepEqual(await shown(0), [6, 5, 4]);
      assert.deepEqual(await shown(5), [1, 0]);
      assert.deepEqual(await shown(7), []);
      assert.deepEqual(await shown(1_000_000), []);
      assert.equal(await things.count(), 7);
    });

    it('go on from an offset by continuation', async () => {
      const things = await numbered(7);
      const first = await things.query({ partition: 'p0', offset: 1, limit: 2 });
      assert(first.continuation);
      const second = await things.query({ partition: 'p0', limit: 2, continuation: first.continuation });
      assert.deepEqual(
        [...first.documents, ...second.documents].map(({ body }) => body.n),
        [2, 4, 6],
      );
      await refused(things.query({ partition: 'p0', offset: 1, continuation: first.continuation }), 'Invalid');
    });

    for (const direction of ['ascending', 'descending'] as const)
      it(`shift nothing when documents come and go between them, ${direction}`, async () => {
        const things = await world.container();
        const made: Document<Body>[] = [];
        for (let n = 0; n < 40; n++)
          made.push(
            await things.create({ partition: 'p', id: `d${n}` }, { n: n % 10 === 0 ? null : Math.floor(n / 3) }),
          );
        const gone = new Set<string>();
        const orderBy: OrderBy[] = [{ field: ['n'], type: 'number', direction }];
        let seen = 0;
        const documents = await paged(things, { partition: 'p', orderBy, limit: 4 }, async (page) => {
          seen = (page + 1) * 4;
          await things.create({ partition: 'p', id: `new-low-${page}` }, { n: -5 - page });
          await things.create({ partition: 'p', id: `new-high-${page}` }, { n: 500 + page });
          await things.create({ partition: 'p', id: `new-mid-${page}` }, { n: 6 });
          const victim = made.toSorted(inOrder(orderBy))[seen + 20 - page];
          const shown = made.toSorted(inOrder(orderBy))[page];
          for (const one of [victim, shown])
            if (one && !gone.has(one.id)) {
              gone.add(one.id);
              await things.delete(one);
            }
        });
        const ids = documents.map(({ id }) => id);
        assert.equal(new Set(ids).size, ids.length, 'none is seen twice');
        for (const { id } of made) if (!gone.has(id)) assert(ids.includes(id), `${id} was there all the time`);
        assert.deepEqual(documents.toSorted(inOrder(orderBy)), documents);
      });

    it('may be short of large documents, and still reach them all', async () => {
      const things = await world.container();
      const text = 'x'.repeat(500_000);
      for (let n = 0; n < 24; n++) await things.create({ partition: 'p', id: `d${n}` }, { n: n % 5, text });
      for (const orderBy of [[], [{ field: ['n'], type: 'number', direction: 'descending' }]] as OrderBy[][]) {
        const documents = await paged(things, { orderBy, limit: 1000 });
        assert.deepEqual(documents.toSorted(inOrder(orderBy)), documents);
        assert.equal(new Set(documents.map(({ id }) => id)).size, 24);
      }
    });

    it('go on in another store, on any page size', async () => {
      const spec = { name: world.unique() };
      const things = await world.store.container<Body>(spec);
      for (let n = 0; n < 5; n++) await things.create({ partition: 'p', id: `d${n}` }, { n });
      const { continuation } = await things.query({ limit: 2 });
      assert(continuation);
      const other = await (await world.open()).container<Body>(spec);
      assert.equal((await other.query({ limit: 100, continuation })).documents.length, 3);
    });
  });

  describe('continuations', () => {
    it('are refused when they are not what the store gave', async () => {
      const things = await numbered(5);
      const { continuation } = await things.query({ limit: 2 });
      assert(continuation);
      const flipped = [...continuation].map((letter, at) => {
        const other = letter === 'A' ? 'B' : 'A';
        return continuation.slice(0, at) + other + continuation.slice(at + 1);
      });
      const made = Buffer.concat([Buffer.alloc(32), Buffer.from('[[],"p0","d000"]')]).toString('base64url');
      const wrong: unknown[] = [
        ...flipped,
        made,
        '',
        ' ',
        'x',
        '%%%',
        '{}',
        'é',
        '\0',
        `${continuation}A`,
        `${continuation}=`,
        ` ${continuation}`,
        continuation.slice(0, -1),
        continuation.repeat(2),
        'A'.repeat(1_000_000),
        1,
        null,
        {},
        [continuation],
      ];
      for (const one of wrong)
        await refused(things.query({ limit: 2, continuation: one as string }), 'InvalidContinuation');
      assert.equal((await things.query({ limit: 2, continuation })).documents.length, 2);
    });

    it('are refused for another question', async () => {
      const things = await numbered(5);
      const others = await numbered(5);
      const filter = { op: 'ge', field: ['n'], value: 0 } as const;
      const orderBy = [{ field: ['n'], type: 'number' }] as const;
      const { continuation } = await things.query({ filter, orderBy, limit: 2 });
      assert(continuation);
      const same = { value: 0, field: ['n'], op: 'ge' } as const;
      assert.equal((await things.query({ filter: same, orderBy, continuation })).documents.length, 3);
      const questions: readonly [Container<Body>, Query][] = [
        [others, { filter, orderBy }],
        [things, { filter, orderBy, partition: 'p0' }],
        [things, { orderBy }],
        [things, { filter }],
        [things, { filter: { ...filter, value: 1 }, orderBy }],
        [things, { filter: { ...filter, op: 'gt' }, orderBy }],
        [things, { filter, orderBy: [{ field: ['n'], type: 'number', direction: 'descending' }] }],
        [things, { filter, orderBy: [{ field: ['n'], type: 'string' }] }],
      ];
      for (const [container, query] of questions)
        await refused(container.query({ ...query, continuation }), 'InvalidContinuation');
      const feed = things.changes({ from: { continuation } })[Symbol.asyncIterator]();
      await refused(feed.next(), 'InvalidContinuation');
    });
  });
}
