import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { armCaller, defaultSubscriptions, demoProvider, groupPath, subscriptionId } from './testing/demo-provider.ts';
import { type DemoStore, demoStore } from './testing/demo-store.ts';

const list = `${groupPath}/providers/Demo.Widgets/widgets`;
const version = '?api-version=2024-01-01';
const otherSubscription = '22222222-2222-3333-4444-555555555555';

let store: DemoStore;
let app: FastifyInstance;

before(async () => {
  store = await demoStore();
  const subscriptions = defaultSubscriptions().set(otherSubscription, { state: 'Registered' });
  app = demoProvider({ container: store.container, subscriptions });
  for (let i = 0; i < 8; i++) {
    const payload = { location: 'westeurope', properties: { size: 1 } };
    await app.inject({ method: 'PUT', url: `${list}/w${i}${version}`, payload });
  }
});
after(async () => {
  await app.close();
  await store.close();
});

const get = async (url: string, headers: Record<string, string> = {}) => {
  const answer = await app.inject({ url, headers });
  return { status: answer.statusCode, ...answer.json() };
};
const local = (link: string) => link.slice(new URL(link).origin.length);
const tokenOf = (link: string) => new URL(link).searchParams.get('$skipToken') ?? '';

async function names(url: string, headers: Record<string, string> = {}): Promise<string[]> {
  const found: string[] = [];
  for (let next: string | undefined = url; next !== undefined; ) {
    const page: { value: { name: string }[]; nextLink?: string } = await get(next, headers);
    found.push(...page.value.map(({ name }) => name));
    next = page.nextLink === undefined ? undefined : local(page.nextLink);
  }
  return found;
}

describe('lists', () => {
  it('come page by page, each item once', async () => {
    const page = await get(`${list}${version}`);
    assert.equal(page.value.length, 3);
    assert.match(page.nextLink, /^https:\/\/demo\.example\/subscriptions\//);
    assert.deepEqual((await names(`${list}${version}`)).sort(), ['w0', 'w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7']);
  });

  it('give as few as $top asks for and never more than a page', async () => {
    assert.equal((await get(`${list}${version}&$top=2`)).value.length, 2);
    assert.equal((await get(`${list}${version}&%24TOP=1000`)).value.length, 3);
    assert.equal((await names(`${list}${version}&$top=2`)).length, 8);
  });

  it('refuse a $top that is not a positive whole number', async () => {
    for (const top of ['0', '-1', '1.5', 'x', '', '99999999999', '1&$top=1']) {
      const answer = await get(`${list}${version}&$top=${top}`);
      assert.deepEqual([answer.status, answer.error.code, answer.error.target], [400, 'InvalidParameter', '$top'], top);
    }
  });

  it('link to where the customer came from, with the query that was asked', async () => {
    const referer = `https://user:p!w@management.azure.com/front${list}${version}&$top=2&$skipToken=old#frag`;
    const { nextLink } = await get(`${list}${version}&$top=2`, { ...armCaller, referer });
    const url = new URL(nextLink);
    assert.equal(url.origin + url.pathname, `https://management.azure.com/front${list}`);
    assert.deepEqual([...url.searchParams.keys()], ['api-version', '$top', '$skipToken']);
    assert.notEqual(tokenOf(nextLink), 'old');
    assert.ok(!nextLink.includes('p!w') && !nextLink.includes('#'));
  });

  it('ignore a Referer that is not https or not a URL, even from ARM', async () => {
    for (const referer of ['http://management.azure.com/', 'javascript:alert(1)', 'nonsense', '//x']) {
      const { nextLink } = await get(`${list}${version}`, { ...armCaller, referer });
      assert.match(nextLink, /^https:\/\/demo\.example\//);
    }
  });

  it('take a token only for the list and tenant it was made for, in any case of the path', async () => {
    const { nextLink } = await get(`${list}${version}`);
    const token = encodeURIComponent(tokenOf(nextLink));
    assert.equal((await get(`${list.toUpperCase()}/${version}&$SKIPTOKEN=${token}`)).status, 200);
    const foreign = [
      `${list.replace('Group-One', 'Group-Two')}${version}&$skipToken=${token}`,
      `${list.replace(subscriptionId, otherSubscription)}${version}&$skipToken=${token}`,
      `${list}${version}&$filter=x&$skipToken=${token}`,
    ];
    for (const url of foreign) assert.deepEqual((await get(url)).error?.code, 'InvalidParameter', url);
    const tenant = { ...armCaller, 'x-ms-home-tenant-id': 'bbbbbbbb-0000-0000-0000-000000000001' };
    assert.equal((await get(`${list}${version}&$skipToken=${token}`, tenant)).error.code, 'InvalidParameter');
  });

  it('answer any other token with 400, never 500', async () => {
    const { nextLink } = await get(`${list}${version}`);
    const token = tokenOf(nextLink);
    const changed = fc
      .nat(token.length - 1)
      .map((at) => token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1));
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          changed,
          fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text.isWellFormed()),
        ),
        async (text) => {
          const answer = await get(`${list}${version}&$skipToken=${encodeURIComponent(text)}`);
          assert.deepEqual([answer.status, answer.error.target], [400, '$skipToken']);
        },
      ),
      { numRuns: 150 },
    );
  });
});
