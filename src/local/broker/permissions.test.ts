import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateCaller } from '../../kit/caller.ts';
import { Secret } from '../../kit/secret.ts';
import { type BrokerAccess, clientsOwn, createPermissions } from './permissions.ts';
import { covers, isFilter } from './topic-filter.ts';

test('a filter covers what it matches and nothing more', () => {
  const cases: readonly (readonly [granted: string, asked: string, covered: boolean])[] = [
    ['a/b', 'a/b', true],
    ['a/b', 'a/c', false],
    ['a/b', 'a/b/c', false],
    ['a/+', 'a/b', true],
    ['a/+', 'a/+', true],
    ['a/+', 'a/#', false],
    ['a/+', 'a', false],
    ['a/b', 'a/+', false],
    ['a/#', 'a/b/c', true],
    ['a/#', 'a/+/c', true],
    ['a/#', 'a/#', true],
    ['a/#', 'a', true],
    ['a/#', '#', false],
    ['#', '$SYS/x', false],
    ['+/x', '$SYS/x', false],
    ['$SYS/#', '$SYS/x', true],
  ];
  for (const [granted, asked, covered] of cases) assert.equal(covers(granted, asked), covered, `${granted} ${asked}`);
});

test('wildcards stand alone, and # at the end', () => {
  for (const good of ['a', 'a/+/b', '#', 'a/#', '/']) assert.ok(isFilter(good), good);
  for (const bad of ['', 'a+', 'a/#/b', '#a', 'a/b#', 'a\0']) assert.ok(!isFilter(bad), bad);
});

const access: BrokerAccess = {
  clients: [
    { authenticationName: 'server', authentication: { certificate: 'commonName' }, groups: ['servers'] },
    {
      authenticationName: 'agent1.example.com',
      authentication: { certificate: 'dns' },
      attributes: { consumer: 'cluster1' },
      groups: ['agents'],
    },
    { authenticationName: 'tool', authentication: { password: new Secret('word') } },
  ],
  topicSpaces: [
    { name: 'own', topicTemplates: [`sources/maestro/consumers/${clientsOwn('attributes.consumer')}/agentevents`] },
    { name: 'all', topicTemplates: ['sources/maestro/consumers/+/agentevents'] },
  ],
  permissionBindings: [
    { clientGroup: 'agents', topicSpace: 'own', permission: 'Publisher' },
    { clientGroup: 'servers', topicSpace: 'all', permission: 'Subscriber' },
  ],
};

const certificate = (names: Partial<CertificateCaller>): CertificateCaller => ({
  kind: 'certificate',
  commonName: '',
  organizations: [],
  names: { dns: [], uri: [] },
  fingerprint: '',
  identity: '',
  ...names,
});

test('clients are known by the kind of name they were declared with, or by their password', () => {
  const permissions = createPermissions(access);
  const name = (shown: Parameters<typeof permissions.identify>[0]) => permissions.identify(shown)?.authenticationName;
  assert.equal(name({ certificate: certificate({ commonName: 'server' }) }), 'server');
  assert.equal(name({ certificate: certificate({ commonName: 'server' }), username: 'server' }), 'server');
  assert.equal(name({ certificate: certificate({ commonName: 'server' }), username: 'agent1.example.com' }), undefined);
  assert.equal(name({ certificate: certificate({ commonName: 'agent1.example.com' }) }), undefined);
  assert.equal(
    name({ certificate: certificate({ names: { dns: ['agent1.example.com'], uri: [] } }) }),
    'agent1.example.com',
  );
  assert.equal(name({ username: 'tool', password: Buffer.from('word') }), 'tool');
  assert.equal(name({ username: 'tool', password: Buffer.from('other') }), undefined);
  assert.equal(name({ username: 'tool' }), undefined);
  assert.equal(name({ username: 'server', password: Buffer.from('') }), undefined);
  assert.equal(name({}), undefined);
});

test('an agent may use the topics of its own consumer, the server those of all', () => {
  const permissions = createPermissions(access);
  const agent = permissions.identify({ certificate: certificate({ names: { dns: ['agent1.example.com'], uri: [] } }) });
  const server = permissions.identify({ certificate: certificate({ commonName: 'server' }) });
  const topic = (consumer: string) => `sources/maestro/consumers/${consumer}/agentevents`;
  assert.equal(agent?.mayPublish(topic('cluster1')), true);
  assert.equal(agent?.mayPublish(topic('cluster2')), false);
  assert.equal(agent?.maySubscribe(topic('cluster1')), false);
  assert.equal(server?.maySubscribe(topic('+')), true);
  assert.equal(server?.maySubscribe('#'), false);
  assert.equal(server?.mayPublish(topic('cluster1')), false);
});

test('data that contradict themselves are refused', () => {
  const changed = (change: Partial<BrokerAccess>) => () => createPermissions({ ...access, ...change });
  const [first] = access.clients;
  assert.ok(first);
  assert.throws(changed({ clients: [first, first] }), /two clients/);
  assert.throws(
    changed({ permissionBindings: [{ clientGroup: '$all', topicSpace: 'none', permission: 'Publisher' }] }),
    /no topic space/,
  );
  // A client without the attribute, or one whose attribute would reach further than a level.
  for (const attributes of [{}, { consumer: '+' }, { consumer: 'a/b' }]) {
    const client = { ...first, attributes, groups: ['agents', 'servers'] };
    assert.throws(changed({ clients: [client] }), /topic template/);
  }
});
