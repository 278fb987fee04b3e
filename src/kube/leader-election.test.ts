import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { composeService } from '../kit/lifecycle.ts';
import { createLogger } from '../kit/log.ts';
import { runLeaderElection } from './leader-election.ts';
import { createManager, managerPart } from './manager.ts';
import { resource } from './resource.ts';
import { objects } from './source.ts';
import { failure, sendJson } from './testing/scripted-server.ts';
import { smallApi, until } from './testing/small-api.ts';

const path = '/apis/coordination.k8s.io/v1/namespaces/n/leases/office';
const things = resource('example.com/v1', 'Thing', 'things');
const logger = createLogger({ service: 'test', level: 'silent' });
const quick = { namespace: 'n', name: 'office', leaseSeconds: 1, renewDeadlineSeconds: 0.5, retrySeconds: 0.05 };
const limit = { timeout: 30_000 };

type Api = Awaited<ReturnType<typeof smallApi>>;
const spec = (api: Api) => api.get(path)?.spec as Record<string, unknown> | undefined;

test('the first to come leads, says so in the Lease as client-go does, and renews it', limit, async (t) => {
  const api = await smallApi(t);
  const a = candidate(t, api, 'a');
  await until(() => a.election.leading);
  const first = spec(api);
  assert.equal(first?.holderIdentity, 'a');
  assert.equal(first?.leaseDurationSeconds, 1);
  assert.equal(first?.leaseTransitions, 0);
  assert.match(String(first?.renewTime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  await until(() => spec(api)?.renewTime !== first?.renewTime);
  assert.equal(spec(api)?.acquireTime, first?.acquireTime);
});

test('a second waits, and leads as soon as the first lets go', limit, async (t) => {
  const api = await smallApi(t);
  const a = candidate(t, api, 'a');
  await until(() => a.election.leading);
  const b = candidate(t, api, 'b');
  await until(() => b.election.leader === 'a');
  assert.equal(b.election.leading, false);
  await a.election.stop();
  assert.deepEqual(a.said, ['lead', 'resign']);
  await until(() => b.election.leading);
  assert.equal(spec(api)?.leaseTransitions, 1);
});

test(
  'a leader that died is followed when its lease has been seen unchanged for as long as it says',
  limit,
  async (t) => {
    const api = await smallApi(t);
    // Its clock is far ahead: what a Lease says of the time is nobody's business.
    const renewTime = '2999-01-01T00:00:00.000000Z';
    api.put(path, { spec: { holderIdentity: 'dead', leaseDurationSeconds: 0.3, renewTime, leaseTransitions: 4 } });
    const a = candidate(t, api, 'a');
    await until(() => a.election.leader === 'dead');
    assert.equal(a.election.leading, false);
    await until(() => a.election.leading);
    assert.equal(spec(api)?.leaseTransitions, 5);
  },
);

test('a leader that cannot renew resigns before another can lead, and stands again', limit, async (t) => {
  const api = await smallApi(t);
  const a = candidate(t, api, 'a');
  await until(() => a.election.leading);
  api.intercept = (_, response) => {
    sendJson(response, 503, failure(503, 'ServiceUnavailable', 'down'));
    return true;
  };
  await until(() => a.said.includes('resign'));
  assert.equal(spec(api)?.holderIdentity, 'a', 'nobody else had it yet');
  assert.deepEqual(a.said, ['lead', 'lost', 'resign']);
  api.intercept = undefined;
  await until(() => a.said.length === 4);
  assert.deepEqual(a.said, ['lead', 'lost', 'resign', 'lead']);
});

test('a leader whose lease was taken resigns', limit, async (t) => {
  const api = await smallApi(t);
  const a = candidate(t, api, 'a');
  await until(() => a.election.leading);
  api.put(path, { spec: { holderIdentity: 'thief', leaseDurationSeconds: 60, renewTime: 'x' } });
  await until(() => a.said.includes('resign'));
  assert.equal(a.election.leader, 'thief');
});

test('a renewal that somebody else’s change got in the way of is made good', limit, async (t) => {
  const api = await smallApi(t);
  const a = candidate(t, api, 'a');
  await until(() => a.election.leading);
  const changed = api.put(path, { spec: spec(api), metadata: { labels: { touched: 'yes' } } });
  await until(() => api.get(path)?.metadata.resourceVersion !== changed.metadata.resourceVersion);
  assert.deepEqual(a.said, ['lead']);
  assert.equal(api.get(path)?.metadata.labels?.touched, 'yes');
});

test('times that would let two lead are refused', async (t) => {
  const api = await smallApi(t);
  const client = api.server.client();
  const office = { lead: () => undefined, resign: async () => undefined };
  assert.throws(() => runLeaderElection({ client, logger, ...quick, renewDeadlineSeconds: 1 }, office), TypeError);
  assert.throws(() => runLeaderElection({ client, logger, ...quick, leaseSeconds: 1.5 }, office), TypeError);
});

test(
  'a manager runs controllers while it leads, ends them when it does not, and lets go at its stop',
  limit,
  async (t) => {
    const api = await smallApi(t);
    api.put('/apis/example.com/v1/namespaces/n/things/a');
    const work: string[] = [];
    const started = await Promise.all(['a', 'b'].map((identity) => managed(t, api, identity, work)));
    await until(() => work.length === 1);
    const [leader, other] = work[0] === 'a reconciles a' ? started : [...started].reverse();
    await other?.service.ready;
    assert.equal(other?.manager.leading, false, 'who waits is ready, but does nothing');
    await leader?.service.stop();
    await until(() => work.length === 2);
    assert.notEqual(work[0], work[1]);
    api.put(path, { spec: { holderIdentity: 'thief', leaseDurationSeconds: 0.2, renewTime: 'x' } });
    await until(() => other?.manager.leading === false);
    api.put('/apis/example.com/v1/namespaces/n/things/b');
    await until(() => work.filter((line) => line.endsWith('reconciles b')).length === 1);
    assert.equal(spec(api)?.holderIdentity, work[1]?.charAt(0), 'it leads again');
  },
);

async function managed(t: TestContext, api: Api, identity: string, work: string[]) {
  const client = api.server.client();
  const manager = createManager({ client, logger, leaderElection: { ...quick, identity } });
  manager.add({
    name: 'things',
    sources: [objects(manager.informers.informer(things))],
    reconcile: async ({ name }) => {
      work.push(`${identity} reconciles ${name}`);
    },
  });
  const service = await composeService({ name: 'test', logger }, (parts) => managerPart(parts, 'controllers', manager));
  t.after(() => service.stop());
  return { manager, service };
}

function candidate(t: TestContext, api: Api, identity: string) {
  const said: string[] = [];
  const election = runLeaderElection(
    { client: api.server.client(), logger, ...quick, identity },
    {
      lead: (lost) => {
        said.push('lead');
        lost.addEventListener('abort', () => {
          if (String(lost.reason).includes('was lost')) said.push('lost');
        });
      },
      resign: async () => {
        said.push('resign');
      },
    },
  );
  t.after(() => election.stop());
  return { election, said };
}
