import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { ArmError } from './errors.ts';
import { type LinkOptions, linkTo, nextLink } from './links.ts';
import { armScope } from './plugin.ts';
import { armServerOptions } from './server-options.ts';

/** The link to an operation and to the next page that a request gets. */
async function linksOf(
  links: LinkOptions,
  url: string,
  referer?: string,
  isArm = true,
): Promise<{ readonly operation: string; readonly next: string }> {
  const app = Fastify(armServerOptions()) as unknown as FastifyInstance;
  const wrong = () => new ArmError(400, 'InvalidParameter', 'api-version');
  const options = {
    authenticate: () => ({ name: 'x', isArm }),
    pathParameters: {},
    apiVersion: { supported: ['2024-01-01'], missing: wrong, unknown: wrong },
    body: { limitBytes: 100 },
    output: { indent: 0, finalNewline: false },
  };
  app.register(
    armScope(options, (scope) => {
      scope.get('/list/:name', (request) => ({
        operation: linkTo(request, links, '/op/1'),
        next: nextLink(request, links, 'to ken'),
      }));
    }),
  );
  const answer = await app.inject({ url, headers: { host: 'evil.example', ...(referer ? { referer } : {}) } });
  await app.close();
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.json();
}

const version = 'api-version=2024-01-01';
const fallback: LinkOptions = { origin: 'https://own.example' };

describe('links', () => {
  it('start from the stated origin when ARM gave no Referer', async () => {
    assert.deepEqual(await linksOf(fallback, `/list/a?${version}&$top=5`), {
      operation: `https://own.example/op/1?${version}`,
      next: `https://own.example/list/a?${version}&$top=5&$skipToken=to%20ken`,
    });
  });

  it('start from ARM’s Referer, with its spelling of the path and the path of a proxy before it', async () => {
    const referer = `https://management.azure.com:444/proxy/LIST/A?${version}&%24skiptoken=old&x=1`;
    assert.deepEqual(await linksOf(fallback, `/list/a?${version}`, referer), {
      operation: `https://management.azure.com:444/proxy/op/1?${version}`,
      next: `https://management.azure.com:444/proxy/LIST/A?${version}&x=1&$skipToken=to%20ken`,
    });
  });

  it('take only the origin of a Referer with another path', async () => {
    assert.deepEqual(await linksOf(fallback, `/list/a?${version}`, 'https://management.azure.com/batch?x=1'), {
      operation: `https://management.azure.com/op/1?${version}`,
      next: `https://management.azure.com/list/a?${version}&$skipToken=to%20ken`,
    });
  });

  it('always carry the api-version', async () => {
    const { next } = await linksOf(fallback, `/list/a?${version}`, 'https://management.azure.com/list/a');
    assert.equal(next, `https://management.azure.com/list/a?${version}&$skipToken=to%20ken`);
  });

  it('do not repeat the Referer or Host of anybody but ARM', async () => {
    const { operation, next } = await linksOf(fallback, `/list/a?${version}`, 'https://evil.example/list/a', false);
    assert.ok(!operation.includes('evil') && !next.includes('evil'));
  });

  it('are http only where that is allowed', async () => {
    const referer = 'http://localhost:1/list/a';
    assert.match((await linksOf(fallback, `/list/a?${version}`, referer)).operation, /^https:\/\/own/);
    const local = { ...fallback, allowHttp: true };
    assert.match((await linksOf(local, `/list/a?${version}`, referer)).operation, /^http:\/\/localhost:1\/op/);
  });

  it('may have an origin that depends on the listener', async () => {
    const origin = ({ protocol }: { protocol: string }) => `${protocol}://localhost:9`;
    assert.match((await linksOf({ origin }, `/list/a?${version}`)).operation, /^http:\/\/localhost:9\/op/);
  });
});
