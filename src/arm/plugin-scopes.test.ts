import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { StoreError } from '../store/errors.ts';
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

test('the caller and the subscription may be looked up elsewhere, and that may fail', async (t) => {
  let outcome: 'ok' | 'refused' | 'broken' | 'no database' = 'ok';
  const allow = { read: 'allow', write: 'allow', delete: 'allow', action: 'allow' } as const;
  const app = Fastify(armServerOptions()) as unknown as FastifyInstance;
  t.after(() => app.close());
  const remote = options({
    authenticate: async () => {
      if (outcome === 'refused') throw forbidden();
      if (outcome === 'broken') throw new Error('the sidecar said: hunter2');
      return { name: 'remote', isArm: true };
    },
    subscriptionGate: {
      lookup: () => {
        if (outcome === 'no database') throw new StoreError('Unavailable', 'db-7 is down');
        return { state: 'Registered', tenantId: 'the-tenant' };
      },
      states: { Registered: allow },
      missing: allow,
      other: allow,
    },
  });
  const routes = (scope: FastifyInstance) =>
    void scope.get('/subscriptions/:subscriptionId', ({ arm }) => ({ tenant: arm.homeTenantId, by: arm.caller }));
  app.register(armScope(remote, routes));
  const get = async (as: typeof outcome) => {
    outcome = as;
    // A tenant that is not a GUID is ignored even from ARM.
    const headers = { 'x-ms-home-tenant-id': 'nonsense' };
    const answer = await app.inject({ url: '/subscriptions/x?api-version=1', headers });
    assert.ok(!answer.body.includes('hunter2') && !answer.body.includes('db-7'));
    return [answer.statusCode, answer.json(), answer.headers['retry-after']] as const;
  };
  assert.deepEqual(await get('ok'), [200, { tenant: 'the-tenant', by: 'remote' }, undefined]);
  assert.equal((await get('refused'))[0], 403);
  assert.equal((await get('broken'))[0], 500);
  const [status, , retryAfter] = await get('no database');
  assert.deepEqual([status, retryAfter], [503, '59']);
});

test('two products stand on one server, each with its own rules', async (t) => {
  const app = Fastify(armServerOptions()) as unknown as FastifyInstance;
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

test('every error has the form of the output, also where no route was found', async (t) => {
  const output = { indent: 2, finalNewline: true };
  const app = Fastify(armServerOptions({ output })) as unknown as FastifyInstance;
  t.after(() => app.close());
  app.register(armScope(options({ output }), (scope) => void scope.get('/one/:name', ({ params }) => params)));
  const cases = [
    ['GET', '/nowhere', 404],
    ['PUT', '/one/x', 405],
    ['GET', '/one/x', 400],
    ['GET', '/one/%zz', 400],
    ['GET', `/one/${'x'.repeat(5000)}`, 400],
  ] as const;
  for (const [method, url, status] of cases) {
    const answer = await app.inject({ method, url });
    assert.deepEqual(
      [answer.statusCode, answer.body],
      [status, `${JSON.stringify(answer.json(), undefined, 2)}\n`],
      url,
    );
    assert.equal(Number(answer.headers['content-length']), answer.body.length);
  }
});

test('a lost race has the status that the product wants', async (t) => {
  for (const lostRaceStatus of [undefined, 409, 429] as const) {
    const app = Fastify(armServerOptions()) as unknown as FastifyInstance;
    t.after(() => app.close());
    const routes = (scope: FastifyInstance) =>
      void scope.get('/race', () => {
        throw new StoreError('Changed', '');
      });
    app.register(armScope(options(lostRaceStatus === undefined ? {} : { lostRaceStatus }), routes));
    const answer = await app.inject({ url: '/race?api-version=1' });
    assert.deepEqual(
      [answer.statusCode, answer.json().error.code, answer.headers['retry-after']],
      [lostRaceStatus ?? 409, 'Conflict', '1'],
    );
  }
});
