// Discovery says of the groups we serve what a real kube-apiserver says. record-types.ts renews the recording.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type DiscoveryAnswer, discoveryAnswer } from '../../../src/local/kubernetes/discovery/paths.ts';
import type { JsonObject } from '../../../src/local/kubernetes/object.ts';
import { createTypeTable } from '../../../src/local/kubernetes/types/table.ts';

const recorded = JSON.parse(readFileSync(new URL('./data/types-discovery.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, JsonObject>
>;

const table = createTypeTable();
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

function ask(path: string, accept = 'application/json'): DiscoveryAnswer {
  const answer = discoveryAnswer({
    table,
    url: 'https://192.0.2.1:6443',
    method: 'GET',
    path,
    query: new URLSearchParams(),
    header: (name) => (name === 'accept' ? accept : undefined),
  });
  assert.ok(answer);
  return answer;
}

const parsed = ({ body }: DiscoveryAnswer): JsonObject =>
  (Buffer.isBuffer(body) ? JSON.parse(body.toString()) : body) as JsonObject;

/** Groups of the real server that are not served here. */
const notServed = new Set(['autoscaling', 'flowcontrol.apiserver.k8s.io', 'node.k8s.io', 'resource.k8s.io']);

const served = (document: JsonObject): JsonObject => {
  const nameOf = (group: JsonObject): string =>
    String(group.name ?? (group.metadata as JsonObject | undefined)?.name ?? '');
  const cut = (list: unknown): JsonObject[] => (list as JsonObject[]).filter((group) => !notServed.has(nameOf(group)));
  return {
    ...document,
    ...(document.items ? { items: cut(document.items) } : {}),
    ...(document.groups ? { groups: cut(document.groups) } : {}),
  };
};

describe('discovery', () => {
  for (const [name, expected] of Object.entries(recorded)) {
    test(name, () => {
      const [path = '', form] = name.split('#');
      const answer = ask(path, form === 'aggregated' ? aggregated : 'application/json');
      assert.equal(answer.status, 200);
      assert.equal(answer.contentType, form === 'aggregated' ? aggregated : 'application/json');
      assert.deepEqual(parsed(answer), served(expected));
    });
  }

  test('clients that prefer the aggregated form get it, others the plain one', () => {
    assert.equal(parsed(ask('/apis', `${aggregated},application/json`)).kind, 'APIGroupDiscoveryList');
    assert.equal(parsed(ask('/apis', `application/json,${aggregated}`)).kind, 'APIGroupList');
    assert.equal(parsed(ask('/apis', '*/*')).kind, 'APIGroupList');
    const older = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';
    assert.equal(parsed(ask('/apis', older)).apiVersion, 'apidiscovery.k8s.io/v2beta1');
  });

  test('core is at its own address', () => {
    assert.deepEqual(parsed(ask('/api')), {
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '192.0.2.1:6443' }],
    });
  });
});
