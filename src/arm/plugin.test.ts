import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { createLogger } from '../kit/log.ts';
import { isGuid } from './resource-id.ts';
import {
  armCaller,
  defaultSubscriptions,
  demoProvider,
  groupPath,
  subscriptionId,
  tenantId,
} from './testing/demo-provider.ts';
import { type DemoStore, demoStore } from './testing/demo-store.ts';

const widgets = `${groupPath}/providers/Demo.Widgets/widgets`;
const version = '?api-version=2024-01-01';
const good = { location: 'westeurope', properties: { size: 3 } };

let store: DemoStore;
let app: FastifyInstance;
let lines: Record<string, unknown>[] = [];
const subscriptions = defaultSubscriptions();

before(async () => {
  store = await demoStore();
  const log = createLogger({
    service: 'demo',
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  app = demoProvider({ container: store.container, log, subscriptions });
  await app.ready();
});
after(async () => {
  await app.close();
  await store.close();
});

function errorOf(answer: LightMyRequestResponse): { code: string; message: string; target?: string } {
  const { error } = answer.json();
  assert.equal(answer.headers['x-ms-error-code'], error.code);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  return error;
}

async function refused(status: number, code: string, request: InjectOptions) {
  const answer = await app.inject(request);
  assert.deepEqual([answer.statusCode, errorOf(answer).code], [status, code], answer.body);
  return answer;
}

const put = (name: string, more: object = {}) =>
  app.inject({ method: 'PUT', url: `${widgets}/${name}${version}`, payload: good, ...more });

describe('a request', () => {
  describe('ids', () => {
    it('gets a new request id and keeps the correlation id it came with', async () => {
      const headers = { 'x-ms-correlation-request-id': 'abc-1', 'x-ms-request-id': 'mine' };
      const answer = await app.inject({ url: `/providers/demo.widgets/operations`, headers });
      assert.ok(isGuid(String(answer.headers['x-ms-request-id'])));
      assert.equal(answer.headers['x-ms-correlation-request-id'], 'abc-1');
      assert.equal(answer.headers['x-ms-client-request-id'], undefined);
    });

    it('has its client request id returned only when it asks for it', async () => {
      const headers = { 'x-ms-client-request-id': 'c-1', 'x-ms-return-client-request-id': 'True' };
      const answer = await app.inject({ url: '/providers/demo.widgets/operations', headers });
      assert.equal(answer.headers['x-ms-client-request-id'], 'c-1');
    });

    it('does not have hostile ids returned or logged', async () => {
      lines = [];
      const headers = {
        'x-ms-client-request-id': 'x'.repeat(5000),
        'x-ms-return-client-request-id': 'true',
        'x-ms-correlation-request-id': '<script>',
      };
      const answer = await app.inject({ url: '/providers/demo.widgets/operations', headers });
      assert.equal(answer.headers['x-ms-client-request-id'], undefined);
      assert.ok(isGuid(String(answer.headers['x-ms-correlation-request-id'])));
      assert.ok(!JSON.stringify(lines).includes('script'));
    });

    it('is logged once, with the ids the caller saw, without its query or body', async () => {
      lines = [];
      const url = `${widgets}/logged${version}&$skipToken=hush&x=hunter2`;
      const answer = await app.inject({
        method: 'PUT',
        url,
        payload: { ...good, location: 'hunter2' },
        headers: armCaller,
      });
      const requests = lines.filter(({ msg }) => msg === 'request');
      assert.equal(requests.length, 1);
      const [line = {}] = requests;
      assert.equal(line.requestId, answer.headers['x-ms-request-id']);
      assert.equal(line.correlationId, answer.headers['x-ms-correlation-request-id']);
      assert.deepEqual(
        [line.method, line.status, line.caller, line.apiVersion, line.path],
        ['PUT', 201, 'arm', '2024-01-01', `${widgets}/logged`],
      );
      assert.match(String(line.route), /:widgetName$/);
      assert.ok(!JSON.stringify(lines).includes('hunter2') && !JSON.stringify(lines).includes('hush'));
    });
  });

  describe('errors', () => {
    it('to an unknown path are 404 with a body, after authentication', async () => {
      await refused(404, 'NotFound', { url: '/nowhere' });
      await refused(404, 'NotFound', {
        method: 'PUT',
        url: '/nowhere',
        payload: 'x',
        headers: { 'content-type': 'text/x' },
      });
      await refused(403, 'Forbidden', { url: '/nowhere', headers: { 'x-demo-caller': 'deny' } });
    });

    it('with a wrong method are 405 with Allow', async () => {
      const answer = await refused(405, 'MethodNotAllowed', {
        method: 'PATCH',
        url: `${widgets.toUpperCase()}/a${version}`,
      });
      assert.equal(answer.headers.allow, 'DELETE, GET, HEAD, PUT');
    });

    it('in the encoding of the URL are 400', async () => {
      for (const url of [`${widgets}/%E0%A4%A${version}`, '/%', `${widgets}/%C4%B0x${version}`]) {
        const answer = await refused(400, 'InvalidParameter', { url });
        assert.ok(isGuid(String(answer.headers['x-ms-request-id'])));
      }
    });

    it('of the service itself show nothing but the id to quote; the log has the rest', async () => {
      lines = [];
      await put('bomb');
      const answer = await refused(500, 'InternalServerError', {
        method: 'POST',
        url: `${widgets}/bomb/explode${version}`,
      });
      assert.ok(!answer.body.includes('hunter2'));
      assert.ok(errorOf(answer).message.includes(String(answer.headers['x-ms-request-id'])));
      assert.ok(
        lines.some(({ msg, requestId }) => msg === 'request failed' && requestId === answer.headers['x-ms-request-id']),
      );
    });
  });

  describe('authentication', () => {
    it('comes before everything that looks at path, version or body', async () => {
      const headers = { 'x-demo-caller': 'deny', 'content-type': 'text/plain', 'content-length': '999999999' };
      await refused(403, 'Forbidden', {
        method: 'PUT',
        url: `/subscriptions/x/resourceGroups/y/providers/Demo.Widgets/widgets/z`,
        headers,
        payload: 'x',
      });
    });

    it('decides whether the headers that only ARM may set count', async () => {
      const systemData = { createdBy: 'alice', createdByType: 'User', lastModifiedBy: 'alice' };
      const headers = {
        'x-ms-arm-resource-system-data': JSON.stringify(systemData),
        'azure-asyncnotificationuri': 'https://management.azure.com/notify',
        referer: 'https://evil.example/x',
      };
      const stranger = await put('from-stranger', { headers });
      assert.equal(stranger.json().systemData.createdBy, 'Unknown-demo');
      assert.equal(stranger.headers['azure-asyncnotification'], undefined);
      assert.match(String(stranger.headers['azure-asyncoperation']), /^https:\/\/demo\.example\//);
      const arm = await put('from-arm', {
        headers: { ...headers, ...armCaller, referer: 'https://management.azure.com/subscriptions' },
      });
      assert.equal(arm.json().systemData.createdBy, 'alice');
      assert.equal(arm.headers['azure-asyncnotification'], 'Enabled');
      assert.match(String(arm.headers['azure-asyncoperation']), /^https:\/\/management\.azure\.com\/subscriptions\//);
    });

    it('ignores the Host header of the caller in links', async () => {
      const answer = await put('host', { headers: { host: 'evil.example' } });
      assert.ok(!JSON.stringify(answer.headers).includes('evil'));
    });
  });

  describe('paths', () => {
    it('match whatever the case, with parameters kept as they came', async () => {
      await put('Mixed-Case');
      const url = `/SUBSCRIPTIONS/${subscriptionId}/resourcegroups/GROUP-one/PROVIDERS/demo.WIDGETS/Widgets/MIXED-case${version}`;
      const answer = await app.inject({ url });
      assert.equal(answer.statusCode, 200);
      assert.equal(
        answer.json().id,
        `/subscriptions/${subscriptionId}/resourceGroups/GROUP-one/providers/Demo.Widgets/widgets/MIXED-case`,
      );
    });

    it('may have a slash too many', async () => {
      await put('slashes');
      assert.equal((await app.inject({ url: `/${widgets}//slashes/${version}` })).statusCode, 200);
    });

    it('are checked part by part, with the code for each', async () => {
      const bad = (sub: string, group: string, name: string) => ({
        url: `/subscriptions/${sub}/resourceGroups/${group}/providers/Demo.Widgets/widgets/${name}${version}`,
      });
      await refused(400, 'InvalidSubscriptionID', bad('1', 'g', 'n'));
      await refused(400, 'InvalidResourceGroupName', bad(subscriptionId, 'g.', 'n'));
      await refused(400, 'InvalidResourceName', bad(subscriptionId, 'g', 'a%2Fb'));
      await refused(400, 'InvalidResourceName', bad(subscriptionId, 'g', '%00'));
      await refused(400, 'InvalidResourceName', bad(subscriptionId, 'g', 'x'.repeat(300)));
    });

    it('may have letters of any script', async () => {
      const url = `/subscriptions/${subscriptionId}/resourceGroups/${encodeURIComponent('Grüße')}/providers/Demo.Widgets/widgets/w${version}`;
      const answer = await app.inject({ method: 'PUT', url, payload: good });
      assert.equal(answer.statusCode, 201);
      assert.match(answer.json().id, /Grüße/);
    });
  });

  describe('api-version', () => {
    it('must be given once and be known, by its name in any case', async () => {
      await refused(400, 'InvalidParameter', { url: `${widgets}/a` });
      await refused(400, 'InvalidParameter', { url: `${widgets}/a?api-version=` });
      await refused(400, 'InvalidParameter', { url: `${widgets}/a${version}&api-version=2024-01-01` });
      await refused(400, 'InvalidParameter', { url: `${widgets}/a${version}&API-VERSION=2024-01-01` });
      const answer = await refused(400, 'InvalidResourceType', { url: `${widgets}/a?api-version=1999-01-01` });
      assert.match(errorOf(answer).message, /2024-01-01, 2025-01-01-preview/);
      await put('versioned');
      assert.equal((await app.inject({ url: `${widgets}/versioned?Api-Version=2025-01-01-PREVIEW` })).statusCode, 200);
    });
  });

  describe('the subscription gate', () => {
    const cases: readonly (readonly [string | undefined, string, number])[] = [
      ['Registered', 'PUT', 201],
      ['Warned', 'PUT', 409],
      ['Warned', 'GET', 404],
      ['Suspended', 'DELETE', 204],
      ['Suspended', 'POST', 409],
      ['Unregistered', 'GET', 400],
      ['Deleted', 'PUT', 400],
      [undefined, 'GET', 400],
      ['Strange', 'PUT', 409],
    ];
    const gated = '99999999-2222-3333-4444-555555555555';
    for (const [state, method, status] of cases) {
      it(`answers ${status} to ${method} when the subscription is ${state ?? 'unknown'}`, async () => {
        if (state === undefined) subscriptions.delete(gated);
        else subscriptions.set(gated, { state, tenantId });
        const url = `${widgets.replace(subscriptionId, gated)}/gate-${state}-${method}${method === 'POST' ? '/explode' : ''}${version}`;
        const answer = await app.inject({
          method: method as 'GET',
          url,
          ...(method === 'PUT' ? { payload: good } : {}),
        });
        assert.equal(answer.statusCode, status);
        if (status === 400 || status === 409) assert.equal(errorOf(answer).code, 'InvalidSubscriptionState');
      });
    }
  });

  describe('conditions', () => {
    it('protect an update from overwriting what it has not seen', async () => {
      const first = await put('conditional');
      const etag = String(first.headers.etag);
      assert.match(etag, /^"[\w-]+"$/);
      assert.equal((await put('conditional', { headers: { 'if-match': `"other", ${etag}` } })).statusCode, 200);
      const late = await put('conditional', { headers: { 'if-match': etag } });
      assert.deepEqual([late.statusCode, errorOf(late).code], [412, 'PreconditionFailed']);
      assert.equal((await put('conditional', { headers: { 'if-match': `W/${etag}` } })).statusCode, 412);
      assert.equal((await put('conditional', { headers: { 'if-none-match': '*' } })).statusCode, 412);
      assert.equal((await put('not-there', { headers: { 'if-match': '*' } })).statusCode, 412);
      assert.equal((await put('not-there', { headers: { 'if-none-match': '*' } })).statusCode, 201);
    });

    it('spare a reader what it has', async () => {
      await put('cached');
      const url = `${widgets}/cached${version}`;
      const etag = String((await app.inject({ url })).headers.etag);
      const again = await app.inject({ url, headers: { 'if-none-match': `W/${etag}` } });
      assert.deepEqual([again.statusCode, again.body, again.headers.etag], [304, '', etag]);
      assert.equal((await app.inject({ url, headers: { 'if-none-match': '"other"' } })).statusCode, 200);
    });
  });

  it('creates with systemData from ARM and keeps who created it', async () => {
    const by = (who: string) => ({
      ...armCaller,
      'x-ms-arm-resource-system-data': JSON.stringify({
        createdBy: who,
        createdByType: 'User',
        createdAt: '2024-01-01T00:00:00Z',
        lastModifiedBy: who,
        lastModifiedByType: 'User',
      }),
    });
    await put('made', { headers: by('alice') });
    const { systemData } = (await put('made', { headers: by('bob') })).json();
    assert.deepEqual(
      [systemData.createdBy, systemData.createdAt, systemData.lastModifiedBy],
      ['alice', '2024-01-01T00:00:00Z', 'bob'],
    );
    const broken = await put('made-2', { headers: { ...armCaller, 'x-ms-arm-resource-system-data': '{nope' } });
    assert.equal(broken.json().systemData.createdByType, 'Application');
  });

  it('to a name with the Kelvin sign is not for the one with k, and routes match in any case', async () => {
    await put('k');
    const kelvin = `${widgets}/%E2%84%AA${version}`;
    assert.equal((await app.inject({ url: kelvin })).statusCode, 404);
    assert.equal((await app.inject({ method: 'PUT', url: kelvin, payload: good })).statusCode, 201);
    assert.equal((await app.inject({ url: kelvin })).json().name, '\u212a');
    assert.equal((await app.inject({ url: `${widgets}/K${version}`.toUpperCase() })).json().name, 'k');
  });

  it('has the times of systemData from ARM only when they are RFC 3339', async () => {
    const created = async (name: string, createdAt: string) => {
      const header = JSON.stringify({ createdBy: 'alice', createdAt });
      const answer = await put(name, { headers: { ...armCaller, 'x-ms-arm-resource-system-data': header } });
      return answer.json().systemData.createdAt;
    };
    const good = ['2024-02-29T10:11:12.1234567Z', '2024-01-01T00:00:00+02:00', '2024-01-01t00:00:00z'];
    for (const [i, time] of good.entries()) assert.equal(await created(`time-good-${i}`, time), time);
    const bad = ['1', 'May 2024', '2024-01-01', '2024-01-01T00:00:00', '2023-02-29T00:00:00Z', '2024-01-01T25:00:00Z'];
    for (const [i, time] of bad.entries()) {
      const stored = await created(`time-bad-${i}`, time);
      assert.notEqual(stored, time);
      assert.equal(new Date(stored).toISOString(), stored);
    }
  });

  it('is answered with indented JSON', async () => {
    await put('indented');
    const answer = await app.inject({ url: `${widgets}/indented${version}` });
    assert.equal(answer.body, JSON.stringify(answer.json(), undefined, 4));
  });

  it('is answered without a body to HEAD', async () => {
    await put('head');
    const answer = await app.inject({ method: 'HEAD', url: `${widgets}/head${version}` });
    assert.deepEqual([answer.statusCode, answer.body], [200, '']);
  });
});
