import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { ArmError, forbidden } from './errors.ts';
import { type ArmOptions, armScope } from './plugin.ts';
import { armServerOptions } from './server-options.ts';

function options(more: Partial<ArmOptions>): ArmOptions {
  const wrong = () => new ArmError(400, 'InvalidParameter', 'api-version');
  return {
    authenticate: () => ({ name: 'anybody', isArm: false }),
    pathParameters: {},
    apiVersion: { supported: ['1'], missing: wrong, unknown: wrong },
    body: { limitBytes: 100 },
    output: { indent: 0, finalNewline: false },
    ...more,
  };
}

test('two products stand on one server, each with its own rules', async (t) => {
  const app = Fastify(armServerOptions({ bodyTooLargeStatus: 400 })) as unknown as FastifyInstance;
  t.after(() => app.close());
  app.register(armScope(options({}), (scope) => void scope.get('/one/:name', ({ params }) => params)));
  const second = options({
    authenticate: () => {
      throw forbidden();
    },
    output: { indent: 4, finalNewline: true },
    unknownPaths: false,
  });
  app.register(armScope(second, (scope) => void scope.get('/two/:name', () => 'never')));
  const get = async (url: string, method: 'GET' | 'PUT' = 'GET') => {
    const answer = await app.inject({ url, method });
    return [answer.statusCode, answer.body] as const;
  };
  assert.deepEqual(await get('/ONE/Anna?api-version=1'), [200, '{"name":"Anna"}']);
  const [status, body] = await get('/two/x?api-version=1');
  assert.equal(status, 403);
  assert.match(body, /^\{\n {4}"error": \{[\s\S]*\}\n$/);
  assert.equal((await get('/two/x', 'PUT'))[0], 405);
  assert.equal((await get('/three'))[0], 404);
});
